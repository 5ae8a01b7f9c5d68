import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

@testable import SpaceCommands

@Suite("list, show, delete, reap", .blocking, .timeLimit(.minutes(5)))
struct NamespaceCommandTests {
    /// Returns the keys of a JSON object, and their values.
    private func object(_ line: String) throws -> Record {
        guard case .object(let record) = try Value(json: line) else { throw TestFailure("no object: \(line)") }
        return record
    }

    @Test("An empty list is no error")
    func emptyList() throws {
        try withRoot { (runner) throws in
            for words in [["list"], ["list", "--json"], ["list", "--long"], ["reap"]] {
                let result = try runner.start("space", words).finish()
                #expect(result.ending == .exited(0), "space \(words)")
                #expect(result.output == "", "space \(words)")
                #expect(result.errors == "", "space \(words)")
            }
        }
    }

    @Test("Namespaces are listed as names, as text and as JSON")
    func lists() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "b", "[1]", "[2]")
            try runner.space("set", "b", "k", "1")
            try runner.space("write", "a c", "--persistent", "--guarded", "[1]")
            #expect(try runner.space("list").output == "a c\nb\n")
            let objects = try runner.space("list", "--json").lines.map { try object($0) }
            #expect(objects.count == 2)
            for object in objects {
                let names = ["name", "tuples", "cells", "owners", "bytes", "mode", "persistent", "queues", "sets"]
                #expect(Set(object.names) == Set(names))
            }
            #expect(objects.map { $0["name"] } == ["a c", "b"])
            #expect(objects.map { $0["tuples"] } == [1, 2])
            #expect(objects.map { $0["cells"] } == [0, 1])
            #expect(objects.map { $0["owners"] } == [1, 1])
            #expect(objects.map { $0["mode"] } == ["guarded", "fast"])
            #expect(objects.map { $0["persistent"] } == [true, false])
            #expect(try runner.space("list", "--long").lines.count == 3)
            #expect(try runner.space("list", "--long", "--json").ending == .exited(64))
        }
    }

    @Test("Control characters in names are escaped")
    func names() throws {
        try withRoot { (runner) throws in
            let name = "a\u{1B}[2Jb\nc"
            try runner.space("own", name)
            for words in [["list"], ["list", "--long"], ["show", name]] {
                let output = try runner.start("space", words).finish().output
                #expect(output.contains("a\\u001b[2Jb\\nc"), "space \(words)")
                #expect(!output.contains("\u{1B}"), "space \(words)")
            }
            #expect(try runner.space("list", "--json").lines.map { try object($0)["name"] } == [.string(name)])
            #expect(try runner.dump(name).output.contains("a\\u001b[2Jb\\nc"))
            #expect(try runner.space("disown", name).ending == .exited(0))
        }
    }

    @Test("show names the owners, the waiters and the claims")
    func show() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("show", "jobs").ending == .exited(69))
            try runner.space("write", "jobs", "-", input: (0..<50).map { "[\($0)]" }.joined(separator: "\n"))
            try runner.space("set", "jobs", "k", "1")
            let waiting = try runner.start("space", ["take", "jobs", "--wait", #"["job","?int"]"#])
            try runner.awaitWaiter("jobs")
            let shown = try object(try runner.space("show", "jobs", "--json").output)
            let keys = [
                "name", "mode", "sequence", "tuples", "cells", "bytes", "limit", "owners", "waiters", "watchers",
                "claims",
            ]
            for key in keys + ["shapes"] { #expect(shown[key] != nil, "\(key)") }
            #expect(shown["tuples"] == 50)
            #expect(shown["cells"] == 1)
            guard case .array(let owners)? = shown["owners"], case .object(let owner)? = owners.first else {
                throw TestFailure("no owners")
            }
            #expect(owners.count == 1)
            #expect(owner["pid"] == .int(Int(getpid())))
            #expect(owner["alive"] == true)
            #expect(owner["kind"] == "enrolled")
            guard case .array(let waiters)? = shown["waiters"], case .object(let waiter)? = waiters.first else {
                throw TestFailure("no waiters")
            }
            #expect(waiters.count == 1)
            #expect(waiter["pid"] == .int(Int(waiting.pid)))
            #expect(waiter["template"] == ["job", "?int"])
            let text = try runner.space("show", "jobs").output
            #expect(text.contains("50"))
            #expect(text.contains("\(waiting.pid)"))
            waiting.signal(SIGKILL)
            try waiting.wait()
        }
    }

    @Test("delete deletes a namespace, whichever process owns it")
    func delete() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--persistent", "[1]")
            let result = try runner.space("delete", "jobs")
            #expect(result.ending == .exited(0))
            #expect(result.output == "")
            #expect(try runner.space("list").output == "")
            #expect(try runner.space("delete", "jobs").ending == .exited(69))
        }
    }

    @Test("reap deletes namespaces without owners, and prints bare names")
    func reap() throws {
        try withRoot { (runner) throws in
            try runner.space("own", "kept")
            let orphans = try ["b", "a"].map { try runner.start("space", ["own", $0, "--", "/bin/cat"]) }
            for name in ["a", "b"] { #expect(try runner.space("wait", name).ending == .exited(0)) }
            for orphan in orphans {
                orphan.signal(SIGKILL)
                try orphan.wait()
            }
            #expect(try runner.space("reap").output == "a\nb\n")
            #expect(try runner.space("list").output == "kept\n")
        }
    }

    @Test("reap --follow deletes as owners exit, until a signal", arguments: [SIGTERM, SIGINT, SIGHUP, SIGALRM])
    func follow(_ number: Int32) throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("space", ["own", "jobs", "--", "/bin/cat"])
            #expect(try runner.space("wait", "jobs").ending == .exited(0))
            let reaper = try runner.start("space", ["reap", "--follow"])
            let killed = try runner.start("space", ["own", "other", "--", "/bin/cat"])
            #expect(try runner.space("wait", "other").ending == .exited(0))
            owner.closeInput()
            #expect(try reaper.readLine() == "jobs")
            killed.signal(SIGKILL)
            #expect(try reaper.readLine() == "other")
            reaper.signal(number)
            let result = try reaper.finish()
            #expect(result.ending == .signalled(number))
            #expect(result.errors == "")
        }
    }

    /// The names fill the pipe, which the test does not read before the reaper has ended; what was deleted before the signal
    /// is named.
    @Test("reap --follow ends by a signal although its reader has stopped")
    func followUnread() throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("/bin/cat", [])
            let padding = String(repeating: "n", count: 180)
            let names = Set((10..<50).map { "\(padding)\($0)" })
            for name in names {
                try runner.space("write", name, "[1]", environment: ["SHARED_SPACE_OWNER": "\(owner.pid)"])
            }
            let reaper = try runner.start("space", ["reap", "--follow"])
            try reaper.narrowOutput()
            owner.signal(SIGKILL)
            try owner.wait()
            #expect(try eventually { reaper.unreadBytes > 4096 - 184 })
            reaper.signal(SIGTERM)
            // It ends while its names are unread.
            #expect(try reaper.wait() == .signalled(SIGTERM))
            let result = try reaper.finish()
            let folder = try OwnedDescriptor.directory(FilePath(runner.root))
            let left = names.intersection(try Directory.list(folder.raw))
            // The name that found no room is the only one that may be deleted and not printed.
            let printed = Set(result.lines)
            #expect(printed.isDisjoint(with: left))
            #expect(names.subtracting(left).subtracting(printed).count <= 1)
        }
    }

    /// The pipe is full when the namespace is deleted, so its name is not printed yet.
    ///
    /// The process is stopped then, and meets the signal before it can print.
    @Test("reap --follow prints the name of what it deleted before a signal, if the reader has room")
    func followSignalledBeforePrinting() throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("/bin/cat", [])
            try runner.space("write", "jobs", "[1]", environment: ["SHARED_SPACE_OWNER": "\(owner.pid)"])
            owner.signal(SIGKILL)
            try owner.wait()
            let reaper = try runner.start(
                "/bin/sh",
                ["-c", "read go; yes | head -c 4096; exec space reap --follow"]
            )
            try reaper.narrowOutput()
            try reaper.send("go\n")
            let folder = try OwnedDescriptor.directory(FilePath(runner.root))
            #expect(try eventually { try !Directory.list(folder.raw).contains("jobs") })
            try reaper.stop()
            // One read empties the pipe.
            #expect(try reaper.readLine() == "y")
            #expect(reaper.unreadBytes == 0)
            reaper.signal(SIGTERM)
            reaper.signal(SIGCONT)
            let result = try reaper.finish()
            #expect(result.ending == .signalled(SIGTERM))
            #expect(result.lines.last == "jobs")
        }
    }

    @Test("reap --follow ends when the reader of its names is gone")
    func followBrokenPipe() throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("space", ["own", "jobs", "--", "/bin/cat"])
            #expect(try runner.space("wait", "jobs").ending == .exited(0))
            let reaper = try runner.start("space", ["reap", "--follow"])
            reaper.closeOutput()
            owner.closeInput()
            #expect(try reaper.finish().ending == .exited(74))
        }
    }

    @Test("A namespace of another format is listed, and the way out names it")
    func otherFormat() throws {
        try withRoot { (runner) throws in
            let name = "old one"
            try runner.space("write", "--persistent", name, "[1]")
            // Bytes 8 to 11 are the version of the format; a header's hash does not count before the version is known.
            let control = "\"$SHARED_SPACE_ROOT/old%20one/control\""
            let change = "printf '\\001\\000\\000\\000' | dd of=\(control) bs=1 seek=8 conv=notrunc status=none"
            #expect(try runner.shell("cp \(control) \"$SHARED_SPACE_ROOT.saved\" && \(change)").status == 0)
            let long = try runner.space("list", "--long")
            #expect(long.ending == .exited(69), "\(long.errors)")
            #expect(long.lines.contains { $0.hasPrefix("old one ") && $0.hasSuffix("unusable") }, "\(long.output)")
            let json = try runner.space("list", "--json")
            #expect(json.output.contains("\"name\":\"old one\",\"unusable\":\"it has the format version 1;"))
            #expect(long.errors.contains("space-dump 'old one' --format json > FILE and space delete 'old one'; "))
            #expect(long.errors.contains("space load 'old one' < FILE"))
            #expect(try runner.shell("mv \"$SHARED_SPACE_ROOT.saved\" \(control)").status == 0)
            try runner.space("delete", name)
        }
    }

    @Test("A namespace that can't be used is 69 or 77, and the others are listed all the same")
    func unusable() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "good", "[1]")
            try runner.space("write", "bad", "[1]")
            // A format version that no release has had.
            let control = "\"$SHARED_SPACE_ROOT/bad/control\""
            #expect(try runner.shell("cp \(control) \"$SHARED_SPACE_ROOT.saved\"; : > \(control)").status == 0)
            #expect(try runner.space("read", "bad", "[1]").ending != .exited(0))
            let list = try runner.space("list", "--json")
            #expect(list.lines.count == 2)
            #expect(list.lines.first { $0.contains("bad") }?.contains("\"damaged\"") == true)
            #expect(list.ending != .exited(0))
            #expect(list.errors.contains("bad"))
            #expect(try runner.space("list").output == "bad\ngood\n")
            let long = try runner.space("list", "--long")
            #expect(long.lines.contains { $0.hasPrefix("bad ") && $0.hasSuffix("damaged") })
            let check = try runner.dump("--check", "bad")
            #expect(check.ending == .exited(1))
            #expect(check.output.hasPrefix("bad: "))
            #expect(try runner.dump("--check", "--all").ending == .exited(1))
            #expect(try runner.space("delete", "bad").ending == .exited(0))
            try runner.shell("rm \"$SHARED_SPACE_ROOT.saved\"")
            try runner.shell("chmod 777 \"$SHARED_SPACE_ROOT/good\"")
            #expect(try runner.space("count", "good").ending == .exited(77))
            try runner.shell("chmod 700 \"$SHARED_SPACE_ROOT/good\"")
        }
    }

    @Test("Every error code of the library has its status")
    func statuses() {
        let expected: [(SpaceError.Code, Int32)] = [
            (.invalidName, 65), (.invalidArgument, 64), (.badData, 65), (.tooLarge, 65), (.namespaceNotFound, 69),
            (.namespaceDeleted, 69), (.noOwner, 64), (.incompatible, 69), (.damaged, 74), (.permissionDenied, 77),
            (.storageFull, 74), (.limitReached, 74), (.readersExhausted, 74), (.descriptorsExhausted, 74),
            (.transactionTooLarge, 65), (.holderStopped, 75), (.holderBusy, 75), (.forked, 70), (.closed, 70),
            (.cancelled, 1), (.noSuchProcess, 64), (.claimLost, 75), (.inputOutput, 74),
        ]
        for (code, status) in expected { #expect(ExitStatus(code).rawValue == status, "\(code)") }
    }
}
