import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("Names that agents hold", .blocking, .timeLimit(.minutes(5)))
struct HoldNameTests {
    @Test("A folder that encloses the agents' folder is refused, by whatever path, and what is beside it is not")
    func enclosing() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let above = ResolvedPath.parent(of: checkout.main)
            for name in [
                "file:..", "file:\(above)", "file:/", "file:/**", "file:../**", "file:../*/src", "file:\(above)/m*",
            ] {
                let answer = try agent.call("hold", #"{"names":["\#(name)"]}"#)
                guard case .string(let error)? = answer["error"] else {
                    Issue.record("\(name): \(answer)")
                    continue
                }
                #expect(error.contains("encloses") && error.contains(checkout.main), "\(error)")
            }
            for (name, stored) in [
                ("file:../beside", "file:\(above)/beside"), ("file:../n*", "file:\(above)/n*"), ("file:.", "file:**"),
                ("file:\(checkout.main)/src", "file:src"), ("file:\(checkout.other)/src", "file:src"),
            ] {
                #expect(try agent.call("hold", #"{"names":["\#(name)"]}"#)["held"]?.texts == [stored])
            }
        }
    }

    @Test("A folder that encloses another worktree only is refused too, and that of a removed one is not")
    func enclosingOther() throws {
        try withCheckout { checkout in
            for folder in ["deep", "deep/third", "main/.git/worktrees/third", "main/.git/worktrees/gone"] {
                mkdir(checkout.path(folder), 0o700)
            }
            let own = checkout.path("main/.git/worktrees/third")
            try write("gitdir: \(own)\n".utf8, toFile: checkout.path("deep/third/.git"))
            try write("../..\n".utf8, toFile: "\(own)/commondir")
            // Newer versions of git write the path from there.
            try write("../../../../deep/third/.git\n".utf8, toFile: "\(own)/gitdir")
            let gone = checkout.path("removed/worktree/.git")
            try write("\(gone)\n".utf8, toFile: checkout.path("main/.git/worktrees/gone/gitdir"))
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout, checkout.other)
            for (agent, name, enclosed) in [
                (first, "file:../deep", "deep/third"), (first, "file:../deep/t*", "deep/third"),
                (first, "file:../oth??", "other"), (second, "file:../ma*/src", "main"),
            ] {
                let answer = try agent.call("hold", #"{"names":["\#(name)"]}"#)
                guard case .string(let error)? = answer["error"] else {
                    Issue.record("\(name): \(answer)")
                    continue
                }
                #expect(error.contains("encloses") && error.contains(checkout.path(enclosed)), "\(error)")
            }
            #expect(try first.call("hold", #"{"names":["file:../removed","file:../deep/x"]}"#)["held"] != nil)
            #expect(try second.call("hold", #"{"names":["file:../deep/third/src"]}"#)["held"]?.texts == ["file:src"])
        }
    }

    @Test("A hold by an absolute path is found by the guard in the worktree that it encloses")
    func absolute() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            mkdir(checkout.path("deep"), 0o700)
            mkdir(checkout.path("deep/third"), 0o700)
            try write(
                "gitdir: \(checkout.path("main/.git/worktrees/other"))\n".utf8,
                toFile: checkout.path("deep/third/.git")
            )
            try agent.call("hold", #"{"names":["file:../deep"]}"#)
            #expect(try checkout.hook(editing: checkout.path("deep/third/a")).ending == .exited(2))
            #expect(try checkout.hook(editing: "a", from: checkout.path("deep/third")).ending == .exited(2))
            #expect(try checkout.hook(editing: checkout.path("main/a")).ending == .exited(0))
        }
    }

    @Test("A link to a name with wildcards in it is refused, and the name itself can be held")
    func wildcardsInTargets() throws {
        try withCheckout { checkout in
            for folder in ["we*ird", "weXird"] { mkdir(checkout.path("main/\(folder)"), 0o700) }
            symlink("we*ird", checkout.path("main/wl"))
            let agent = try ScriptedAgent(in: checkout)
            let answer = try agent.call("hold", #"{"names":["file:wl/x"]}"#)
            guard case .string(let error)? = answer["error"] else { throw TestFailure("\(answer)") }
            #expect(error.contains("leads to we*ird"), "\(error)")
            try agent.call("hold", #"{"names":["file:we?ird/x"]}"#)
            #expect(try checkout.hook(editing: "wl/x").ending == .exited(2))
        }
    }

    @Test("A word that looks like a path has a hint, and other words have none")
    func hints() throws {
        try withCheckout { checkout in
            try write("x".utf8, toFile: checkout.path("main/README.md"))
            let agent = try ScriptedAgent(in: checkout)
            for (word, meant) in [
                ("src/a.c", "file:src/a.c"), ("File:x", "file:x"), (" file: x", "file:x"), ("PORT:30", "port:30"),
                ("README.md", "file:README.md"),
            ] {
                let answer = try agent.call("hold", #"{"names":["\#(word)"]}"#)
                guard case .string(let hint)? = answer["hint"] else { throw TestFailure("\(word): \(answer)") }
                #expect(hint.hasSuffix("say \(meant)") && answer["held"]?.texts == [word], "\(answer)")
            }
            for word in ["gpu", "branch:topic/x", "https://x/y", "file:src/a.c", "src"] {
                let answer = try agent.call("hold", #"{"names":["\#(word)"]}"#)
                #expect(answer["hint"] == nil && answer["held"] != nil, "\(answer)")
            }
        }
    }

    @Test("A thread of the kernel is no agent")
    func kernelThread() throws {
        try withCheckout { checkout in
            #expect(!AgentProcess.isKernelThread(getpid()) && !AgentProcess.isKernelThread(1))
            guard AgentProcess.isKernelThread(2) else { return }
            for (owner, reason) in [("2", "thread of the kernel"), ("", "no process id")] {
                let result = try checkout.runner.start("space", ["mcp", "--owner", owner] + checkout.options()).finish()
                #expect(result.ending == .exited(64) && result.errors.contains(reason), "\(result)")
            }
        }
    }
}
