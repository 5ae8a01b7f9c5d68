package import SpaceSystem

/// An open namespace, as the event loop sees it.
///
/// The loop serves all namespaces of the process. Its floor is below that of the open namespace, so it knows the
/// namespace only by this protocol.
package protocol ListeningNamespace: AnyObject, Sendable {
    var engine: Engine { get }
    var attendance: Attendance { get }

    /// Whether this process's own affairs need ticks: owner objects, or what it could not release at once.
    var needsTicks: Bool { get }

    /// Looks after the namespace: what concerns this process, and what concerns all if it is this process's turn.
    ///
    /// `isUsed`: Whether this process waits or watches in the namespace.
    ///
    /// `follow`: Listens for the end of a process.
    func tick(isUsed: Bool, follow: (ProcessIdentity) -> ProcessExits.Finding) -> TickerRole

    /// Looks again who ticks: a process whose end concerns the namespace has ended.
    func forgetTicker()

    /// The time after which this process looks at the seats again, if another process watches over the ticker.
    var restInterval: Duration { get }

    /// Whether tasks of this process have waited in the namespace's root.
    var hasTaskWakeups: Bool { get }

    /// Whether another process ticks, or is the deputy, than at the last look, or none.
    var hasNewTicker: Bool { get }

    /// Looks for news: the change signal was heard.
    func hear()

    /// Looks once per tick for news whose signal was lost.
    func tickParts()

    /// The processes, other than this one, that have claimed something, or for which a tuple was claimed.
    func processesThatClaim() -> Set<ProcessIdentity>

    /// Returns the claims of holders that no longer live.
    func returnClaimsOfTheDead(patience: Duration)
}

/// Who ticks for a namespace, after a look at the seat (`TickerSeat`).
package enum TickerRole: Sendable {
    /// This process.
    case ticking
    /// Another process; `isHeard`: its end will be heard; `isRelieved`: a third process, whose end will be heard too,
    /// looks whether the ticker is stopped.
    case following(isHeard: Bool, isRelieved: Bool)
    /// No process needs to, as far as this one can tell.
    case idle
}
