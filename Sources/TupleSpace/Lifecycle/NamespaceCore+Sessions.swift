import Glibc
package import SpaceSystem
import Synchronization
import SystemPackage

extension NamespaceCore {
    /// Whether a session lives.
    ///
    /// If this can't be determined (no descriptor is left, for example), the session counts as alive, because a
    /// living session's claims must not be taken from it.
    ///
    /// A session of another machine lives as long as its member takes part in the namespace.
    package func isAlive(session number: UInt64) -> Bool {
        if number == session.number { return true }
        let member = SessionNumber.member(of: number)
        if control.staying.isReplica, member != control.member.load() { return isAlive(member: member) }
        return isAliveHere(session: number)
    }

    /// Whether the process of a session of this machine lives, also if the member that the session counts for has ended.
    func isAliveHere(session number: UInt64) -> Bool {
        do throws(Errno) {
            guard try control.isLocked(session: number) else { return false }
        } catch {
            return true
        }
        // The lock is held by the process, or by a child that the dead process forked; the session's file says which
        // process it is. If there is no file, a clean-up has removed it, and the session writes a new one.
        return sight(session: number)?.isAlive ?? true
    }

    /// Whether a member takes part in the namespace, as this machine's replica shows it; if that can't be read, it does.
    func isAlive(member: UInt32) -> Bool {
        (try? read { (snapshot) throws(SpaceError) in try snapshot.hasMember(member) }) ?? true
    }

    /// Whether a session's or a process's number is one of another machine.
    package func isElsewhere(member: UInt32) -> Bool { member != 0 && member != control.member.load() }

    // MARK: A session whose member has ended

    /// Runs a write, and again while the machine does not take part: as long as it is waited for, which is not long.
    ///
    /// If this process's member has ended, the session goes on as the machine's new member's. The write has not begun
    /// then. On a busy machine that member may end too before the write comes to it.
    @inline(__always)
    func renewingSession<R>(
        patience: Duration? = nil,
        _ write: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        var deadline: MonotonicInstant?
        while true {
            do throws(SpaceError) {
                return try write()
            } catch  where error.code == .memberEnded {
                try waitForMember(error, until: &deadline, patience: patience)
            } catch {
                throw error
            }
        }
    }

    /// Gives the session a number of a member that takes part, or waits until the machine has one.
    ///
    /// - Parameters:
    ///   - error: Why the machine takes no part.
    ///   - deadline: The end of all waits of a write; set by the first of them.
    ///   - patience: The longest time for all of them; at most `arrivalPatience`.
    /// - Throws: `clusterUnavailable` once the time is over; `namespaceDeleted`.
    @inline(never)
    private func waitForMember(
        _ error: SpaceError,
        until deadline: inout MonotonicInstant?,
        patience: Duration?
    ) throws(SpaceError) {
        let isFirst = deadline == nil
        let end = deadline ?? .now.advanced(by: min(patience ?? Self.arrivalPatience, Self.arrivalPatience))
        deadline = end
        // A daemon that is asked with hardly any time left would seem to be silent.
        guard isFirst || end.remaining > Self.shortestQuestion else { throw .clusterUnavailable(error.reason) }
        // The machine may be a new member already that has not arrived yet.
        if try renewSession() { return }
        // The daemon may not have seen yet that its member has ended.
        if !isFirst { poll(nil, 0, 5) }
        try waitForMachine(error, patience: end.remaining)
        _ = try renewSession()
    }

    /// Waits until this machine takes part, outside of the gate: the daemon needs the gate for that.
    private func waitForMachine(_ error: SpaceError, patience: Duration) throws(SpaceError) {
        let answer: DaemonAnswer
        do throws(SpaceError) {
            answer = try askDaemon(.arrive, patience: patience)
        } catch {
            engine.daemonContact.noteSilence()
            throw error
        }
        switch answer {
        case .done: engine.daemonContact.noteAnswer()
        case .unavailable(let why): throw .clusterUnavailable(why)
        case .gone: throw .deletedOnAllMachines
        default: throw .clusterUnavailable(error.reason)
        }
    }

    static let arrivalPatience = Duration.seconds(5)
    private static let shortestQuestion = Duration.milliseconds(50)

    /// Whether a session has ended because its member has, in a replica.
    func hasEnded(session: UInt64) -> Bool {
        guard control.staying.isReplica else { return false }
        let member = SessionNumber.member(of: session)
        return member != control.member.load() && !isAlive(member: member)
    }

    /// Whether the member of a session takes no part in a replica any more, be the machine another member yet or not.
    package func hasEnded(memberOf session: UInt64) -> Bool {
        control.staying.isReplica && !isAlive(member: SessionNumber.member(of: session))
    }

    /// Gives the session a number of the machine's present member, unless it has one; `false` if that can't be done now.
    func tryRenewSession() -> Bool {
        _ = try? renewSession()
        return !hasEnded(session: session.number)
    }

    /// Gives the session a number of the machine's present member.
    ///
    /// - Returns: `false` if it has one already, or there is no member.
    private func renewSession() throws(SpaceError) -> Bool {
        let member = control.member.load()
        guard member != 0, member != session.member else { return false }
        _ = try underDoor(timeout: timeout) { (sessions, mode) throws(SpaceError) in
            try system("its session file") { () throws(Errno) in try session.renew(in: sessions, mode: mode) }
            return false
        }
        engine.sessionMember = session.member
        renewals.add(1, ordering: .releasing)
        return session.member == member
    }

    /// A holder of this machine with the session's number, or its member, as they are now.
    ///
    /// The machine may have become another member since the holder was named, also while its write waited. What is written
    /// for the old member ends at once, although the process lives.
    @inline(never)
    package func renewed(_ holder: ClaimHolder) -> ClaimHolder {
        switch holder {
        case .session(let number) where number != session.number && session.hasHad(number): .session(session.number)
        case .process(let process, let member) where member != session.member && session.hasBeen(member: member):
            .process(process, member: session.member)
        default: holder
        }
    }

    /// Whether a holder of this machine has the session's number, or its member, as they are now; the usual case, which
    /// costs two comparisons.
    @inline(__always)
    func isPresent(_ holder: ClaimHolder) -> Bool {
        switch holder {
        case .session(let number): number == session.number
        case .process(_, let member): member == session.member
        case .nobody: true
        }
    }

    /// The process whose session it is, if that can be told.
    package func process(ofSession number: UInt64) -> ProcessIdentity? { sight(session: number)?.record?.process }

    private func sight(session number: UInt64) -> SessionFolder.Sighting? {
        guard let folder = try? engine.openFolder(),
            let sessions = try? SessionFolder(in: folder.descriptor)
        else { return nil }
        return (try? sessions.look(at: String(number))) ?? nil
    }

    /// Writes this process's session file again if it was missing at two ticks in a row.
    func restoreSession() {
        let path = "\(root.path)/\(name.encoded)/\(SessionFolder.name)/\(session.name)"
        let isMissing: Bool
        do throws(Errno) {
            _ = try Directory.info(at: AT_FDCWD, path)
            isMissing = false
        } catch {
            isMissing = error == .noSuchFileOrDirectory
        }
        // After a failure (a full disk, for example) the next tick tries again; until then the lock shows that the
        // session lives.
        guard session.note(isMissing: isMissing), let folder = (try? engine.openFolder()) ?? nil,
            let sessions = try? folder.sessions(makingAnew: true)
        else { return }
        try? session.restore(in: sessions, mode: folder.fileMode)
    }
}
