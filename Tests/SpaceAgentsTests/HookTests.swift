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
                // What names no tool and no file can't be judged.
                let isShell = input.contains("Bash")
                #expect(result.ending == .exited(isShell ? 0 : 2), "\(input): \(result)")
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

    @Test("What can't be judged is refused with 2: a busy namespace, an event too deep, an editor that names no file")
    func closed() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:src/**"]}"#)
            // The hook runs while this process has the gate.
            let namespace = try checkout.namespaceHandle()
            let busy = try namespace.transaction { _ in try checkout.hook(editing: "src/a") }
            #expect(busy.ending == .exited(2) && busy.errors.contains("try again"), "\(busy)")
            #expect(busy.errors.contains("process \(getpid())"), "\(busy.errors)")
            func hook(_ input: String) throws -> CommandResult {
                try checkout.runner.start("space", ["mcp", "hook"] + checkout.options()).finish(input: input)
            }
            let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
            let name = checkout.path("main/src/a")
            for input in [
                #"{"tool_name":"Edit","tool_input":{"file_path":"\#(name)","x":\#(deep)}}"#,
                #"{"tool_name":"Edit","tool_input":{}}"#, #"{"tool_name":"Write","tool_input":{"file_path":["a"]}}"#,
                #"{"tool_name":"Edit","tool_input":{"file_path":"a\u0000b"}}"#,
                #"{"tool_name":"Edit","tool_input":{"file_path":"\#(String(repeating: "a/", count: 3000))"}}"#,
            ] {
                let result = try hook(input)
                #expect(result.ending == .exited(2) && result.errors.contains("try again"), "\(input): \(result)")
            }
            let nowhere = try checkout.runner.start("space", ["mcp", "hook", "--dir", checkout.path("typo")])
                .finish(input: #"{"tool_name":"Edit","tool_input":{"file_path":"a"}}"#)
            #expect(nowhere.ending == .exited(2), "\(nowhere)")
        }
    }

    @Test("An event larger than what an agent can have written is refused, and is not read to its end")
    func large() throws {
        try withCheckout { checkout in
            for (size, status) in [(3 << 20, Int32(0)), (5 << 20, 2)] {
                let text = String(repeating: "a", count: size)
                let command = try checkout.runner.start("space", ["mcp", "hook"] + checkout.options())
                let event = #"{"tool_name":"Write","tool_input":{"file_path":"a","content":"\#(text)"}}"#
                let result = try command.finish(input: event)
                #expect(result.ending == .exited(status), "\(result)")
                #expect(result.errors.contains("longer than") == (status == 2), "\(result.errors)")
            }
            // The rest of it stays where it is.
            let endless = try checkout.runner.start("space", ["mcp", "hook"] + checkout.options())
            try endless.send(String(repeating: " ", count: 4 << 20 + 1))
            #expect(try endless.wait() == .exited(2))
        }
    }

    @Test("Tools that look are known by their whole names, and of a server's by the last part")
    func tools() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:src/**"]}"#)
            for tool in [
                "search_replace", "list_edit", "view_and_edit", "readwrite", "mcp__read__write_file", "mcp__x__",
            ] {
                #expect(try checkout.hook(editing: "src/a", tool: tool).ending == .exited(2), "\(tool)")
            }
            for tool in ["Read", "mcp__fs__read_file", "mcp__my_fs__list_directory", "NotebookRead", "grep_search"] {
                #expect(try checkout.hook(editing: "src/a", tool: tool).ending == .exited(0), "\(tool)")
            }
        }
    }

    @Test("A file is found by each name of its member, and in a patch among the words of a command")
    func members() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:a"]}"#)
            for input in [
                #"{"filePath":"a"}"#, #"{"absolutePath":"a"}"#, #"{"edits":[{"path":"b"},{"path":"a"}]}"#,
                #"{"command":["apply_patch","*** Begin Patch\n*** Update File: a\n"]}"#,
            ] {
                let command = try checkout.runner.start("space", ["mcp", "hook"] + checkout.options())
                let result = try command.finish(input: #"{"tool_name":"edit","tool_input":\#(input)}"#)
                #expect(result.ending == .exited(2) && result.errors.contains("a is held by"), "\(input): \(result)")
            }
        }
    }

    @Test("Outside of git a file is looked for in the agents' folders above it")
    func plainFolders() throws {
        try withCheckout { checkout in
            let plain = checkout.path("plain")
            for folder in ["plain", "plain/sub"] { mkdir(checkout.path(folder), 0o700) }
            let agent = try ScriptedAgent(in: checkout, plain)
            try agent.call("hold", #"{"names":["file:sub/x"]}"#)
            for folder in [plain, "\(plain)/sub", "/"] {
                #expect(try checkout.hook(editing: "\(plain)/sub/x", from: folder).ending == .exited(2), "\(folder)")
                #expect(try checkout.hook(editing: "\(plain)/sub/y", from: folder).ending == .exited(0), "\(folder)")
            }
            #expect(try checkout.hook(editing: "x", from: "\(plain)/sub").ending == .exited(2))
            // A repository in the folder is a part of it.
            mkdir(checkout.path("plain/sub/.git"), 0o700)
            #expect(try checkout.hook(editing: "x", from: "\(plain)/sub").ending == .exited(2))
        }
    }

    @Test("The guard needs files, and a folder that exists")
    func guardsWords() throws {
        try withCheckout { checkout in
            func check(_ words: String...) throws -> CommandResult {
                try checkout.runner.start("space", ["mcp", "guard"] + words).finish()
            }
            #expect(try check().ending == .exited(64))
            #expect(try check("").ending == .exited(64))
            let root = try #require(checkout.options().dropFirst().first)
            let typo = try check("--root", root, "--dir", checkout.path("typo"), "f")
            #expect(typo.ending == .exited(64) && typo.errors.contains("is no folder"), "\(typo)")
            #expect(try check("--root", root, "--dir", checkout.main, "f").ending == .exited(0))
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("who")
            let namespace = try checkout.namespaceHandle()
            let busy = try namespace.transaction { _ in try check("--root", root, "--dir", checkout.main, "f") }
            #expect(busy.ending == .exited(2) && busy.errors.contains("try again"), "\(busy)")
        }
    }

    @Test("Paths of a thousand folders and commits of many files are looked up")
    func long() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["file:last/**"]}"#)
            let deep = String(repeating: "a/", count: 1000)
            #expect(try checkout.hook(editing: deep + "b").ending == .exited(0))
            #expect(
                try checkout.hook(editing: deep + String(repeating: "../", count: 1000) + "last/x").ending == .exited(2)
            )
            let files = (0..<30_000).map { "src/\($0 % 100)/\($0)\u{0}" }.joined()
            let command = try checkout.runner.start("space", ["mcp", "guard", "-z"] + checkout.options())
            #expect(try command.finish(input: files + "last/x\u{0}").ending == .exited(1))
        }
    }
}
