/// What a process holds by name: a lock, permits of a semaphore, or leadership.
///
/// ```swift
/// let hold = try await builds.lock("repository").acquire()
/// try deploy(fencing: hold.fencing)
/// try hold.release()
/// ```
///
/// The hold ends when it is released, when the value goes out of scope, and when the process ends in any way. The next
/// waiter then holds the name. The hold belongs to the process, not to a thread: code may pass it on, and release it
/// anywhere. The hold keeps the namespace open as long as it lives.
public struct Hold: ~Copyable, Sendable {
    package let state: OwnPlace
    private let watch: Task<Void, Never>?

    package init(_ place: Place, in namespace: Namespace, onLoss: (@Sendable (SpaceError) -> Void)? = nil) {
        let state = OwnPlace(place, in: namespace)
        state.note(isScoped: false)
        self.state = state
        watch = onLoss.map { onLoss in
            Task {
                // If this task was cancelled, there is no loss to report.
                if let loss = try? await state.loss() { onLoss(loss) }
            }
        }
    }

    deinit {
        watch?.cancel()
        state.drop()
    }

    /// The fencing number, for an election the number of the term: greater than that of every earlier holder, even in
    /// an earlier life of the namespace.
    ///
    /// (For a later life this holds as long as the machine's clock was not set back by more than the time between the
    /// two creations.) A deposed holder, which was stopped and goes on, has a smaller number than the present holder.
    /// So let the resource that the lock protects refuse every number smaller than the greatest it has seen.
    public var fencing: UInt64 { state.place.ticket }

    /// Whether this is still held, neither released nor taken away; this may change at any moment.
    ///
    /// - Throws: `namespaceDeleted`, `closed`: in both cases nothing is held any more.
    /// - Complexity: O(log n), without a lock.
    public var isHeld: Bool {
        get throws(SpaceError) { try state.isHeld() }
    }

    /// Releases the hold; a leader resigns.
    ///
    /// - Throws: `holdLost` if it had been taken away; `invalidArgument` if it was released before; `holderStopped`,
    ///   `holderBusy`: in these two cases it is still held.
    public func release() throws(SpaceError) {
        watch?.cancel()
        try state.release()
    }
}

extension Hold {
    /// Runs `body` with the fencing number, and releases the hold when `body` ends.
    package consuming func run<Result>(_ body: (UInt64) throws -> Result) throws -> Result {
        state.note(isScoped: true)
        let result: Result
        do {
            result = try body(fencing)
        } catch {
            // If the release fails now, it is tried again when the hold is destroyed.
            try? release()
            throw error
        }
        try release()
        return result
    }

    /// Runs `body` as above, in a task.
    nonisolated(nonsending) consuming func run<Result>(_ body: (UInt64) async throws -> Result) async throws -> Result {
        state.note(isScoped: true)
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
