import TupleCoding

/// The leadership of this process; the process resigns when the value goes out of scope.
public struct Leadership: ~Copyable, Sendable {
    private let hold: Hold
    private let watch: Task<Void, Never>?

    init(_ hold: consuming Hold, _ onLoss: (@Sendable (SpaceError) -> Void)?) {
        let state = hold.state
        watch = onLoss.map { onLoss in
            Task {
                // If this task was cancelled, there is no loss to report.
                if let loss = try? await state.loss() { onLoss(loss) }
            }
        }
        self.hold = hold
    }

    init?(_ hold: consuming Hold?, _ onLoss: (@Sendable (SpaceError) -> Void)?) {
        guard let hold else { return nil }
        self.init(hold, onLoss)
    }

    deinit { watch?.cancel() }

    /// The number of the term, greater than those of all earlier terms: see ``Hold/fencing``.
    public var term: UInt64 { hold.fencing }

    /// Whether this process still leads.
    ///
    /// - Throws: The same errors as ``Hold/isHeld()``.
    public func isLeading() throws(SpaceError) -> Bool { try hold.isHeld() }

    /// Resigns.
    ///
    /// - Throws: The same errors as ``Hold/release()``.
    public func resign() throws(SpaceError) {
        watch?.cancel()
        try hold.release()
    }
}
