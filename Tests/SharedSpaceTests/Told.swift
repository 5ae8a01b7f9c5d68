import SharedSpace
import SpaceSystem
import Synchronization

/// The changes that a handler was told.
final class Told: Sendable {
    private let all = Mutex<[Change]>([])
    var changes: [Change] { all.withLock { $0 } }
    var count: Int { all.withLock { $0.count } }
    /// The last change, without a copy of all.
    var last: Change? { all.withLock { $0.last } }
    var kinds: [ChangeKind] { changes.map(\.kind) }
    func note(_ change: Change) { all.withLock { $0.append(change) } }
}

/// A count that handlers share.
final class Count: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    @discardableResult
    func add() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}

/// A barrier at which handlers wait until a test opens it.
///
/// Unchecked: the word's address stays, and it is reached by atomic operations alone.
final class Barrier: @unchecked Sendable {
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    /// The number of handlers that have come to it.
    let arrivals = Count()

    init() { word.initialize(to: 0) }
    deinit { word.deallocate() }

    func open() {
        SharedWord32(at: word).storeSequential(1)
        Futex(at: word).wake()
    }

    var isOpen: Bool { SharedWord32(at: word).load() != 0 }

    func wait() {
        arrivals.add()
        while !isOpen { _ = try? Futex(at: word).wait(while: 0, for: .seconds(1)) }
    }
}

/// A place for a value, such as a token, that a handler uses and that is made after the handler.
final class Slot<Content: Sendable>: Sendable {
    private let content = Mutex<Content?>(nil)
    var value: Content? {
        get { content.withLock { $0 } }
        set {
            // Released outside the lock.
            let old = content.withLock { content in
                defer { content = newValue }
                return content
            }
            _ = old
        }
    }
}
