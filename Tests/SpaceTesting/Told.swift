package import SharedSpace
import SpaceSystem
import Synchronization

/// The changes that a handler was told.
package final class Told: Sendable {
    private let all = Mutex<[Change]>([])
    package init() {}
    package var changes: [Change] { all.withLock { $0 } }
    package var count: Int { all.withLock { $0.count } }
    /// The last change, without a copy of all.
    package var last: Change? { all.withLock { $0.last } }
    package var kinds: [ChangeKind] { changes.map(\.kind) }
    package func note(_ change: Change) { all.withLock { $0.append(change) } }
}

/// A count that handlers share.
package final class Count: Sendable {
    private let count = Atomic<Int>(0)
    package init() {}
    package var value: Int { count.load(ordering: .acquiring) }
    @discardableResult
    package func add() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}

/// A barrier at which handlers wait until a test opens it.
///
/// Unchecked: the word's address stays, and it is reached by atomic operations alone.
package final class Barrier: @unchecked Sendable {
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    /// The number of handlers that have come to it.
    package let arrivals = Count()

    package init() { word.initialize(to: 0) }
    deinit { word.deallocate() }

    package func open() {
        SharedWord32(at: word).storeSequential(1)
        Futex(at: word).wake()
    }

    package var isOpen: Bool { SharedWord32(at: word).load() != 0 }

    package func wait() {
        arrivals.add()
        while !isOpen { _ = try? Futex(at: word).wait(while: 0, for: .seconds(1)) }
    }
}

/// A place for a value, such as a token, that a handler uses and that is made after the handler.
package final class Slot<Content: Sendable>: Sendable {
    private let content = Mutex<Content?>(nil)
    package init() {}
    package var value: Content? {
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

    /// Suspends the task until there is a value.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func filled() async throws { while value == nil { try await Task.sleep(for: .milliseconds(1)) } }
}
