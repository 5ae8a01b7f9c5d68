import SpaceSystem
public import TupleCoding

/// What a put with a unique key does if an item with the key is in the queue already.
///
/// At most two items have a key: one that a worker has, or that has returned from it, and one that waits behind it.
public enum UniqueRule: Sendable, Hashable {
    /// The put does nothing.
    case keep
    /// The put replaces the item that waits: its value, priority and delay, and its deliveries are counted from 0 again.
    /// It keeps its place, and its group if none is given; with another group it comes to the end of that one, under a
    /// new number. If a worker has the only item, the new one waits behind it.
    case replace
    /// The put does nothing if an item waits. If a worker has the only item, the new one waits behind it, and is worked on
    /// once that has ended.
    case again
}

/// What became of an item that was put with a unique key.
public enum UniquePut: Sendable, Hashable {
    /// The item was put, with this number.
    case added(UInt64)
    /// It has replaced the item with this number, which waits.
    case replaced(UInt64)
    /// Nothing was put, because the item with this number has the key.
    case present(UInt64)

    /// The number of the item that has the key.
    public var id: UInt64 {
        switch self {
        case .added(let id), .replaced(let id), .present(let id): id
        }
    }
}

extension WorkQueue {
    /// Puts an item that is in the queue once.
    ///
    /// ```swift
    /// try mail.put(["report": "today"], unique: "report")
    /// ```
    ///
    /// - Parameters:
    ///   - value: The item, up to 64 MiB encoded.
    ///   - priority: The item's priority; higher ones are taken first.
    ///   - delay: How long no worker gets the item; a negative delay is refused.
    ///   - group: The item's group, 1 to 200 bytes, or `nil` for none.
    ///   - key: The item's unique key, 1 to 200 bytes. An item has it while it is ready, delayed, blocked or taken.
    ///   - rule: What to do if an item has the key.
    /// - Returns: What was done, with the number of the item that has the key.
    /// - Throws: The errors of ``put(_:priority:delay:group:)-(Value,_,_,_)``.
    @discardableResult
    public func put(
        _ value: Value,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String,
        ifPresent rule: UniqueRule = .keep
    ) throws(SpaceError) -> UniquePut {
        try putAll([item(value, priority, delay, group, key, rule)], delay: delay)[0]
    }

    /// Puts a `Codable` value that is in the queue once; see
    /// ``put(_:priority:delay:group:unique:ifPresent:)-(Value,_,_,_,_,_)``.
    ///
    /// - Throws: The same errors, and `badData` if the value doesn't encode.
    @discardableResult
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String,
        ifPresent rule: UniqueRule = .keep
    ) throws(SpaceError) -> UniquePut {
        try put(value(of: content), priority: priority, delay: delay, group: group, unique: key, ifPresent: rule)
    }

    /// Puts an item that is in the queue once, as soon as the queue's bound allows.
    ///
    /// `timeout` says how long to wait for room; `nil`: without limit. The other parameters are those of
    /// ``put(_:priority:delay:group:unique:ifPresent:)-(Value,_,_,_,_,_)``.
    ///
    /// - Returns: What was done, or `nil` if the time has passed.
    /// - Throws: The errors of ``put(_:priority:delay:group:unique:ifPresent:)-(Value,_,_,_,_,_)`` except that of a full
    ///   queue, and `cancelled`.
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String,
        ifPresent rule: UniqueRule = .keep,
        timeout: Duration?
    ) async throws(SpaceError) -> UniquePut? {
        let new = try item(try value(of: content), priority, delay, group, key, rule)
        return try await putting(new, delay: delay, timeout: timeout).suspend()
    }

    /// Puts an item that is in the queue once, as soon as the queue's bound allows; blocks the thread, otherwise the same
    /// as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String,
        ifPresent rule: UniqueRule = .keep,
        timeout: Duration
    ) throws(SpaceError) -> UniquePut? {
        let new = try item(try value(of: content), priority, delay, group, key, rule)
        return try putting(new, delay: delay, timeout: timeout).block()
    }
}

/// What a put does, by its rule.
enum PutPlan {
    case add
    /// The first is replaced, and the others go.
    case replace([QueueItemRow])
    case keep(UInt64)
}

extension Snapshot {
    /// What putting an item does.
    func plan(_ new: NewItem, _ rows: QueueRows) throws(SpaceError) -> PutPlan {
        guard let key = new.key else { return .add }
        var present: [QueueItemRow] = []
        for entry in try queueIDs(rows.unique(key)) {
            if let item = try queueItem(rows, entry.id) { present.append(item) }
        }
        let waiting = present.filter { $0.state != .taken }
        switch new.rule {
        case .keep: return present.first.map { .keep($0.id) } ?? .add
        case .again: return waiting.last.map { .keep($0.id) } ?? .add
        case .replace: return waiting.isEmpty ? .add : .replace(waiting)
        }
    }
}

extension QueueTable {
    /// Carries out what was planned for an item.
    func carryOut(_ plan: PutPlan, _ new: NewItem, _ rows: QueueRows, _ name: String) throws(SpaceError) -> UniquePut {
        switch plan {
        case .add: return .added(try insert(rows, name, new))
        case .keep(let id): return .present(id)
        case .replace(let items):
            for item in items.dropFirst() { try complete(item, rows, name) }
            return .replaced(try replace(items[0], by: new, rows, name))
        }
    }
}
