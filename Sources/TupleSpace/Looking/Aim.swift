import SpaceSystem

/// What a look of a waiting taker heeds, so that takers are served in the order of their waits.
///
/// A writer grants each tuple to the oldest taker that may match it. Takers that are woken together run in any order, with
/// each other's tuples in sight. So each looks first for the tuple that it was granted, and takes no other then. A taker that
/// a tick has woken was granted none: it leaves what another was granted and has not looked for yet, for
/// ``UpkeepState/grantPatience``, because that one may be stopped.
///
/// The first look of a wait, and one without a wait, take the first match.
package struct Aim {
    /// The only tuple that the look may take.
    var only: UInt64?
    /// Whether the taker was neither granted anything nor woken for news.
    var isGlance = false
    /// Whether the last glance has left a match to another.
    private(set) var hasLeft = false

    package init() {}

    /// Whether a glance leaves a match.
    mutating func leaves(_ id: UInt64, _ core: NamespaceCore) -> Bool {
        hasLeft = isGlance && core.upkeepState.leaves(id) { core.slots.isPromised(id) }
        return hasLeft
    }
}
