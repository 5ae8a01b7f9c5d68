import CommandWords
import Glibc
import SharedSpace
import SpaceAgents
import SpaceSystem

/// The command `space mcp [ACTION]`.
struct MCPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Let coding agents share tasks, files and ports.",
        usage: """
            space mcp [<options>]
            space mcp hook [<options>]
            space mcp guard [<options>] [<file> ...]
            """,
        discussion: """
            Without an action it is a server of the Model Context Protocol on standard input and output, which a client starts: \
            Claude Code, Codex, Cursor, Gemini, VS Code, Zed. It has seven tools: task_add, task_claim, task_end, hold, let_go, \
            say, who. All agents on one repository, in whatever worktree, share its tasks and holds. What an agent has belongs \
            to its process, the client's or --owner's, and goes to others when that ends, and two hours after its last call; the \
            server itself may be ended and started again. Tasks outlive a reboot.

            hook reads a client's event before a tool is used (PreToolUse) from standard input, and ends with 2 and a message \
            on standard error if the tool would change a file that another agent holds. It looks for the file where it is, also \
            in another worktree or through a link. What a shell command changes it can't know.

            guard does so for files: those named, or with -0 those on standard input, each followed by a NUL; status 1 if \
            another agent holds one. A git hook (pre-commit) is: git diff --cached --name-only --no-renames -z | space mcp guard -0

            'space agents' shows who does what.

            EXAMPLES:
              space mcp --owner $$
              space mcp guard src/main.c && vi src/main.c
            """
    )

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case hook, guardFiles = "guard"
    }

    @OptionGroup var agents: AgentOptions

    @Option(
        help: ArgumentHelp("The process of the agent (default: the client that has started this).", valueName: "pid")
    )
    var owner: String?

    @Flag(name: .customShort("0"), help: "For guard: read the files from standard input, each followed by a NUL.")
    var null = false

    @Argument(help: ArgumentHelp("hook or guard; without one it serves.", valueName: "action"))
    var action: Action?

    @Argument(help: ArgumentHelp("For guard: a file.", valueName: "file"))
    var words: [String] = []

    func validate() throws {
        if null, action != .guardFiles { throw ValidationError("-0 is for guard") }
        if owner != nil, action != nil { throw ValidationError("--owner is for the server") }
        if !words.isEmpty, action == .hook { throw ValidationError("hook takes no words") }
    }

    func run() throws {
        switch action {
        case nil: try serve()
        case .hook: try hook()
        case .guardFiles: try guardFiles()
        }
    }

    // MARK: The server

    private func serve() throws {
        let found = AgentProcess.found()
        var process = found
        if let owner {
            let pid = try OwnerOptions.pid(owner, from: "--owner")
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

    private static let largestEvent = 64 << 20

    private func hook() throws {
        let event: ToolUseEvent
        do {
            event = try ToolUseEvent(try Input.all(most: Self.largestEvent))
        } catch {
            throw CommandFailure.badData("the event on standard input: \(error)")
        }
        guard !event.files.isEmpty else { return }
        let folder = try event.folder ?? agents.folder()
        if let refusal = try EditGuard(root: try agents.rootPath()).refusal(of: event.files, from: folder) {
            throw CommandFailure(.refusedByHook, text(of: refusal))
        }
    }

    private func guardFiles() throws {
        var files = words
        if null {
            files += try Input.all(most: Self.largestEvent).split(separator: 0).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        if let refusal = try EditGuard(root: try agents.rootPath()).refusal(of: files, from: try agents.folder()) {
            throw CommandFailure(.nothing, text(of: refusal))
        }
    }

    private func text(of refusal: EditGuard.Refusal) -> String {
        let since = PeopleText.clock(refusal.since, now: Clock.realtimeMilliseconds())
        let why = refusal.why.isEmpty ? "" : ": \(refusal.why)"
        return PeopleText.escaped(
            "\(refusal.file) is held by \(refusal.holder) (pid \(refusal.pid), \(refusal.name)) since \(since)\(why); it gets "
                + "free by its let_go or its end; hold it with wait_s to wait in line, or do something else"
        )
    }
}
