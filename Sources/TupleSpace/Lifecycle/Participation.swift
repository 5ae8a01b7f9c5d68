import SpaceMachines
import SpaceSystem
import Synchronization
import SystemPackage

/// How this process takes part in a namespace of several machines: as a session of its machine's member.
package struct Participation {
    let core: NamespaceCore

    // MARK: A session whose member has ended

    /// Runs a write, and repeats it while the machine does not take part, for a short time.
    ///
    /// If this process's member has ended, the session goes on as the machine's new member's. The write has not begun
    /// then. On a busy machine that member may also end before the write begins.
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
        if !isFirst { Retry.rest(.milliseconds(5)) }
        try waitForMachine(error, patience: end.remaining)
        _ = try renewSession()
    }

    /// Waits until this machine takes part, outside of the gate: the daemon needs the gate for that.
    private func waitForMachine(_ error: SpaceError, patience: Duration) throws(SpaceError) {
        let answer: DaemonAnswer
        let deadline = MonotonicInstant.now.advanced(by: patience)
        do throws(SpaceError) {
            answer = try askDaemon(.arrive, patience: patience)
        } catch let failure {
            core.daemon.noteSilence()
            // A daemon that has just said why this machine takes no part is not the one that is silent: it waits itself.
            let hasSaidWhy = core.daemon.hasAnswered(within: patience + Self.shortWhile)
            guard deadline.hasPassed, hasSaidWhy else { throw failure }
            throw .clusterUnavailable(error.reason)
        }
        switch answer {
        case .done: core.daemon.noteAnswer()
        case .unavailable(let why): throw .clusterUnavailable(why)
        case .gone: throw .deletedOnAllMachines
        default: throw .clusterUnavailable(error.reason)
        }
    }

    static let arrivalPatience = Duration.seconds(5)
    /// What lies between an answer and the next question of the same process at most.
    private static let shortWhile = Duration.seconds(1)
    private static let shortestQuestion = Duration.milliseconds(50)

    /// Gives the session a number of the machine's present member, unless it has one.
    ///
    /// - Throws: `clusterUnavailable` if the machine takes no part now.
    func goOnAsMember() throws(SpaceError) {
        _ = try? renewSession()
        guard core.liveness.hasEnded(session: core.session.number) else { return }
        throw .clusterUnavailable("this machine takes part no more, or not yet")
    }

    /// Gives the session a number of the machine's present member.
    ///
    /// - Returns: `false` if it has one already, or there is no member.
    private func renewSession() throws(SpaceError) -> Bool {
        let member = core.control.member.load()
        guard member != 0, member != core.session.member else { return false }
        _ = try core.underDoor(timeout: core.timeout) { (sessions, mode) throws(SpaceError) in
            try system("its session file") { () throws(Errno) in try core.session.renew(in: sessions, mode: mode) }
            return false
        }
        core.engine.sessionMember = core.session.member
        core.renewals.add(1, ordering: .releasing)
        return core.session.member == member
    }

    /// A holder of this machine with the session's number, or its member, as they are now.
    ///
    /// The machine may have become another member since the holder was named, even while the write waited. What is
    /// written for the old member ends at once, although the process lives.
    @inline(never)
    package func renewed(_ holder: ClaimHolder) -> ClaimHolder {
        switch holder {
        case .session(let number) where number != core.session.number && core.session.hasHad(number):
            .session(core.session.number)
        case .process(let process, let member)
        where member != core.session.member && core.session.hasBeen(member: member):
            .process(process, member: core.session.member)
        default: holder
        }
    }

    /// Whether a holder of this machine has the session's number, or its member, as they are now; the usual case, which
    /// costs two comparisons.
    @inline(__always)
    func isPresent(_ holder: ClaimHolder) -> Bool {
        switch holder {
        case .session(let number): number == core.session.number
        case .process(_, let member): member == core.session.member
        case .nobody: true
        }
    }
}

extension NamespaceCore {
    /// How this process takes part in a namespace of several machines.
    @inline(__always)
    package var participation: Participation { Participation(core: self) }
}
