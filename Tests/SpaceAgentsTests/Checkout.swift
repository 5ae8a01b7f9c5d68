import Glibc
import SharedSpace
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import Testing
import TupleSpace

@testable import SpaceAgents

/// A repository, a second worktree of it, and a root for its agents; in the end the namespaces must pass the full check.
///
/// The folders are what git makes of them, as far as the agents look at it, so the tests need no git.
final class Checkout {
    let runner: CommandRunner
    private let root: TemporaryRoot
    private let files: TemporaryRoot

    init() throws {
        root = try TemporaryRoot()
        files = try TemporaryRoot()
        runner = CommandRunner(root: root.path)
        for folder in [
            "main", "main/.git", "main/src", "main/.git/worktrees", "main/.git/worktrees/other", "other", "other/src",
        ] {
            mkdir(path(folder), 0o700)
        }
        try write("ref: refs/heads/main\n".utf8, toFile: path("main/.git/HEAD"))
        try write("gitdir: \(path("main/.git/worktrees/other"))\n".utf8, toFile: path("other/.git"))
        try write("ref: refs/heads/topic/x\n".utf8, toFile: path("main/.git/worktrees/other/HEAD"))
        try write("../..\n".utf8, toFile: path("main/.git/worktrees/other/commondir"))
        try write("\(path("other/.git"))\n".utf8, toFile: path("main/.git/worktrees/other/gitdir"))
    }

    func path(_ name: String) -> String { "\(files.path)/\(name)" }
    var main: String { path("main") }
    var other: String { path("other") }
    var namespace: String { Repository(of: main).namespace }

    /// The options with which all commands meet here.
    func options(_ folder: String? = nil) -> [String] { ["--root", root.path, "--dir", folder ?? main] }

    /// Runs `space agents`.
    @discardableResult
    func agents(_ words: String...) throws -> CommandResult {
        try runner.start("space", ["agents"] + options() + words).finish()
    }

    /// Runs `space mcp hook` for an edit, as a child of this test.
    func hook(editing file: String, from folder: String? = nil, tool: String = "Edit") throws -> CommandResult {
        let input = Record(literal: [("file_path", .string(file)), ("new_string", "x")])
        let event = Record(literal: [
            ("cwd", .string(folder ?? main)), ("tool_name", .string(tool)), ("tool_input", .object(input)),
            ("hook_event_name", "PreToolUse"),
        ])
        return try runner.start("space", ["mcp", "hook", "--root", root.path]).finish(input: event.json)
    }

    func namespaceHandle() throws -> Namespace { try root.space.existingNamespace(namespace, owning: false) }

    /// Stops a server while it does not hold the gate; a stopped holder is told, which is another subject.
    func suspend(_ server: pid_t) throws {
        try namespaceHandle().attempt("stop a server") { (core) throws(SpaceError) in
            try core.engine.underGate { () throws(SpaceError) in
                kill(server, SIGSTOP)
                while ProcessIdentity.halt(of: server) == nil { poll(nil, 0, 1) }
            }
        }
    }

    /// Checks every namespace that is left.
    func verify() throws {
        let check = try runner.dump("--check", "--all")
        #expect(check.ending == .exited(0), "\(check.output)\(check.errors)")
        #expect(check.output == "")
    }
}

/// Gives a test a checkout, and checks what is left of it.
func withCheckout(_ body: (Checkout) throws -> Void) throws {
    let checkout = try Checkout()
    try body(checkout)
    try checkout.verify()
}
