import SpaceSystem
import Synchronization

/// A count that rises when there may be news, for one watcher of a root folder.
package final class RootSignal: Sendable {
    private let rung = Atomic<UInt32>(0)

    init() {}

    deinit { EventLoop.forget(self) }

    /// The number of signals so far.
    package var count: UInt32 { rung.load(ordering: .sequentiallyConsistent) }

    func ring(_ sleepers: SleeperTable) {
        rung.add(1, ordering: .sequentiallyConsistent)
        sleepers.wake(at: ObjectIdentifier(self))
    }
}
