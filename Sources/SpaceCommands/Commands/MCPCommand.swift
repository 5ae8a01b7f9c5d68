import CommandWords
import Glibc
import SharedSpace
import SpaceAgents
import SpaceSystem

/// The command `space mcp [ACTION]`.
struct MCPCommand: ParsableCommand {
    static let commandName = "mcp"
    static let configuration = CommandConfiguration(
        abstract: "Let coding agents share tasks, files and ports.",
        usage: """
            space mcp [<options>]
            space mcp hook [<options>]
            space mcp guard [<options>] [<file> ...]
            space mcp install [<options>] [<client> ...]
            """,
        discussion: """
            Without an action it is a server of the Model Context Protocol on standard input and output, which a client starts: \
            Claude Code, Codex, Cursor, Gemini, VS Code, Zed. It has seven tools: task_add, task_claim, task_end, hold, let_go, \
            say, who. All agents on one repository, in whatever worktree, share its tasks and holds. What an agent has belongs \
            to its process, the client's or --owner's, and goes to others when that ends, and two hours after its last call; the \
            server itself may be ended and started again. Tasks outlive a reboot.

            hook reads a client's event before a tool is used (PreToolUse) from standard input, and ends with 2 and a message \
            on standard error if the tool would change a file that another agent holds, or if it can't find that out. It looks \
            for the file where it is, also in another worktree or through a link. What a shell command changes it can't know.

            guard does so for files: those named, or with -z those on standard input, each followed by a NUL; status 1 if \
            another agent holds one, 2 if that can't be found out. A git hook (pre-commit) is: git diff --cached --name-only --no-renames -z | space mcp guard -z

            install prints what to add to the clients' settings; --write adds it in this repository, --remove takes it out. \
            A root other than ~/.local/state/shared-space is written with it (--root). Clients: claude, codex, cursor, gemini, \
            vscode, zed, pre-commit; without one, all are printed, and written are claude and those that have a folder here \
            already.

            'space agents' shows who does what. The article Coding agents has the layout of the tuples.

            EXAMPLES:
              space mcp install --write
              space mcp --owner $$
              space mcp guard src/main.c && vi src/main.c
            """
    )

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case hook, guardFiles = "guard", install
    }

    @OptionGroup var agents: AgentOptions

    @Option(help: "<pid> The process of the agent (default: the client that has started this).")
    var owner: String?

    @Flag(name: .customShort("z"), help: "For guard: read the files from standard input, each followed by a NUL.")
    var null = false

    @Flag(help: "For install: add it to the files in this repository.")
    var write = false

    @Flag(help: "For install: take it out of the files in this repository.")
    var remove = false

    @Argument(help: "<action> hook, guard or install; without one it serves.")
    var action: Action?

    @Argument(help: "<word> For guard files, for install clients.")
    var words: [String] = []

    func validate() throws {
        if write, remove { throw ValidationError("--write and --remove exclude each other") }
        if write || remove, action != .install { throw ValidationError("--write and --remove are for install") }
        if null, action != .guardFiles { throw ValidationError("-z is for guard") }
        if owner != nil, action != nil { throw ValidationError("--owner is for the server") }
        if !words.isEmpty, action == .hook { throw ValidationError("hook takes no words") }
    }

    func run() throws {
        switch action {
        case nil: try serve()
        case .hook: try hook()
        case .guardFiles: try guardFiles()
        case .install: try install()
        }
    }

    // MARK: The server

    private func serve() throws {
        var found: ProcessIdentity?
        do {
            found = try AgentProcess.found(from: Launch.parent)
        } catch {
            if owner == nil { throw CommandFailure.usage("\(error); name the agent's with --owner PID") }
        }
        var process = found
        if let owner {
            let pid = try OwnerOptions.pid(owner, from: "--owner")
            guard !AgentProcess.isKernelThread(pid) else {
                throw CommandFailure.usage("--owner: process \(pid) is a thread of the kernel, which never ends")
            }
            process = try OwnerOptions.Choice.process(pid).request().enrolled
        }
        guard let process else {
            throw CommandFailure.usage(
                "no agent: the process that has started this has ended, or never ends; name one with --owner PID"
            )
        }
        // A client may start its servers elsewhere than where it works.
        var folder = try agents.folder()
        if agents.dir == nil, !Repository(of: folder).isGit, let other = AgentProcess.folder(of: process.pid),
            Repository(of: other).isGit
        {
            folder = other
        }
        if isatty(STDIN_FILENO) != 0, !Messages.isQuiet {
            Messages.print(
                "space: this speaks JSON with the client that starts it; 'space mcp install' shows how (^D ends it)"
            )
        }
        AgentServer.endWith([process, found ?? process])
        let space = AgentSpace(root: try agents.rootPath(), repository: Repository(of: folder))
        let server = AgentServer(
            for: Agent(process, in: space, folder: folder),
            input: STDIN_FILENO,
            output: STDOUT_FILENO
        )
        server.run()
        try Signals.check()
    }

    // MARK: Hooks

    /// No model writes as much in one call, and a client waits while it is parsed.
    private static let largestEvent = 4 << 20
    private static let largestList = 64 << 20

    private func hook() throws {
        try refuse(with: .refusedByHook, "the edit is refused") {
            let event: ToolUseEvent
            do {
                event = try ToolUseEvent(try Input.all(most: Self.largestEvent))
            } catch let error where error is AgentError || error is TupleCodingError {
                throw CommandFailure.badData("the event on standard input: \(error)")
            }
            guard !event.files.isEmpty else { return nil }
            let here = try agents.folder()
            return try EditGuard(root: try agents.rootPath()).refusal(of: event.files, from: event.folder ?? here)
        }
    }

    private func guardFiles() throws {
        guard null || !words.isEmpty else { throw CommandFailure.usage("guard needs a file, or -z") }
        guard !words.contains("") else { throw CommandFailure.usage("guard: an empty word names no file") }
        let folder = try agents.folder()
        var files = words
        if null {
            files += try Input.all(most: Self.largestList).split(separator: 0).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        try refuse(with: .nothing, "it counts as held") {
            try EditGuard(root: try agents.rootPath()).refusal(of: files, from: folder)
        }
    }

    /// Ends with a status and a message if another agent holds a file, and with 2 if that can't be found out.
    ///
    /// A client blocks the edit only if the status is 2.
    private func refuse(
        with status: ExitStatus,
        _ consequence: String,
        _ look: () throws -> EditGuard.Refusal?
    ) throws {
        let refusal: EditGuard.Refusal?
        do {
            refusal = try look()
        } catch let error as Terminated {
            throw error
        } catch let error as SpaceError where error.code == .cancelled {
            throw error
        } catch {
            let reason = (error as? CommandFailure).map { $0.message ?? "" } ?? "\(error)"
            throw CommandFailure(
                .refusedByHook,
                "can't find out who holds the file, so \(consequence), try again: \(reason)"
            )
        }
        if let refusal { throw CommandFailure(status, text(of: refusal)) }
    }

    private func text(of refusal: EditGuard.Refusal) -> String {
        let since = PeopleText.clock(refusal.since, now: Clock.realtimeMilliseconds())
        let why = refusal.why.isEmpty ? "" : ": \(refusal.why)"
        return PeopleText.escaped(
            "\(refusal.file) is held by \(refusal.holder) (pid \(refusal.pid), \(refusal.name)) since \(since)\(why); it gets "
                + "free by its let_go or its end; hold it with wait_s to wait in line, or do something else"
        )
    }

    // MARK: Settings of clients

    private func install() throws {
        let repository = Repository(of: try agents.folder())
        let clients = try words.map { word in
            guard let client = ClientSettings(rawValue: word) else {
                let known = ClientSettings.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure.usage("\(word.quotedForPeople) is no client; there are: \(known)")
            }
            return client
        }
        // A client may start its servers without the variables of this shell.
        let path = try agents.rootPath()
        let root = path == AgentRoot.usual ? nil : path
        guard write || remove else {
            for client in clients.isEmpty ? ClientSettings.allCases : clients {
                for (file, text) in client.shown(in: repository, root: root) {
                    try Output.print(text: "# \(client.rawValue): \(file)\n\(text)\n")
                }
            }
            return
        }
        let meant =
            !clients.isEmpty
            ? clients : ClientSettings.allCases.filter { remove || $0.isUsed(in: repository) }
        var hasFailed = false
        for client in meant {
            if remove, client == .preCommit, !repository.isGit { continue }
            try client.apply(to: repository, root: root, removing: remove) { file, result in
                switch result {
                case .success(let change):
                    if clients.isEmpty, change == .unchanged, remove { return }
                    try Output.print(line: PeopleText.escaped("\(file): \(change.rawValue)"))
                case .failure(let error):
                    hasFailed = true
                    Messages.print("space: \(error)")
                }
            }
        }
        if hasFailed { throw CommandFailure(.inputOutput, nil) }
    }
}
