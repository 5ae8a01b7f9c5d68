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
    private struct State {
        var content: Content?
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())
    package init() {}

    package var value: Content? {
        get { state.withLock { $0.content } }
        set {
            // Released, and resumed, outside the lock.
            let (old, waiting) = state.withLock { state in
                defer {
                    state.content = newValue
                    if newValue != nil { state.waiting = [:] }
                }
                return (state.content, newValue == nil ? [:] : state.waiting)
            }
            for continuation in waiting.values { continuation.resume() }
            _ = old
        }
    }

    /// Suspends the task until there is a value.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func filled() async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A cancellation that comes before finds no continuation, but marks the task.
                let end: Result<Void, any Error>? = state.withLock { state in
                    if state.content != nil { return .success(()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let end { continuation.resume(with: end) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }
}
