import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Root folders that are missing or hold other things, and namespaces that can't be opened.
@Suite("Roots, and the entries in them", .blocking, .timeLimit(.minutes(5)))
struct PlaceCommandTests {
    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test(
        "Commands that only look never create a root that was named",
        arguments: [
            "list", "list --long", "list --json", "reap", "reap --follow", "show n", "count n", "read n \"?\"",
            "watch n",
            "watch --namespaces", "take n \"?\"", "get n k", "claims n",
        ]
    )
    func lookingCreatesNothing(_ command: String) throws {
        try withRoot { (runner) throws in
            let missing = "\(runner.root)/typing-error"
            let words = command.split(separator: " ").map(String.init)
            let option = try runner.start("space", [words[0], "--root", missing] + words.dropFirst()).finish()
            #expect(option.status == 69, "\(option.errors)")
            #expect(option.errors.contains("typing-error"))
            let variable = try runner.start("space", words, environment: ["SHARED_SPACE_ROOT": missing]).finish()
            #expect(variable.status == 69, "\(variable.errors)")
            #expect(!exists(missing))
        }
    }

    @Test("Inspecting never creates a root that was named", arguments: ["n", "--all", "--check --all"])
    func inspectingCreatesNothing(_ command: String) throws {
        try withRoot { (runner) throws in
            let missing = "\(runner.root)/typing-error"
            let words = ["--root", missing] + command.split(separator: " ").map(String.init)
            let result = try runner.start("space-dump", words).finish()
            #expect(result.status == 69, "\(result.errors)")
            #expect(!exists(missing))
        }
    }

    @Test("A default root that doesn't exist is empty")
    func defaultRoot() throws {
        try withRoot { (runner) throws in
            // A user ID that no user of the machine has; without the variable.
            let path = "/dev/shm/shared-space-54321"
            for command in ["space list", "space list --json", "space reap", "space-dump --all"] {
                let script = "unset SHARED_SPACE_ROOT; exec \(command)"
                let result = try runner.start("/usr/bin/unshare", ["-U", "--map-user=54321", "/bin/sh", "-c", script])
                    .finish()
                #expect(result.ending == .exited(0), "\(command): \(result.errors)")
                #expect(result.output == "" && result.errors == "", "\(command)")
                #expect(!exists(path), "\(command)")
            }
        }
    }

    @Test("Files and links in a root are no namespaces")
    func files() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "n", "[1]")
            #expect(
                try runner.shell("cd \"$SHARED_SPACE_ROOT\" && echo x > file && ln -s n link && mkfifo pipe").status
                    == 0
            )
            #expect(try runner.space("list").output == "n\n")
            #expect(try runner.space("list", "--json").lines.count == 1)
            #expect(try runner.space("reap").errors == "")
            let dumped = try runner.dump("--check", "--all")
            #expect(dumped.ending == .exited(0), "\(dumped.errors)")
        }
    }

    @Test("A namespace without its control file is reported as damaged, and can be deleted")
    func damaged() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "whole", "[1]")
            try runner.space("write", "--persistent", "broken", "[1]")
            #expect(unlink("\(runner.root)/broken/control") == 0)
            for (words, status) in [
                (["list"], Int32(0)), (["list", "--long"], 74), (["list", "--json"], 74), (["reap"], 0),
            ] {
                let result = try runner.start("space", words).finish()
                #expect(result.status == status, "\(words)")
                #expect(result.errors.contains("\"broken\""), "\(words): \(result.errors)")
                #expect(result.errors.contains("--salvage") && result.errors.contains("delete"), "\(result.errors)")
                #expect(!result.errors.contains("whole\""), "\(words)")
                guard words[0] == "list" else { continue }
                let line = result.lines.first { $0.contains("broken") } ?? ""
                #expect(words.count == 1 ? line == "broken" : line.contains("damaged"), "\(words): \(line)")
                #expect(result.lines.contains { $0.contains("whole") })
            }
            #expect(try runner.space("delete", "broken").ending == .exited(0))
            let result = try runner.space("list")
            #expect(result.output == "whole\n" && result.errors == "")
        }
    }

    @Test("A signal that the caller has blocked still ends a command", arguments: [SIGTERM, SIGINT, SIGHUP])
    func blockedSignals(_ number: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "n", "[1]")
            let words = [
                "--block-signal", CommandRunner.path("space"), "take", "--wait", "--owner", "none", "n", "[2]",
            ]
            let taker = try runner.start("/usr/bin/env", words)
            let space = try Space(root: runner.root)
            let namespace = try space.namespace("n", owning: false)
            #expect(try eventually { try namespace.status().waiters.count == 1 })
            taker.signal(number)
            #expect(try taker.wait() == .signalled(number))
            try namespace.leave()
        }
    }

    @Test("A program that takes a command's place gets the caller's blocked signals")
    func blockedSignalsOfOthers() throws {
        try withRoot { (runner) throws in
            let words = [
                "--block-signal=TERM", CommandRunner.path("space"), "own", "n", "--", "/bin/cat", "/proc/self/status",
            ]
            let result = try runner.start("/usr/bin/env", words).finish()
            // proc(5), SigBlk: a hexadecimal mask, in which SIGTERM is bit 14.
            #expect(result.lines.contains("SigBlk:\t0000000000004000"), "\(result.output)")
        }
    }
}
