import Synchronization

/// Whether a commit of this process has passed a multiple of 4,096 changes, until a thread takes the mark.
package struct PassedMark: ~Copyable, Sendable {
    private let isRaised = Atomic<Bool>(false)

    /// Notes that a commit has passed a multiple of 4,096 changes.
    func raise() { isRaised.store(true, ordering: .relaxed) }

    /// Whether a commit has passed a multiple of 4,096 changes since the last call.
    @inline(__always)
    package func take() -> Bool {
        isRaised.load(ordering: .relaxed) && isRaised.exchange(false, ordering: .relaxed)
    }
}
