import SpaceSystem

/// How long a written tuple or a set cell lasts, if no call ends it before.
public enum Lifetime: Sendable, Hashable {
    /// Until a call removes it.
    case permanent
    /// As long as this process has the namespace open: until its last handle is left, or the process ends in any way.
    case session
    /// As long as the process with this PID runs; the process need not use the library.
    case process(Int32)
}

extension Lifetime {
    /// The holder with which a row of this lifetime ends.
    @inline(__always)
    func holder(in core: NamespaceCore) throws(SpaceError) -> ClaimHolder? {
        switch self {
        case .permanent: return nil
        case .session: return .session(core.session.number)
        case .process(let pid):
            guard ProcessIdentity.mayExit(pid: pid), let process = ProcessIdentity.of(pid: pid), process.life == .alive
            else { throw .noSuchProcess("there is no process \(pid), or it can't be seen, or it never exits") }
            return .process(process, member: core.session.member)
        }
    }
}
