import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceAgents

@Suite("The settings of agents' clients", .blocking, .timeLimit(.minutes(5)))
struct SettingsTests {
    private func install(_ checkout: Checkout, _ words: String...) throws -> CommandResult {
        try checkout.runner.start("space", ["mcp", "install"] + checkout.options() + words).finish()
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
