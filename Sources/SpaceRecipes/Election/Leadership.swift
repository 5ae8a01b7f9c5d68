import LMDB
import Synchronization
import TupleCoding

/// That this process leads; it resigns when the value goes out of scope.
public struct Leadership: ~Copyable, Sendable {
    private let hold: Hold
    private let watch: Task<Void, Never>?

    init(_ hold: consuming Hold, _ onLoss: (@Sendable (SpaceError) -> Void)?) {
        let state = hold.state
        watch = onLoss.map { onLoss in
            Task {
                // Cancelled, it has nothing to tell.
                if let loss = try? await state.loss() { onLoss(loss) }
            }
        }
        self.hold = hold
    }

    deinit { watch?.cancel() }

    /// The number of the term, greater than all before: see ``Hold/fencing``.
    public var term: UInt64 { hold.fencing }

    /// Whether it still leads.
    ///
    /// - Throws: What ``Hold/isHeld()`` does.
    public func isLeading() throws(SpaceError) -> Bool { try hold.isHeld() }

    /// Resigns.
    ///
    /// - Throws: What ``Hold/release()`` does.
    public func resign() throws(SpaceError) {
        watch?.cancel()
        try hold.release()
    }
}
