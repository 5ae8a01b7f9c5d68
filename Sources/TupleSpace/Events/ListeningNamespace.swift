package import SpaceSystem

/// An open namespace, as the threads see it that wait for its events.
///
/// Those threads serve all namespaces of the process. They stand below the open namespace and know it by this protocol alone.
package protocol ListeningNamespace: AnyObject, Sendable {
    var engine: Engine { get }

    /// Whether the namespace has to be ticked for though nobody waits in it.
    var needsTicks: Bool { get }

    /// Looks after the namespace, once a tick.
    func tick()

    /// Ends what objects kept alive that no longer live.
    func forgetDeadOwners()

    /// Looks for news: the change signal was heard.
    func hear()

    /// Looks for news that no signal told of, once a tick.
    func tickParts()

    /// The processes, other than this one, that have claimed something, or for which a tuple was claimed.
    func claimants() -> Set<ProcessIdentity>

    /// Returns the claims of holders that no longer live.
    func returnClaimsOfTheDead(patience: Duration)
}
