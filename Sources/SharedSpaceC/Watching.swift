public import CSharedSpace
import SharedSpace
import SpaceSystem
import Synchronization
import TupleSpace

/// What a `sharedspace_watch` stands for: changes, and a handle on the namespace that doesn't keep it alive.
final class Watch: HandleObject {
    static var kind: HandleKind { .watch }
    static let operation: String? = "watch"

    private let namespace: Namespace
    let changes: Changes
    private let hasEnded = Atomic<Bool>(false)
    /// A change that a cancelled wait of a loop had obtained.
    private let returned = Mutex<Change?>(nil)
    /// Odd while a wait of a loop is under way.
    private let waits = FutexWord()

    init(_ namespace: Namespace, _ changes: Changes) { (self.namespace, self.changes) = (namespace, changes) }

    // The registration ends with the last reference.
    func close() throws(SpaceError) { try namespace.leave() }

    /// The next change; `nil` if the time has passed.
    func next(_ how: Options) throws(SpaceError) -> Change? {
        try checkNoWait()
        if let change = try returnedChange() { return change }
        return noted(try changes.nextBlocking(timeout: try how.timeout, interruption: how.interruption))
    }

    /// The next change, suspending the task; `nil` if the time has passed, or the task was cancelled.
    func next(timeout: Duration?) async throws(SpaceError) -> Change? {
        if let change = try returnedChange() { return change }
        return noted(try await changes.source.next(until: MonotonicInstant.deadline(after: timeout)))
    }

    private func returnedChange() throws(SpaceError) -> Change? {
        if let change = returned.withLock({ $0.take() }) { return change }
        if hasEnded.load(ordering: .relaxed) { throw gone }
        return nil
    }

    private func noted(_ change: Change?) -> Change? {
        if change?.kind == .gone { hasEnded.store(true, ordering: .relaxed) }
        return change
    }

    /// Where a later watch goes on.
    func point() throws(SpaceError) -> FirstChange {
        try checkNoWait()
        if let change = returned.withLock({ $0 }) {
            return FirstChange(after: ResumePoint(sequence: change.sequence &- 1, life: changes.life))
        }
        return FirstChange(after: changes.progress)
    }

    // MARK: Waits of a loop

    private func checkNoWait() throws(SpaceError) {
        if !waits.value.load().isMultiple(of: 2) { throw Self.isAwaited }
    }

    private static var isAwaited: SpaceError {
        .misuse("a loop waits for the next change of this watch", advice: "wait for the outcome, or cancel the wait")
    }

    /// Begins the one wait that there is at a time.
    func beginWait() throws(SpaceError) {
        let count = waits.value.load()
        guard count.isMultiple(of: 2), waits.value.compareExchange(expected: count, desired: count + 1).exchanged else {
            throw Self.isAwaited
        }
    }

    /// Ends the wait; a change that was not handed out comes next.
    func endWait(returning change: Change? = nil) {
        if let change { returned.withLock { $0 = change } }
        waits.value.add(1)
        waits.futex.wake()
    }

    /// Cancels a wait that is under way, and returns when it has ended.
    func endWait(by cancel: () -> Void) {
        let count = waits.value.load()
        cancel()
        while !count.isMultiple(of: 2), waits.value.load() == count {
            _ = try? waits.futex.wait(while: count, for: nil)
        }
    }

    private var gone: SpaceError {
        SpaceError(
            .namespaceDeleted,
            "watch",
            namespace: namespace.name,
            reason: "the namespace was deleted; there are no more changes",
            advice: "open it again, and watch that"
        )
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_post(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ value: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "post a notification", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        try handle.namespace.post(try required(name, "the name"), try value.valueOrNull(how.flags))
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_watch_open(
    _ ns: OpaquePointer!,
    _ filter: sharedspace_bytes,
    _ from: UnsafePointer<CChar>!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ watch: UnsafeMutablePointer<OpaquePointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "watch", error) { (handle) throws(SpaceError) in
        let watch = try place(watch, "the watch")
        let how = try Options(how)
        let filter = filter.count == 0 ? .everything : try ChangeChoice(json: try filter.text()).filter
        let start = try start(try text(from, "the place to begin"), try how.subscription)
        let namespace = try handle.namespace.nonOwningHandle()
        do throws(SpaceError) {
            watch.pointee = try HandleTable.shared.open(Watch(namespace, try namespace.changes(filter, from: start)))
        } catch {
            try? namespace.leave()
            throw error
        }
        return 1
    }
}

private func start(_ from: String?, _ subscription: String?) throws(SpaceError) -> Changes.Start {
    if let subscription {
        guard from == nil else {
            throw .misuse("a subscription knows where it begins", advice: "give it without a place to begin")
        }
        return .subscription(subscription)
    }
    guard let from else { return .now }
    if from == "initial" { return .initial }
    guard let first = FirstChange(from) else {
        throw .misuse(
            "\(from.quotedForPeople) is no place to begin",
            advice: "\"initial\", or what a watch's point was"
        )
    }
    return first.start
}

extension ChangeChoice {
    /// Reads an object with the words of `space watch`.
    fileprivate init(json text: String) throws(SpaceError) {
        self.init()
        let value = try coding { () throws(TupleCodingError) in try Value(line: text) }
        guard case .object(let words) = value else { throw Self.bad("a filter is an object") }
        for (word, value) in words {
            switch word {
            case "tuples": tuples = try coding { () throws(TupleCodingError) in try Template(json: value.json) }
            case "key": key = try Self.name(word, value)
            case "keys": keys = try Self.name(word, value)
            case "all_keys": allKeys = try Self.flag(word, value)
            case "post": post = try Self.name(word, value)
            case "posts": posts = try Self.name(word, value)
            case "pid": pid = try Self.process(word, value)
            case "collection": collection = try Self.name(word, value)
            case "responder": responder = try Self.name(word, value)
            case "object": object = try Self.name(word, value)
            case "events": events = try Self.kinds(word, value)
            default: throw Self.bad("a filter has no \(word.quotedForPeople)")
            }
        }
        if [key != nil, keys != nil, allKeys].count(where: { $0 }) > 1 {
            throw Self.bad("\"key\", \"keys\" and \"all_keys\" exclude each other")
        }
        if posts != nil, post != nil || pid != nil { throw Self.bad("\"posts\" excludes \"post\" and \"pid\"") }
    }

    private static func bad(_ reason: String) -> SpaceError {
        SpaceError(.badData, reason: reason, advice: "see sharedspace_watch_open")
    }

    private static func name(_ word: String, _ value: Value) throws(SpaceError) -> String {
        guard case .string(let name) = value, !name.isEmpty else { throw bad("\(word.quotedForPeople) is a name") }
        return name
    }

    private static func flag(_ word: String, _ value: Value) throws(SpaceError) -> Bool {
        guard case .bool(let flag) = value else { throw bad("\(word.quotedForPeople) is true or false") }
        return flag
    }

    private static func process(_ word: String, _ value: Value) throws(SpaceError) -> Int32 {
        guard case .int(let number) = value, number > 0, let pid = Int32(exactly: number) else {
            throw bad("\(word.quotedForPeople) is a process's number")
        }
        return pid
    }

    private static func kinds(_ word: String, _ value: Value) throws(SpaceError) -> Set<ChangeKind> {
        guard case .array(let names) = value else { throw bad("\(word.quotedForPeople) is an array") }
        var kinds: Set<ChangeKind> = []
        for name in names {
            guard case .string(let text) = name,
                let kind = ChangeKind.allCases.first(where: { "\($0)" == text })
            else { throw bad("\(name.json.shortenedForPeople) is no event") }
            kinds.insert(kind)
        }
        return kinds
    }
}

extension CallResult {
    func give(_ change: Change, _ flags: Flags) throws(SpaceError) {
        try give(OutputElement(report: change.object(), flags))
        set(\.id, change.id?.rawValue ?? 0)
        set(\.sequence, change.lastSequence)
        set(\.time_ms, change.time)
        set(\.kind, UInt32(change.kind.rawValue))
        set(\.pid, change.pid)
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_watch_next(
    _ watch: OpaquePointer!,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(watch, Watch.self, error) { (watch) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult(result)
        guard let change = try watch.next(how) else { return 0 }
        try result.give(change, how.flags)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_watch_point(
    _ watch: OpaquePointer!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(watch, Watch.self, error) { (watch) throws(SpaceError) in
        try CallResult(result).copy(text: "\(try watch.point())")
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_watch_acknowledge(
    _ watch: OpaquePointer!,
    _ sequence: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(watch, Watch.self, error) { (watch) throws(SpaceError) in
        try watch.changes.acknowledge(through: sequence)
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_watch_close(_ watch: OpaquePointer!) {
    try? HandleTable.shared.close(watch, Watch.self)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_unsubscribe(
    _ ns: OpaquePointer!,
    _ name: UnsafePointer<CChar>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "end a subscription", error) { (handle) throws(SpaceError) in
        try handle.namespace.endSubscription(try required(name, "the name")) ? 1 : 0
    }
}
