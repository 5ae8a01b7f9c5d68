/// What a put with a unique key does if an item with the key is in the queue already.
///
/// At most two items have a key: one that a worker has or has had, and one that waits behind it.
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

/// What became of an item that was put: without a unique key it was added.
public enum QueuePut: Sendable, Hashable {
    /// The item was put, with this number.
    case added(UInt64)
    /// It has replaced the item with this number, which waits.
    case replaced(UInt64)
    /// Nothing was put, because the item with this number has the key.
    case present(UInt64)

    /// The number of the item that was put, or that has the key.
    public var id: UInt64 {
        switch self {
        case .added(let id), .replaced(let id), .present(let id): id
        }
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
    func carryOut(_ plan: PutPlan, _ new: NewItem, _ rows: QueueRows, _ name: String) throws(SpaceError) -> QueuePut {
        switch plan {
        case .add: return .added(try insert(rows, name, new))
        case .keep(let id): return .present(id)
        case .replace(let items):
            for item in items.dropFirst() { try complete(item, rows, name) }
            return .replaced(try replace(items[0], by: new, rows, name))
        }
    }
}
