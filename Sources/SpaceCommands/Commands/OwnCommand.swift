import CommandWords
import Glibc
import SharedSpace
import SystemPackage

/// The command `space own NS [--pid PID] [-- CMD…]`.
struct OwnCommand: ParsableCommand {
    static let commandName = "own"
    static let configuration = CommandConfiguration(
        abstract: "Make a process an owner of a namespace.",
        discussion: """
            Creates the namespace if need be. With a command it makes itself an owner and then becomes the command, so the \
            status and signals are the command's own; $SHARED_SPACE_OWNER is set for it. Without one it makes PID an owner, \
            or else the process that --owner or $SHARED_SPACE_OWNER names, or last the session leader.

            EXAMPLES:
              space own jobs -- ./worker --fast
              space own jobs --pid "$server"
              space own jobs
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(help: .limit) var limit: SizeArgument?
    @Option(help: .group) var group: GroupArgument?

    @Option(help: "<pid> The process to make an owner.")
    var pid: String?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Tail(help: "<cmd> After '--': the command to become.")
    var command: [Word]?

    func validate() throws {
        if pid != nil, owner.owner != nil { throw ValidationError("--pid and --owner exclude each other") }
        if command != nil, pid != nil || owner.owner != nil {
            throw ValidationError("the command itself becomes the owner: leave out --pid and --owner")
        }
        if command?.first == "" { throw ValidationError("the command's name is empty") }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        if let command { return try become(command, owning: access) }
        let choice = try owner.choice(pid: pid)
        if choice == .nobody {
            throw CommandFailure.usage("own makes a process an owner, so --owner none is refused")
        }
        // If there is no process to enrol, that is an error also where the namespace exists.
        guard try choice.request().enrolled != nil else { throw OwnerOptions.refusal(namespace, choice) }
        try NamespaceAccess.use(
            try access.open(
                for: choice,
                creates: creation.create,
                options: creation.options(CreationBounds(limit: limit, group: group))
            )
        ) { _ in }
    }

    /// Enrols this process like any other, by its PID, and becomes the command.
    ///
    /// execve(2) closes the descriptor that holds the lock of a session, which ends the session. The enrolment is a
    /// file, and the PID and its start time stay the same.
    private func become(_ command: [Word], owning access: NamespaceAccess) throws {
        let request = try OwnerOptions.Choice.process(getpid()).request()
        let opened = try access.space.open(
            namespace,
            owner: request,
            creates: creation.create,
            options: creation.options(CreationBounds(limit: limit, group: group))
        )
        try NamespaceAccess.use(opened) { _ in }
        try Signals.check()
        setenv(OwnerOptions.variable, "\(getpid())", 1)
        Signals.restoreForExec()
        let cause = Self.execute(wordCount: command.count)
        // execvp(3) has returned, so the command can't be run: the enrolment for it ends with this process.
        let status: ExitStatus = cause == .noSuchFileOrDirectory ? .commandNotFound : .cannotExecute
        _ = try? access.openExisting().removeOwner(pid: getpid())
        throw CommandFailure(status, "cannot run \(command[0].text.quotedForPeople): \(cause)")
    }

    /// Becomes the command of the last words of argv, where they are as they came, UTF-8 or not.
    private static func execute(wordCount: Int) -> Errno {
        let words = CommandLine.unsafeArgv + max(0, Int(CommandLine.argc) - wordCount)
        guard let file = words[0] else { return .noSuchFileOrDirectory }
        // execve(2): argv ends with a null pointer, and so does its tail.
        execvp(file, words)
        return Errno(rawValue: errno)
    }
}
