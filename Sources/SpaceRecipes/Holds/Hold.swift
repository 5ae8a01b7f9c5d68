import SpaceSystem
import Synchronization

/// What a process holds by name: a lock, permits of a semaphore, leadership.
///
/// ```swift
/// let hold = try await builds.lock("repository").acquire()
/// try deploy(fencing: hold.fencing)
/// try hold.release()
/// ```
///
/// It is let go when it is released, when it goes out of scope, and when the process ends, however it ends; whoever waits next
/// then holds it. It is the process's, not the thread's: it may be passed on, and released anywhere. The namespace is kept
/// open as long as it lives.
public struct Hold: ~Copyable, Sendable {
    let state: HoldState

    init(_ place: HoldPlace, in namespace: Namespace) { state = HoldState(place, in: namespace) }

    deinit { state.drop() }

    /// The name of what is held.
    public var name: String { state.place.name }

    /// The fencing number: greater than that of every earlier holder, also in an earlier life of the namespace.
    ///
    /// (In a later life as long as the machine's clock was not set back by more than lies between the two creations.)
    /// A holder that was stopped, and goes on when it has been deposed, is told from the present one by it: whatever it writes
    /// to is to refuse a number smaller than the greatest it has seen.
    public var fencing: UInt64 { state.place.ticket }

    /// Whether it is still held: not released, nor taken away.
    ///
    /// - Returns: What is so at this moment, and may be otherwise at the next.
    /// - Throws: `namespaceDeleted`, `closed`: then nothing is held either.
    /// - Complexity: O(log n), without a lock.
    public func isHeld() throws(SpaceError) -> Bool { try state.isHeld() }

    /// Lets go.
    ///
    /// - Throws: `holdLost` when it had been taken away; `invalidArgument` when it was released before; `holderStopped`,
    ///   `holderBusy`: then it is still held.
    public func release() throws(SpaceError) { try state.release() }
}

/// What a hold keeps: whether it was released, and the namespace, which must stay open as long.
final class HoldState: Sendable {
    let place: HoldPlace
    let namespace: Namespace
    private let hasEnded = Atomic<Bool>(false)

    init(_ place: HoldPlace, in namespace: Namespace) {
        self.place = place
        self.namespace = namespace
    }

    func isHeld() throws(SpaceError) -> Bool {
        guard !hasEnded.load(ordering: .acquiring) else { return false }
        return try namespace.core.hold(place) != nil
    }

    func release() throws(SpaceError) {
        try end("let go of \(place.kind.phrase)") { (core, operation) throws(SpaceError) in
            try core.end(place, operation)
        }
    }

    /// Ends it, once; what could not be ended for a reason that passes is still held.
    func end(
        _ operation: String,
        _ body: (NamespaceCore, String) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        // Not asked whether the handle was left: what is held is the process's, and lasts until its last handle goes.
        let core = namespace.core
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: namespace.name,
                reason: "\(place.name.quotedForPeople) was let go before",
                advice: "end what is held once"
            )
        }
        do throws(SpaceError) {
            try body(core, operation)
        } catch {
            if error.code != .holdLost { hasEnded.store(false, ordering: .releasing) }
            throw error
        }
    }

    /// Waits until it is no longer held, though nobody released it.
    ///
    /// Returns: How it was lost.
    /// Throws: `cancelled`: also when it was released.
    func loss() async throws(SpaceError) -> SpaceError {
        let operation = "keep \(place.kind.phrase)"
        let core = namespace.core
        while true {
            do throws(SpaceError) {
                let _: Void? = try await core.suspend(
                    operation,
                    Interest(hold: place.ticket),
                    text: { place.text },
                    until: nil
                ) { () throws(SpaceError) in try core.hold(place) == nil ? Found(result: (), removed: nil) : nil }
                if hasEnded.load(ordering: .acquiring) { throw core.cancelled(operation) }
                return core.lost(place, operation)
            } catch {
                if error.code == .cancelled { throw error }
                guard error.mayPass else { return error }
                // It could not be looked (no reader was to be had, say), which takes nothing away.
                try? await Task.sleep(for: Limits.tick)
            }
        }
    }

    /// At the end of the hold's life: lets go, if nothing else has.
    func drop(wasDelivered: Bool = true) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        namespace.core.endOrRemember(place, wasDelivered: wasDelivered)
    }
}

extension Hold {
    /// Runs `body` with the fencing number, and lets go when it ends.
    consuming func run<Result>(_ body: (UInt64) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(fencing)
        } catch {
            // What can't be let go now is when the hold goes.
            try? release()
            throw error
        }
        try release()
        return result
    }

    /// The same, in a task.
    nonisolated(nonsending) consuming func run<Result>(_ body: (UInt64) async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body(fencing)
        } catch {
            try? release()
            throw error
        }
        try release()
        return result
    }
}
