import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("Edits of what another agent holds", .blocking, .timeLimit(.minutes(5)))
struct HookTests {
    @Test("The hook refuses an edit by where the file is, from any folder, worktree and link")
    func refuses() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try write("x".utf8, toFile: checkout.path("main/src/a.swift"))
            symlink(checkout.path("main/src"), checkout.path("main/link"))
            symlink("a.swift", checkout.path("main/src/alias"))
            try agent.call("hold", #"{"names":["file:src/**"],"why":"refactor of X"}"#)
            for (file, folder) in [
                (checkout.path("main/src/a.swift"), checkout.other), ("src/new/deep.swift", checkout.main),
                ("a.swift", checkout.path("main/src")), ("../src/./a.swift", checkout.path("main/src")),
                (checkout.path("main/link/a.swift"), "/"), (checkout.path("main/src/alias"), "/"),
                (checkout.path("other/src/a.swift"), checkout.main), ("src/a.swift", checkout.other),
            ] {
                let result = try checkout.hook(editing: file, from: folder)
                #expect(result.ending == .exited(2), "\(file) from \(folder): \(result)")
                #expect(
                    result.errors.contains("(pid \(agent.pid), file:src/**)") && result.errors.contains("refactor of X")
                )
                #expect(result.output == "")
            }
            for (file, folder) in [
                (checkout.path("main/srcs"), checkout.main), ("/etc/hosts", checkout.main),
                (checkout.path("main/src/../README.md"), "/"), (checkout.path("elsewhere/src/a.swift"), "/"),
            ] {
                let result = try checkout.hook(editing: file, from: folder)
                #expect(result.ending == .exited(0) && result.errors == "", "\(file) from \(folder): \(result)")
            }
            // To look is not to edit, and a shell's command is out of reach.
            #expect(try checkout.hook(editing: "src/a.swift", tool: "Read").ending == .exited(0))
            try agent.call("let_go")
            #expect(try checkout.hook(editing: "src/a.swift").ending == .exited(0))
        }
    }

    @Test("An agent's own edits pass, and so does a hold of a dead one")
    func own() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            // This test's process, of which the hook is a child, holds for itself.
            let own = try checkout.runner.start("space", ["mcp", "--owner", "\(getpid())"] + checkout.options())
            try own.send(
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold","arguments":{"names":["file:mine"]}}}"#
                    + "\n"
            )
            #expect(try own.readLine() != nil)
            #expect(try checkout.hook(editing: "mine").ending == .exited(0))
            try agent.call("hold", #"{"names":["file:theirs"]}"#)
            #expect(try checkout.hook(editing: "theirs").ending == .exited(2))
            try agent.killAlone()
            #expect(try checkout.hook(editing: "theirs").ending == .exited(0))
            try own.finish()
            // What this test holds must not outlive it.
            _ = try checkout.namespaceHandle().takeAll(matching: HoldRow.all)
        }
    }

    @Test("The hook understands patches and bad input, and makes no namespace")
    func events() throws {
        try withCheckout { checkout in
            func hook(_ input: String) throws -> CommandResult {
                try checkout.runner.start("space", ["mcp", "hook"] + checkout.options()).finish(input: input)
            }
            #expect(try hook(#"{"tool_name":"Edit","tool_input":{"file_path":"a"}}"#).ending == .exited(0))
            #expect(try checkout.runner.space("list").output == "")
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:a b"]}"#)
            let patch =
                #"{"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Update File: a b\n@@\n"}}"#
            #expect(try hook(patch).ending == .exited(2))
            // A lone surrogate, a name twice and a large number are no way around it.
            let odd =
                #"{"tool_name":"Edit","n":99999999999999999999,"tool_input":{"file_path":"x","new_string":"\ud800","file_path":"a b"}}"#
            #expect(try hook(odd).ending == .exited(2))
            for input in [
                "", "{", "\u{0}", "[]", #"{"tool_input":7}"#, #"{"tool_name":"Bash","tool_input":{"command":"rm a"}}"#,
            ] {
                let result = try hook(input)
                #expect([.exited(0), .exited(65)].contains(result.ending), "\(input): \(result)")
            }
        }
    }

    @Test("The guard of commits names the file, with control characters escaped")
    func guardOfCommits() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:docs/**"],"why":"\u001b[2Jx"}"#)
            func check(_ files: String) throws -> CommandResult {
                try checkout.runner.start("space", ["mcp", "guard", "-z"] + checkout.options()).finish(input: files)
            }
            let refused = try check("src/a\u{0}docs/\u{1b}[2J\u{0}")
            #expect(refused.ending == .exited(1), "\(refused)")
            #expect(refused.errors.contains("docs/") && !refused.errors.contains("\u{1b}"), "\(refused.errors)")
            #expect(try check("src/a\u{0}").ending == .exited(0))
            #expect(try check("").ending == .exited(0))
        }
    }

    @Test("Whoever is no descendant of an agent is none")
    func nested() throws {
        try withCheckout { checkout in
            let outer = try ScriptedAgent(in: checkout)
            try outer.call("hold", #"{"names":["file:a"]}"#)
            let event = #"{"cwd":"\#(checkout.main)","tool_name":"Edit","tool_input":{"file_path":"a"}}"#
            let root = try #require(checkout.options().dropFirst().first)
            let child = try checkout.runner.shell("printf '%s' '\(event)' | space mcp hook --root \(root); echo $?")
            #expect(child.lines == ["2"], "\(child)")
        }
    }
}
