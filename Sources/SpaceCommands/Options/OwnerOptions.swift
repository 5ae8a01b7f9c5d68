import CommandWords
import Glibc
import SharedSpace
import SpaceSystem

/// The process that owns a namespace which a command uses: `--owner`, the variable, or the one that is found.
///
/// Without the two, the owner is the session leader (getsid(2)): the terminal's shell, the cron job, the unit's main
/// process, a container's first process. It stays while helpers that call commands come and go: subshells, xargs, make,
/// timeout. The calling process takes its place where the leader is the command itself, has exited, is another user's,
/// or can't be seen (it is outside of the PID namespace, or `/proc` hides it).
struct OwnerOptions: ParsableArguments {
    static let variable = "SHARED_SPACE_OWNER"

    @Option(
        help: """
            <pid|none> The process that owns the namespace from now on, or 'none' (default: $\(variable), else the \
            session leader).
            """
    )
    var owner: String?

    /// The process that the options name.
    enum Choice: Equatable {
        case process(Int32)
        /// The session leader or the parent, because neither an option nor the variable names a process.
        case found(ProcessIdentity)
        /// `--owner none`.
        case nobody
        /// There is no process: the leader is none, and the parent has exited or is a process that may not be an owner.
        case noneFound
        /// The same, but the parent lives, and `/proc` doesn't show it.
        case hidden(Int32)

        /// The PID of the process; `nil` if there is none.
        var pid: Int32? {
            switch self {
            case .process(let pid): pid
            case .found(let process): process.pid
            case .nobody, .noneFound, .hidden: nil
            }
        }
    }

    /// The process that owns the namespace.
    ///
    /// `pid`: The word of the command's `--pid`, which comes before all else.
    ///
    /// - Throws: `CommandFailure` (usage) for a word that is neither a PID nor `none`, and for a process that never
    ///   exits; `SpaceError` (`descriptorsExhausted`) if no descriptor is left to look for a process.
    func choice(pid: String? = nil) throws -> Choice {
        if let pid { return .process(try Self.pid(pid, from: "--pid")) }
        if let owner { return try Self.choice(owner, from: "--owner") }
        if let value = getenv(Self.variable), value[0] != 0 {
            return try Self.choice(String(cString: value), from: "$\(Self.variable)")
        }
        return try Self.found()
    }

    /// The process that owns the namespace where none is named.
    ///
    /// - Throws: `SpaceError` (`descriptorsExhausted`) if no descriptor is left to look for the process.
    static func found() throws -> Choice {
        if let leader = try leader() { return .found(leader) }
        // The machine's PID 1 adopts orphans, and PID 0 stands for a parent outside of the PID namespace: neither has
        // called this command.
        guard ProcessIdentity.mayExit(pid: Launch.parent), isParent(Launch.parent) else { return .noneFound }
        // If the process is still the parent after its start time was read, that start time is the parent's. A
        // hidden parent owns nothing.
        let parent = try ProcessIdentity.found(Launch.parent)
        guard isParent(Launch.parent) else { return .noneFound }
        if let parent { return .found(parent) }
        return ProcessIdentity.isHidden(pid: Launch.parent) ? .hidden(Launch.parent) : .noneFound
    }

    /// The session leader, if it may be the owner.
    ///
    /// While this process is in the session, no other process gets the leader's PID, also when the leader has exited:
    /// fork(2) takes no PID that is a session's. So a process of this PID is the leader, or what is left of it.
    private static func leader() throws -> ProcessIdentity? {
        let pid = getsid(0)
        guard pid != getpid(), ProcessIdentity.mayExit(pid: pid), let leader = try ProcessIdentity.found(pid),
            leader.life == .alive, ProcessIdentity.user(of: pid) == geteuid()
        else { return nil }
        return leader
    }

    /// Whether a process is still the parent; a former parent has exited.
    private static func isParent(_ pid: Int32) -> Bool { getppid() == pid }

    private static func choice(_ word: String, from source: String) throws -> Choice {
        if word == "none" { return .nobody }
        return .process(try pid(word, from: source))
    }

    /// - Throws: `CommandFailure` (usage) for a word that is not a PID, for PID 0, and for the machine's PID 1.
    static func pid(_ word: String, from source: String) throws -> Int32 {
        // Plain digits only: `Int32` takes a sign too.
        guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let pid = Int32(word) else {
            throw CommandFailure.usage("\(source): \(word.quotedForPeople) is no process id")
        }
        guard ProcessIdentity.mayExit(pid: pid) else {
            throw CommandFailure.usage(
                "\(source): process \(pid) may not be an owner: it never exits, so nothing would end"
            )
        }
        return pid
    }

    /// Why a process that exists can't be an owner.
    static let hidden =
        "/proc doesn't show it (another user's process, and /proc is mounted with hidepid), so its end would go "
        + "unnoticed"
    /// What the user can do about it.
    static let adviceForHidden =
        "name one of this user's processes with --owner PID or $\(variable), or mount /proc without hidepid"

    /// The error of a command that would create a namespace without an owner.
    static func refusal(_ name: String, _ choice: Choice) -> CommandFailure {
        let what = "cannot create the namespace \(name.quotedForPeople)"
        let keep = "or keep the namespace without owners with --persistent"
        let reason: String
        switch choice {
        case .hidden(let pid):
            return .usage(
                "\(what): process \(pid), which called this command, can't own it: \(hidden); \(adviceForHidden), \(keep)"
            )
        case .nobody:
            reason = "with --owner none nobody owns it"
        case .process, .found, .noneFound:
            reason = "the process that called this command has exited or may not be an owner"
        }
        return .usage(
            "\(what): \(reason), so it would vanish at once; name an owner with --owner PID, or with "
                + "export \(variable)=$$ at the start of the script, \(keep)"
        )
    }
}
