import Synchronization

/// How often whoever waits in this process looks for what a killed process left undone.
package enum Ticking {
    private static let isOff = Atomic<Bool>(false)

    /// Turns the ticks of this process off, so that nothing makes up for a wake-up that was lost.
    ///
    /// For tests of what holds without kills.
    package static func turnOff() { isOff.store(true, ordering: .relaxed) }

    package static var interval: Duration { isOff.load(ordering: .relaxed) ? .seconds(86_400) : Limits.tick }
}
