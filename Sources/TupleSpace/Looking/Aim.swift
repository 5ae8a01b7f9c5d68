import SpaceSystem

/// What a look of a waiting taker heeds, so that takers are served in the order of their waits.
///
/// A writer grants each tuple to the oldest taker that may match it. Takers that are woken together run in any order,
/// with each other's tuples in sight. So each taker looks first for the tuple that it was granted, and then takes no
/// other. If the granted tuple does not fit, because a slot says little of types and ranges, the taker takes the first
/// match that no older taker was granted. A taker that was woken without a grant, for example by a tick, only glances:
/// it takes the first match or nothing, because later tuples may be about to be granted. If another taker was granted a
/// tuple and has not looked for it yet, the tuple is left to that taker, for ``GrantPatience`` at most, because it
/// may be stopped.
///
/// The first look of a wait, and one without a wait, take the first match.
package struct Aim {
    /// The only tuple that the look may take.
    var only: UInt64?
    /// The taker's ticket, if this look leaves to older takers what they were granted.
    var heeds: UInt64?
    /// Whether the look takes nothing that comes after a match that it leaves.
    var isGlance = false
    /// Whether a match was left to another.
    private(set) var hasLeft = false
    /// Whether one of them was found granted for the first time.
    private(set) var hasNoted = false

    package init() {}

    /// Whether the look takes the first match, whatever others were granted.
    @inline(__always)
    var takesFirst: Bool { only == nil && heeds == nil }

    /// Whether a match is left to an older taker.
    mutating func leaves(_ id: UInt64, _ core: NamespaceCore) -> Bool {
        guard let heeds, core.upkeepState.leaves(id, to: heeds, core.slots, &hasNoted) else { return false }
        hasLeft = true
        return true
    }
}
