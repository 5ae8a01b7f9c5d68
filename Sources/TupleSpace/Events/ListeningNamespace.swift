package import SpaceSystem

/// An open namespace, as the threads that wait for its events see it.
///
/// Those threads serve all namespaces of the process. Their floor is below that of the open namespace, so they know it
/// only by this protocol.
package protocol ListeningNamespace: AnyObject, Sendable {
    var engine: Engine { get }

    /// Whether the namespace needs ticks although it has no waiters.
    var needsTicks: Bool { get }

    /// Does the namespace's upkeep, once a tick.
    func tick()

    /// Ends the ownership of objects that no longer live.
    func forgetDeadOwners()

    /// Looks for news: the change signal was heard.
    func hear()

    /// Looks once per tick for news whose signal was lost.
    func tickParts()

    /// The processes, other than this one, that have claimed something, or for which a tuple was claimed.
    func claimants() -> Set<ProcessIdentity>

    /// Returns the claims of holders that no longer live.
    func returnClaimsOfTheDead(patience: Duration)
}
