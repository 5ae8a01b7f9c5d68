import SpaceSystem
import Synchronization
import SystemPackage

/// How large tables of waiters' slots may grow in this process.
package enum WaitTable {
    private static let isSmall = Atomic<Bool>(false)

    /// Lets this process add no segment to a table of slots.
    ///
    /// For tests of what happens when there are no slots left.
    package static func keepSmall() { isSmall.store(true, ordering: .relaxed) }

    static var mostSegments: Int { isSmall.load(ordering: .relaxed) ? 1 : WaitSlots.mostSegments }
}
