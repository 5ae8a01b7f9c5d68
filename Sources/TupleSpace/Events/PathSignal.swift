package import SpaceSystem
import Synchronization

/// A count that rises when there may be news, for one watcher of a folder or file.
package final class PathSignal: Sendable {
    /// Why a signal is rung.
    package enum Cause: Sendable {
        /// The kernel has noted a change; or its queue has overflowed, and what has changed is not known.
        case change(INotify.Event)
        /// A process that was followed for the signal has ended.
        case exit
        /// A look at the path is due.
        case tick
    }

    private let rung = Atomic<UInt32>(0)
    /// Called on the event loop's thread, before those who wait are woken.
    private let hear: (@Sendable (Cause) -> Void)?

    init(_ hear: (@Sendable (Cause) -> Void)? = nil) { self.hear = hear }

    deinit { EventLoop.forget(self) }

    /// The number of signals so far.
    package var count: UInt32 { rung.load(ordering: .sequentiallyConsistent) }

    func ring(_ cause: Cause, _ sleepers: SleeperTable) {
        hear?(cause)
        rung.add(1, ordering: .sequentiallyConsistent)
        sleepers.wake(at: ObjectIdentifier(self))
    }
}
