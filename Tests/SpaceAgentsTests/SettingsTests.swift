import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceAgents

@Suite("The settings of agents' clients", .blocking, .timeLimit(.minutes(5)))
struct SettingsTests {
    private func install(_ checkout: Checkout, _ words: String...) throws -> CommandResult {
        try checkout.runner.start("space", ["mcp", "install", "--dir", checkout.main] + words).finish()
    }

    private func text(_ checkout: Checkout, _ file: String) throws -> String {
        String(decoding: try bytes(ofFile: checkout.path("main/\(file)")), as: UTF8.self)
    }

    @Test("What is added is taken out again, and all else stays byte by byte")
    func addedAndRemoved() throws {
        try withCheckout { checkout in
            let others = #"{"mcpServers":{"other":{"command":"x","args":[]}} , "z": 1e3}"# + "\n"
            try write(others.utf8, toFile: checkout.path("main/.mcp.json"))
            for folder in [".claude", ".cursor", ".codex"] { mkdir(checkout.path("main/\(folder)"), 0o700) }
            let hooks = #"{ "hooks": { "PreToolUse": [ {"matcher":"Bash","hooks":[]} ], "Stop": [] } }"#
            try write(hooks.utf8, toFile: checkout.path("main/.claude/settings.json"))
            try write("model = \"x\"\n".utf8, toFile: checkout.path("main/.codex/config.toml"))
            let added = try install(checkout, "--write")
            #expect(added.ending == .exited(0) && added.lines.count == 4, "\(added)")
            let server = try Value(json: try text(checkout, ".mcp.json"))["mcpServers"]
            #expect(server?["space"]?["args"]?.texts == ["mcp"] && server?["other"] != nil)
            let hook = try Value(json: try text(checkout, ".claude/settings.json"))["hooks"]?["PreToolUse"]
            #expect(hook?.elements.count == 2 && hook?[1]?["hooks"]?[0]?["command"] == "space mcp hook")
            #expect(try text(checkout, ".codex/config.toml").contains("[mcp_servers.space]\n"))
            #expect(try Value(json: try text(checkout, ".cursor/mcp.json"))["mcpServers"]?["space"] != nil)
            // Twice is once.
            let again = try install(checkout, "--write")
            #expect(again.lines.allSatisfy { $0.hasSuffix("left as it is") }, "\(again.output)")
            #expect(try install(checkout, "--remove").ending == .exited(0))
            #expect(try text(checkout, ".mcp.json") == others)
            #expect(try text(checkout, ".claude/settings.json") == hooks)
        }
    }

    @Test("A file that is no plain JSON, or leads out of the repository, stays as it is")
    func refused() throws {
        try withCheckout { checkout in
            let comments = "{ // mine\n}\n"
            try write(comments.utf8, toFile: checkout.path("main/.mcp.json"))
            let result = try install(checkout, "claude", "--write")
            #expect(result.ending == .exited(74) && result.errors.contains(".mcp.json"), "\(result)")
            #expect(try text(checkout, ".mcp.json") == comments)
            try write("{}".utf8, toFile: checkout.path("outside"))
            unlink(checkout.path("main/.mcp.json"))
            symlink(checkout.path("outside"), checkout.path("main/.mcp.json"))
            #expect(try install(checkout, "claude", "--write").ending == .exited(74))
            #expect(try bytes(ofFile: checkout.path("outside")) == Array("{}".utf8))
        }
    }

    @Test("The git hook is written as a program, and another one is left alone")
    func preCommit() throws {
        try withCheckout { checkout in
            #expect(try install(checkout, "pre-commit", "--write").ending == .exited(0))
            let path = checkout.path("main/.git/hooks/pre-commit")
            #expect(access(path, X_OK) == 0)
            #expect(try install(checkout, "pre-commit", "--remove").ending == .exited(0))
            #expect(access(path, F_OK) != 0)
            try write("#!/bin/sh\n".utf8, toFile: path)
            #expect(try install(checkout, "pre-commit", "--write").ending == .exited(74))
            #expect(try install(checkout, "pre-commit", "--remove").output.contains("left as it is"))
        }
    }

    @Test("An entry of the user's that differs stays, is told, and does not hinder the others")
    func differing() throws {
        try withCheckout { checkout in
            let mine = #"{"mcpServers":{"space":{"command":"/opt/space","args":["mcp"],"env":{"A":"b"}}}}"#
            try write(mine.utf8, toFile: checkout.path("main/.mcp.json"))
            let result = try install(checkout, "claude", "cursor", "--write")
            #expect(result.ending == .exited(74) && result.errors.contains(".mcp.json"), "\(result)")
            #expect(result.errors.contains("differs") && result.lines.count == 2, "\(result)")
            #expect(try text(checkout, ".mcp.json") == mine)
            #expect(access(checkout.path("main/.cursor/mcp.json"), F_OK) == 0)
            #expect(try install(checkout, "--remove").ending == .exited(0))
            #expect(try text(checkout, ".mcp.json") == mine)
        }
    }

    @Test("What was made is gone after the removal: empty objects, and files")
    func nothingLeft() throws {
        try withCheckout { checkout in
            let clients = ["claude", "codex", "cursor", "gemini", "vscode", "zed"]
            let files = [
                ".mcp.json", ".claude/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json",
                ".vscode/mcp.json", ".zed/settings.json",
            ]
            func all(_ word: String) throws -> CommandResult {
                try checkout.runner.start("space", ["mcp", "install", "--dir", checkout.main] + clients + [word])
                    .finish()
            }
            #expect(try all("--write").ending == .exited(0))
            for file in files { #expect(access(checkout.path("main/\(file)"), F_OK) == 0, "\(file)") }
            #expect(try all("--remove").ending == .exited(0))
            for file in files { #expect(access(checkout.path("main/\(file)"), F_OK) != 0, "\(file)") }
            let other = #"{"a":1}"#
            try write(other.utf8, toFile: checkout.path("main/.mcp.json"))
            let model = "model = \"x\"\n"
            try write(model.utf8, toFile: checkout.path("main/.codex/config.toml"))
            #expect(try all("--write").ending == .exited(0))
            #expect(try all("--remove").ending == .exited(0))
            #expect(try Value(json: try text(checkout, ".mcp.json")) == Value(json: other))
            #expect(try text(checkout, ".codex/config.toml") == model)
        }
    }

    @Test("A root of one's own is written into the settings, and a change of it replaces it")
    func root() throws {
        try withCheckout { checkout in
            func install(_ state: String?, _ words: String...) throws -> CommandResult {
                let environment = state.map { ["XDG_STATE_HOME": $0] } ?? [:]
                let all = ["mcp", "install", "claude", "codex", "pre-commit", "--dir", checkout.main] + words
                return try checkout.runner.start("space", all, environment: environment).finish()
            }
            let state = checkout.path("st'ate")
            for folder in [state, checkout.path("other-state")] {
                let shown = try install(folder)
                #expect(shown.output.contains("\(folder)/shared-space") || folder == state, "\(shown)")
                _ = try install(folder, "--write")
                let server = try Value(json: try text(checkout, ".mcp.json"))["mcpServers"]?["space"]
                #expect(server?["args"]?.texts == ["mcp", "--root", "\(folder)/shared-space"], "\(server?.json ?? "")")
                let lines = try text(checkout, ".codex/config.toml")
                #expect(lines.contains("args = [\"mcp\", \"--root\", \"\(folder)/shared-space\"]\n"))
                #expect(lines.split(separator: "mcp_servers").count == 2, "\(lines)")
            }
            #expect(
                try text(checkout, ".git/hooks/pre-commit").hasSuffix(
                    "-z --root '\(checkout.path("other-state"))/shared-space'\n"
                )
            )
            // The hook of the first root was replaced.
            let hook = try Value(json: try text(checkout, ".claude/settings.json"))["hooks"]?["PreToolUse"]?[0]?[
                "hooks"
            ]?[0]
            guard case .string(let command)? = hook?["command"] else { throw TestFailure("no hook") }
            #expect(command.hasSuffix("/other-state/shared-space'"), "\(command)")
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("who")
            let event = #"{"cwd":"\#(checkout.main)","tool_name":"Edit","tool_input":{"file_path":"a"}}"#
            let result = try checkout.runner.shell("\(command); echo $?", input: event)
            #expect(result.lines == ["0"] && result.errors == "", "\(command): \(result)")
            #expect(try install(nil, "--remove").ending == .exited(0))
            for file in [".mcp.json", ".claude/settings.json", ".codex/config.toml", ".git/hooks/pre-commit"] {
                #expect(access(checkout.path("main/\(file)"), F_OK) != 0, "\(file)")
            }
        }
    }

    @Test("A hook without the root that it needs gets it, and what the user has changed around it stays")
    func hookWithoutRoot() throws {
        try withCheckout { checkout in
            mkdir(checkout.path("main/.claude"), 0o700)
            func hooks(_ command: String) -> String {
                #"{"hooks":{"PreToolUse":[{"matcher":"Write", "hooks":[ {"command":"\#(command)"},{"command":"x"} ]}]}}"#
            }
            let file = checkout.path("main/.claude/settings.json")
            try write(hooks("space mcp hook").utf8, toFile: file)
            let root = checkout.path("other-root")
            #expect(try install(checkout, "claude", "--write", "--root", root).ending == .exited(0))
            #expect(try text(checkout, ".claude/settings.json") == hooks("space mcp hook --root '\(root)'"))
            #expect(try install(checkout, "claude", "--write").ending == .exited(0))
            #expect(try text(checkout, ".claude/settings.json") == hooks("space mcp hook"))
            // One that the user has written is told of.
            for command in ["/opt/space mcp hook", "space mcp hook --root '/a'; x", "A=b space mcp hook"] {
                try write(hooks(command).utf8, toFile: file)
                let result = try install(checkout, "claude", "--write")
                #expect(result.ending == .exited(74) && result.errors.contains("differs"), "\(command): \(result)")
                #expect(try text(checkout, ".claude/settings.json") == hooks(command))
            }
        }
    }

    @Test("What is no regular file is refused, by its kind, and stays")
    func otherKinds() throws {
        try withCheckout { checkout in
            for folder in [".claude", ".git/hooks"] { mkdir(checkout.path("main/\(folder)"), 0o700) }
            let file = checkout.path("main/.mcp.json")
            func kind() -> UInt32 {
                var info = stat()
                return lstat(file, &info) == 0 ? info.st_mode & S_IFMT : 0
            }
            // The device is that of /dev/null, which is empty; it may be that only root can make one.
            for made in [S_IFIFO, S_IFDIR, S_IFCHR] {
                let result = made == S_IFDIR ? mkdir(file, 0o700) : mknod(file, made | 0o600, 0x103)
                guard result == 0 || made != S_IFCHR else { continue }
                let written = try install(checkout, "claude", "--write")
                #expect(written.ending == .exited(74) && written.errors.contains("no regular file"), "\(written)")
                #expect(kind() == made)
                let removed = try install(checkout, "claude", "--remove")
                #expect(removed.errors.contains("no regular file") && kind() == made, "\(removed)")
                remove(file)
            }
            mkfifo(checkout.path("main/.git/hooks/pre-commit"), 0o600)
            let hook = try install(checkout, "pre-commit", "--write")
            #expect(hook.ending == .exited(74) && hook.errors.contains("no regular file"), "\(hook)")
        }
    }

    @Test(
        "A server in TOML is recognised, in whatever form it is",
        arguments: [
            ("[mcp_servers]\nspace = { command = \"x\" }\n", true), ("mcp_servers.space.command = \"x\"\n", true),
            ("mcp_servers = { }\n", true), ("[ mcp_servers . 'space' ]\n", true),
            ("[mcp_servers.\"space\".env]\n", true),
            ("[mcp_servers]\n\"space\".command = 1\n", true), ("[[mcp_servers]]\n", true),
            ("[mcp_servers]\nother = { command = \"space\" }\n", false), ("[mcp_servers.spaces]\nspace = 1\n", false),
            ("space = 1\n[x]\nspace = 2\n", false), ("# mcp_servers = {}\n", false),
            ("[mcp_servers]\na = \"\"\"\n[x]\n\"\"\"\nspace = {}\n", true),
        ] as [(String, Bool)]
    )
    func toml(_ before: String, _ isThere: Bool) throws {
        try withCheckout { checkout in
            mkdir(checkout.path("main/.codex"), 0o700)
            try write(before.utf8, toFile: checkout.path("main/.codex/config.toml"))
            let result = try install(checkout, "codex", "--write")
            #expect(result.ending == .exited(isThere ? 74 : 0), "\(before): \(result)")
            #expect(try text(checkout, ".codex/config.toml").hasPrefix(before))
            #expect(try (text(checkout, ".codex/config.toml") == before) == isThere)
        }
    }

    @Test(
        "The git hook is written where git looks for hooks, and not outside of the repository",
        .enabled(if: access("/usr/bin/git", X_OK) == 0)
    )
    func hooksPath() throws {
        try withCheckout { checkout in
            let real = checkout.path("real")
            let variables = ["HOME": checkout.path("home"), "GIT_CONFIG_NOSYSTEM": "1"]
            func shell(_ script: String) throws -> CommandResult {
                try checkout.runner.shell("cd '\(real)' && { \(script); }", environment: variables)
            }
            mkdir(real, 0o700)
            #expect(try shell("git init -q . && git config core.hooksPath .githooks").ending == .exited(0))
            let written = try shell("space mcp install pre-commit --write")
            #expect(written.lines == ["\(real)/.githooks/pre-commit: written"], "\(written)")
            let shown = try shell("space mcp install pre-commit")
            #expect(shown.output.contains("# pre-commit: .githooks/pre-commit"), "\(shown)")
            // Git runs it: the commit of a file that an agent holds is refused.
            let agent = try ScriptedAgent(in: checkout, real)
            try agent.call("hold", #"{"names":["file:a"]}"#)
            let root = try #require(checkout.options().dropFirst().first)
            let commit = "git add . && git -c user.name=x -c user.email=x commit -qm x"
            let refused = try shell("space mcp install pre-commit --write --root \(root); echo x > a; \(commit)")
            #expect(refused.ending != .exited(0) && refused.errors.contains("a is held by"), "\(refused)")
            #expect(try shell("space mcp install pre-commit --remove").output.contains("removed"))
            #expect(access("\(real)/.githooks/pre-commit", F_OK) != 0)
            let outside = checkout.path("outside")
            let away = try shell("git config core.hooksPath '\(outside)'; space mcp install pre-commit --write")
            #expect(away.ending == .exited(74) && away.errors.contains("| space mcp guard -z"), "\(away)")
            #expect(away.errors.contains("\(outside)/pre-commit") && access(outside, F_OK) != 0, "\(away)")
        }
    }

    @Test("All clients are shown")
    func shown() throws {
        try withCheckout { checkout in
            let shown = try install(checkout)
            for client in ClientSettings.allCases { #expect(shown.output.contains("# \(client.rawValue): ")) }
            #expect(try install(checkout, "emacs").ending == .exited(64))
        }
    }

    @Test(
        "JSON is changed in one place only",
        arguments: [
            ("{}", ["a", "b"], #"{"a":{"b":1}}"#), (#"{"a":{}}"#, ["a", "b"], #"{"a":{"b":1}}"#),
            (#"{"a":{"b":2,"c":"}\""}}"#, ["a", "b"], #"{"a":{"b":1,"c":"}\""}}"#),
            (#"{"x":[{"y":"]"}],"z":-1.5e3}"#, ["a"], #"{"a":1,"x":[{"y":"]"}],"z":-1500.0}"#),
            ("  \n", ["a"], #"{"a":1}"#),
        ] as [(String, [String], String)]
    )
    func edited(_ before: String, _ path: [String], _ after: String) throws {
        var edit = try JSONEdit(Array(before.utf8))
        try edit.set(path, to: "1")
        #expect(try Value(foreignJSON: edit.text) == Value(json: after))
        let (first, second) = (edit.remove(path), edit.remove(path))
        #expect(first && !second && !edit.has(path))
        _ = try Value(foreignJSON: edit.text)
    }
}
