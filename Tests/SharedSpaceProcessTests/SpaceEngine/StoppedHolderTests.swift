import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes that stop or die while they hold a lock: no other process waits for them without a bound, and errors name
/// the process that stands in the way.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct StoppedHolderTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test(arguments: [
        CrashPoint.lockUnnamed, .gateTaken, .begun, .beforeCommit, .afterCommit, .granted, .lockForgotten, .nearFilled,
        .nearWritten,
    ])
    func aStoppedHolderOfTheGateIsNamed(_ point: CrashPoint) throws {
        let namespace = try SpaceTest.namespace("n", timeout: .milliseconds(300))
        let isNear = point == .nearFilled || point == .nearWritten
        if !isNear { namespace.useNearEnd(of: 0) }
        try namespace.write("kept", 1)
        let holder = try Agent(root, "n")
        try holder.run("arm stop \(point)")
        try holder.send("write [\"half\", 1]")
        try holder.waitUntilStopped()

        let refused = try refusal { try namespace.write("other", 1) }
        #expect(refused.code == .holderStopped)
        #expect(refused.holder == holder.pid)
        #expect("\(refused)".contains("\(holder.pid)"))
        #expect(try refusal { _ = try namespace.takeIfExists("kept", any(Int.self)) }.code == .holderStopped)
        // A new opener is told too, and leaves no session behind.
        let opener = try Agent()
        #expect(try opener.ask("open \(root.path) n timeout=300").hasPrefix("error holderStopped \(holder.pid) "))
        // Reading needs no lock.
        #expect(try namespace.readIfExists("kept", any(Int.self))?.1 == 1)
        #expect(
            try namespace.count(matching: ["half", .any])
                == ([.afterCommit, .granted, .lockForgotten, .nearWritten].contains(point) ? 1 : 0)
        )
        #expect(try namespace.status().owners.count == 2)

        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        try namespace.write("other", 1)
        #expect(try namespace.count() == 3)
        try opener.open(root, "n")
    }

    /// A take that finds nothing needs no lock, and does not wait for one to make an index: it would wait for its whole
    /// time-out, which is longer than the test's.
    @Test func aStoppedHolderHoldsUpNoIndex() throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.useNearEnd(of: 0)
        try namespace.write(contentsOf: (0..<3000).map { Tuple("job", $0) })
        let taker = try Agent(root, "n", "timeout=3600000")
        let holder = try Agent(root, "n")
        try holder.run("arm stop gateTaken")
        try holder.send("write [\"half\", 1]")
        try holder.waitUntilStopped()
        for _ in 0..<12 { #expect(try taker.ask(#"take ["none", "?int"]"#) == "none") }
        #expect(try namespace.status().shapes == [])
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        // Now the takes earn it.
        for _ in 0..<12 { #expect(try taker.ask(#"take ["none", "?int"]"#) == "none") }
        #expect(try namespace.status().shapes.count == 1)
    }

    /// A commit takes the newest tuples over, and its process is stopped before it says so: what the commit has removed
    /// stays gone, for each look.
    @Test func whatAStoppedCommitHasRemovedStaysGone() throws {
        let namespace = try SpaceTest.namespace("n", timeout: .milliseconds(300))
        let holder = try Agent(root, "n")
        try holder.run("write [\"job\", 1]")
        try holder.run("arm stop nearStored")
        try holder.send("claim [\"job\", 1]")
        try holder.waitUntilStopped()
        for _ in 0..<3 { #expect(try namespace.readIfExists("job", any(Int.self)) == nil) }
        #expect(try namespace.count() == 0)
        holder.resume()
        #expect(try holder.line() == #"ok ["job",1]"#)
    }

    /// proc(5) does not show a frozen process as stopped.
    @Test(.enabled(if: FreezerGroup.isPermitted, "making a control group with a freezer is not permitted"))
    func aFrozenHolderIsNamed() throws {
        for version in FreezerGroup.versions {
            let space = try Space(root: root.path, timeout: .milliseconds(300))
            let namespace = try space.namespace("n")
            let holder = try Agent(root, "n")
            let group = try FreezerGroup(version)
            // The group is thawed even if an expectation fails, because a frozen process can't be ended.
            defer { try? group.thaw() }
            try group.add(holder.pid)
            try holder.run("arm stop \(CrashPoint.gateTaken)")
            try holder.send("write [\"half\", 1]")
            try holder.waitUntilStopped()
            try group.freeze()
            holder.resume()
            // As far as signals are concerned, the holder runs.
            #expect(try eventually { try !["T", "t"].contains(group.state(of: holder.pid)) })
            let refused = try refusal { try namespace.write("other", 1) }
            #expect(refused.code == .holderStopped)
            #expect(refused.holder == holder.pid)
            #expect(refused.reason.contains("frozen"), "\(refused)")
            try group.thaw()
            #expect(try holder.line()?.hasPrefix("ok ") == true)
            try namespace.write("other", 1)
            try holder.run("leave")
            try holder.exit()
            #expect(try namespace.verify() == [])
        }
    }

    @Test(arguments: [CrashPoint.lockUnnamed, .doorTaken, .joined, .dataOpened, .firstReader])
    func aStoppedHolderOfTheDoorIsNamed(_ point: CrashPoint) throws {
        let space = try Space(root: root.path, timeout: .milliseconds(300))
        let namespace = try space.namespace("n")
        let holder = try Agent()
        try holder.run("arm stop \(point)")
        try holder.send("open \(root.path) n")
        try holder.waitUntilStopped()

        let opener = try Agent()
        #expect(try opener.ask("open \(root.path) n timeout=300").hasPrefix("error holderStopped \(holder.pid) "))
        let refused = try refusal { try namespace.addOwner(pid: opener.pid) }
        #expect(refused.code == .holderStopped)
        #expect(refused.holder == holder.pid)
        // Listing passes the holder by; the namespace is there.
        #expect(try space.namespaceNames() == ["n"])
        // A process that has the namespace open works on.
        if point != .firstReader {
            try namespace.write("job", 1)
            #expect(try namespace.takeIfExists("job", 1) != nil)
        }

        holder.resume()
        #expect(try holder.line() == "ok")
        try opener.open(root, "n")
        #expect(try namespace.status().owners.count == 3)
        #expect(try namespace.verify() == [])
    }

    /// An opener that waits for the gate holds the door meanwhile; the next opener's error names the process that
    /// blocks both.
    @Test(arguments: [CrashPoint.lockUnnamed, .gateTaken, .beforeCommit])
    func aStoppedHolderOfTheGateIsNamedToWhoWaitsForTheDoor(_ point: CrashPoint) throws {
        try SpaceTest.namespace("n").useNearEnd(of: 0)
        let holder = try Agent(root, "n")
        try holder.run("arm stop \(point)")
        try holder.send("write [\"half\", 1]")
        try holder.waitUntilStopped()
        let innocent = try Agent()
        try innocent.send("open \(root.path) n timeout=60000")
        // The opener makes its session under the door, before it takes the gate.
        #expect(try eventually { root.entries(of: "n/sessions").count == 3 })
        let opener = try Agent()
        #expect(try opener.ask("open \(root.path) n timeout=300").hasPrefix("error holderStopped \(holder.pid) "))
        let impatient = try Space(root: root.path, timeout: .milliseconds(300))
        let refused = try refusal { try impatient.delete("n") }
        #expect(refused.code == .holderStopped && refused.holder == holder.pid)
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        #expect(try innocent.line() == "ok")
    }

    /// A process that leaves while a stopped one has the lock has left all the same: its namespace goes when the lock
    /// is free.
    @Test func leavingDoesNotWaitForAStoppedHolder() throws {
        let leaver = try Agent(root, "n", "timeout=300")
        let holder = try Agent()
        try holder.run("arm stop joined")
        try holder.send("open \(root.path) n owning=0")
        try holder.waitUntilStopped()
        #expect(try leaver.ask("leave").hasPrefix("error holderStopped \(holder.pid) "))
        try leaver.exit()
        try holder.kill()
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
    }

    @Test(arguments: [CrashPoint.beforeCommit, .afterCommit, .joined, .firstReader])
    func aStoppedHolderThatIsKilledLetsEverybodyOn(_ point: CrashPoint) throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.useNearEnd(of: 0)
        let holder = try Agent()
        let opens = point == .joined || point == .firstReader
        if !opens { try holder.open(root, "n") }
        try holder.run("arm stop \(point)")
        try holder.send(opens ? "open \(root.path) n" : "write [\"half\", 1]")
        try holder.waitUntilStopped()
        // An unrelated writer is not held up; an opener waits for the holder.
        let writer = try Agent(root.self, "other")
        try writer.run("write [\"unrelated\"]")
        let opener = try Agent()
        try opener.send("open \(root.path) n timeout=20000")
        try holder.kill()
        #expect(try opener.line() == "ok")
        try opener.run("write [\"job\", 1]")
        #expect(try namespace.takeIfExists("job", 1) != nil)
        #expect(try namespace.count() == (point == .afterCommit ? 1 : 0))
    }

    /// A process that is stopped outside of any lock is not named, and blocks no other process.
    @Test func aStoppedHolderNamesNobodyWhoMoved() throws {
        let namespace = try SpaceTest.namespace("n")
        let bystander = try Agent(root, "n")
        try bystander.stop()
        try namespace.write("job", 1)
        #expect(try namespace.takeIfExists("job", 1) != nil)
        bystander.resume()
        try bystander.run("write [\"job\", 2]")
        #expect(try namespace.count() == 1)
    }

    /// A reader stopped inside its snapshot pins every page that is freed after it; at the byte limit the error names it.
    @Test func aStuckReaderIsNamedAtTheLimit() throws {
        let limit = Limits.smallestByteLimit
        let namespace = try SpaceTest.namespace("n", options: NamespaceOptions(byteLimit: limit))
        let reader = try Agent(root, "n")
        try reader.run("count")
        try reader.run("arm stop snapshotTaken")
        try reader.send("count")
        try reader.waitUntilStopped()
        let body = [UInt8](repeating: 1, count: 4000)
        let refused = try refusal {
            // The tuples take far less than the limit at any time, and far more in sum.
            for number in 0..<20_000 {
                try namespace.write("page", number, body)
                _ = try namespace.takeIfExists("page", number, any([UInt8].self))
            }
        }
        #expect(refused.code == .limitReached)
        #expect(refused.holder == reader.pid)
        reader.resume()
        #expect(try reader.line() == "ok 0")
        // The reader's snapshot has ended, so the pages can be used again.
        for number in 0..<2000 {
            try namespace.write("page", number, body)
            #expect(try namespace.takeIfExists("page", number, any([UInt8].self)) != nil)
        }
    }
}
