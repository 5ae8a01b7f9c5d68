import SharedSpaceObjects

/// Something that a process holds in a namespace, by a row there, until it releases it.
package enum Possession: CaseIterable, Sendable {
    case hold, claim, responder, observation, changes

    /// Returns: The object whose end releases it.
    package func make(in namespace: Namespace) throws -> any AnyObject & Sendable {
        switch self {
        case .hold:
            guard let hold = try namespace.lock("possession").tryAcquire() else {
                throw TestFailure("the lock is not to be had")
            }
            return Kept(hold)
        case .claim:
            try namespace.write("possession")
            guard let claim = try namespace.claimIfExists("possession") else {
                throw TestFailure("the tuple is not to be had")
            }
            return Kept(claim)
        case .responder: return try namespace.respond(to: "possession") { (n: Int, _) -> Int in n }
        case .observation: return try namespace.observe("possession") { (_: Change) in }
        case .changes: return Kept(try namespace.changes())
        }
    }

    private final class Kept<Thing: ~Copyable & Sendable>: Sendable {
        private let thing: Thing
        init(_ thing: consuming Thing) { self.thing = thing }
    }
}

extension Namespace {
    /// How many there are, of all processes.
    package func possessions() throws -> Int {
        let status = try status()
        return status.holds.count + status.claims.count + status.responders.count + status.watchers.count
    }
}
