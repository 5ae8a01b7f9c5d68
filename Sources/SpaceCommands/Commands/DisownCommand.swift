import CommandWords
import SharedSpace

/// The command `space disown NS [--pid PID]`.
struct DisownCommand: ParsableCommand {
    static let commandName = "disown"
    static let configuration = CommandConfiguration(
        abstract: "End a process's ownership of a namespace.",
        discussion: """
            Without --pid: of the process that --owner, $SHARED_SPACE_OWNER or, last, the session leader is. The status is 1 \
            when it was no enrolled owner. When the last owner goes, the namespace goes.

            EXAMPLE:
              space disown jobs --pid "$server"
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Option(help: "<pid> The process that owns it no longer.")
    var pid: String?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func validate() throws {
        if pid != nil, owner.owner != nil { throw ValidationError("--pid and --owner exclude each other") }
    }

    func run() throws {
        let choice = try owner.choice(pid: pid)
        guard let process = choice.pid else {
            throw CommandFailure.usage(
                choice == .nobody
                    ? "disown needs a process, so --owner none is refused"
                    : "the process that called this command has exited: name one with --pid"
            )
        }
        let wasOwner = try NamespaceAccess(common, namespace).use { try $0.removeOwner(pid: process) }
        if !wasOwner { throw status.nothingObtained }
    }
}
