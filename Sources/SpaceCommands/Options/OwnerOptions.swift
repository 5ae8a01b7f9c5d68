import ArgumentParser
import Glibc
import SharedSpace
import SpaceSystem

/// The process that owns a namespace which a command uses: `--owner`, the variable, or the parent.
struct OwnerOptions: ParsableArguments {
    static let variable = "SHARED_SPACE_OWNER"

    @Option(
        help: ArgumentHelp(
            "The process that owns the namespace from now on, or 'none' (default: $\(variable), else the calling process).",
            valueName: "pid|none"
        )
    )
    var owner: String?

    /// The process that the options name.
    enum Choice: Equatable {
        case process(Int32)
        /// The parent, unchanged since the start.
        case parent(Int32)
        /// `--owner none`.
        case nobody
        /// The parent has exited, or is a process that may not be an owner.
        case parentGone
    }

    /// The process that owns the namespace.
    ///
    /// `pid`: The word of the command's `--pid`, which comes before all else.
    ///
    /// - Throws: `CommandFailure` (usage) for a word that is neither a PID nor `none`, and for a process that never
    ///   exits.
    func choice(pid: String? = nil) throws -> Choice {
        if let pid { return .process(try Self.pid(pid, from: "--pid")) }
        if let owner { return try Self.choice(owner, from: "--owner") }
        if let value = getenv(Self.variable), value[0] != 0 {
            return try Self.choice(String(cString: value), from: "$\(Self.variable)")
        }
        // The machine's PID 1 adopts orphans, and PID 0 stands for a parent outside of the PID namespace: neither has
        // called this command.
        guard ProcessIdentity.mayExit(pid: Launch.parent), Self.isParent(Launch.parent) else { return .parentGone }
        return .parent(Launch.parent)
    }

    /// Whether a process is still the parent; a former parent has exited.
    static func isParent(_ pid: Int32) -> Bool { getppid() == pid }

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
        case .parent(let pid) where ProcessIdentity.isHidden(pid: pid):
            return .usage(
                "\(what): process \(pid), which called this command, can't own it: \(hidden); \(adviceForHidden), \(keep)"
            )
        case .nobody:
            reason = "with --owner none nobody owns it"
        case .process, .parent, .parentGone:
            reason = "the process that called this command has exited or may not be an owner"
        }
        return .usage(
            "\(what): \(reason), so it would vanish at once; name an owner with --owner PID, or with "
                + "export \(variable)=$$ at the start of the script, \(keep)"
        )
    }
}
