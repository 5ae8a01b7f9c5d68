package import SpaceSystem
import SystemPackage

/// Which sessions, members and holders of a namespace live.
package struct Liveness {
    let core: NamespaceCore

    /// Whether a session lives.
    ///
    /// If this can't be determined (no descriptor is left, for example), the session counts as alive, because a
    /// living session's claims must not be taken from it.
    ///
    /// A session of another machine lives as long as its member takes part in the namespace.
    package func isAlive(session number: UInt64) -> Bool {
        if number == core.session.number { return true }
        let member = SessionNumber.member(of: number)
        if core.control.staying.isReplica, member != core.control.member.load() { return isAlive(member: member) }
        return isAliveHere(session: number)
    }

    /// Whether the process of a session of this machine lives, even if the session's member has ended.
    func isAliveHere(session number: UInt64) -> Bool {
        do throws(Errno) {
            guard try core.control.isLocked(session: number) else { return false }
        } catch {
            return true
        }
        // The lock is held by the process, or by a child that the dead process forked; the session's file says which
        // process it is. If there is no file, a clean-up has removed it, and the session writes a new one.
        return sight(session: number)?.isAlive ?? true
    }

    /// Whether a member takes part in the namespace, as this machine's replica shows it; if that can't be read, it does.
    func isAlive(member: UInt32) -> Bool {
        (try? core.read { (snapshot) throws(SpaceError) in try snapshot.hasMember(member) }) ?? true
    }

    /// Whether a holder lives; true of `ClaimHolder.nobody`, whose end would return nothing.
    package func isAlive(_ holder: ClaimHolder) -> Bool {
        switch holder {
        case .session(let number): number == core.session.number || isAlive(session: number)
        case .process(let process, member: 0): process.life == .alive
        case .process(let process, let member):
            isElsewhere(member: member)
                ? isAlive(member: member) : process.life(ofLowBits: ClaimHolder.lowStartBits) == .alive
        case .nobody: true
        }
    }

    /// Whether a session's or a process's number is one of another machine.
    package func isElsewhere(member: UInt32) -> Bool { member != 0 && member != core.control.member.load() }

    /// The name of the member whose processes run on another machine; `nil` if they run here.
    package func elsewhere(_ member: UInt32, in snapshot: Snapshot) -> String? {
        guard isElsewhere(member: member) else { return nil }
        return ((try? snapshot.memberRows.getValid(UInt64(member))) ?? nil)?.name ?? "member \(member)"
    }

    /// Whether a session has ended because its member has, in a replica.
    func hasEnded(session: UInt64) -> Bool {
        guard core.control.staying.isReplica else { return false }
        let member = SessionNumber.member(of: session)
        return member != core.control.member.load() && !isAlive(member: member)
    }

    /// Whether the member of a session no longer takes part in a replica, whether or not the machine is another member
    /// yet.
    package func hasEnded(memberOf session: UInt64) -> Bool {
        core.control.staying.isReplica && !isAlive(member: SessionNumber.member(of: session))
    }

    /// The process whose session it is, if that can be told.
    package func process(ofSession number: UInt64) -> ProcessIdentity? { sight(session: number)?.record?.process }

    private func sight(session number: UInt64) -> SessionFolder.Sighting? {
        guard let folder = try? core.engine.openFolder(),
            let sessions = try? SessionFolder(in: folder.descriptor)
        else { return nil }
        return (try? sessions.look(at: String(number))) ?? nil
    }
}

extension NamespaceCore {
    /// Which sessions, members and holders live.
    package var liveness: Liveness { Liveness(core: self) }
}
