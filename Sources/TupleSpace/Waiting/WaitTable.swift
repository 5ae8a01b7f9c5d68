import Synchronization

/// The limit of the growth of slot tables in this process.
package enum WaitTable {
    private static let isSmall = Atomic<Bool>(false)

    /// Makes this process add no segment to any table of slots.
    ///
    /// Tests use it to see what happens when no slots are left.
    package static func keepSmall() { isSmall.store(true, ordering: .relaxed) }

    static var mostSegments: Int { isSmall.load(ordering: .relaxed) ? 1 : WaitSlots.mostSegments }
}
