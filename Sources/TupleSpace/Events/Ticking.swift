import Synchronization

/// The interval at which a waiting process looks for work that a killed process left undone.
package enum Ticking {
    private static let isOff = Atomic<Bool>(false)

    /// Turns the ticks of this process off, so that nothing makes up for a lost wake-up.
    ///
    /// For tests of guarantees that hold without kills.
    package static func turnOff() { isOff.store(true, ordering: .relaxed) }

    package static var interval: Duration { isOff.load(ordering: .relaxed) ? .seconds(86_400) : Limits.tick }
}
