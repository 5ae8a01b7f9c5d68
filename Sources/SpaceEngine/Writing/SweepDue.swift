import Synchronization

/// Whether the process must look for registrations of dead watchers, until a thread begins to.
///
/// It is raised by a commit of this process that has passed a multiple of 4,096 changes: never to look would keep the
/// journal on forever, and to look at every write would cost too much.
package struct SweepDue: ~Copyable, Sendable {
    /// After how many changes of the namespace the next look is due.
    static let interval: UInt64 = 4096

    private let isRaised = Atomic<Bool>(false)

    func raise() { isRaised.store(true, ordering: .relaxed) }

    /// Whether a look is due; the caller makes it.
    @inline(__always)
    package func take() -> Bool {
        isRaised.load(ordering: .relaxed) && isRaised.exchange(false, ordering: .relaxed)
    }
}
