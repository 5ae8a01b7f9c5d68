import SpaceSystem

/// What a look of a waiting taker heeds, so that takers are served in the order of their waits.
///
/// A writer grants each tuple to the oldest taker that may match it. Takers that are woken together run in any order, with
/// each other's tuples in sight. So each looks first for the tuple that it was granted, and takes no other then. If it was
/// granted none, or one that does not fit, because a slot says little of types and ranges, it takes the first match that no
/// older taker was granted; what an older one was granted and has not looked for yet is left to it, for
/// ``UpkeepState/grantPatience``, because that one may be stopped.
///
/// The first look of a wait, and one without a wait, take the first match.
package struct Aim {
    /// The only tuple that the look may take.
    var only: UInt64?
    /// The taker's ticket, if what older takers were granted is left to them.
    var heeds: UInt64?
    /// Whether a match was left to another.
    private(set) var hasLeft = false

    package init() {}

    /// Whether a match is left to an older taker.
    mutating func leaves(_ id: UInt64, _ core: NamespaceCore) -> Bool {
        guard let heeds, core.upkeepState.leaves(id, to: heeds, core.slots) else { return false }
        hasLeft = true
        return true
    }
}
