import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Change signals that no watcher hears: the watchers are told of the changes all the same.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct LostBellTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private static let mayUnshare: Bool = {
        let runner = CommandRunner(root: "/nonexistent")
        return (try? runner.shell("unshare -Ur true").ending) == .exited(0)
    }()

    /// If the user's inotify instances are used up, ticks serve the watcher.
    @Test(.enabled(if: mayUnshare, "no user namespaces here"))
    func withoutInotifyNothingIsLost() throws {
        let namespace = try root.space.namespace("n")
        let watcher = try Agent()
        #expect(try watcher.ask("without-inotify") == "ok")
        try watcher.open(root, "n", "owning=0")
        try watcher.run("watch")
        #expect(try watcher.run("holdings").hasSuffix(" 0"))
        try watcher.run("watch-space \(root.path)")
        for command in ["next-wait", "next-async"] {
            try watcher.send(command)
            #expect(try watcher.line() == "waiting")
            try namespace.write("job", 1)
            #expect(try watcher.line()?.hasPrefix("ok write ") == true)
        }
        try watcher.send("next-namespace")
        #expect(try watcher.line() == "waiting")
        let other = try root.space.namespace("other")
        #expect(try watcher.line() == "ok appeared other")
        #expect(try namespace.verify() == [] && other.verify() == [])
    }

    /// More events than inotify's queue takes lose nothing: the queue's reader is stopped while two change signals are
    /// written by turns, and the third, which a watcher waits for, finds no place any more.
    @Test func anOverflowingQueueLosesNothing() throws {
        let text = try root.file("/proc/sys/fs/inotify/max_queued_events")
        let limit = try #require(Int(String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)))
        try #require(limit < 100_000, "the queue is too long to be filled here")
        let namespaces = try ["n", "b", "c"].map { try root.space.namespace($0) }
        let watcher = try Agent(root, "n", "owning=0")
        try watcher.run("watch")
        for other in ["b", "c"] { try watcher.run("also-watch \(root.path) \(other)") }
        try watcher.send("next-wait")
        #expect(try watcher.line() == "waiting")
        // proc(5): the watcher is asleep, so it waits for the change signal.
        #expect(
            try eventually {
                try String(decoding: root.file("/proc/\(watcher.pid)/stat"), as: UTF8.self).contains(") S ")
            }
        )
        try watcher.stop()
        for number in 0..<limit / 2 + 100 {
            for namespace in namespaces.dropFirst() { try namespace.set("k", number) }
        }
        try namespaces[0].write("job", 1)
        watcher.resume()
        #expect(try watcher.line() == #"ok write 1 ["job",1]"#)
        // The watcher hears the change signal again.
        try watcher.send("next-wait")
        #expect(try watcher.line() == "waiting")
        try namespaces[0].write("job", 2)
        #expect(try watcher.line() == #"ok write 2 ["job",2]"#)
        for namespace in namespaces { #expect(try namespace.verify() == []) }
    }

    /// If another file takes the place of the change signal, a process that opens it from then on writes to a file that
    /// no watcher hears.
    @Test func aReplacedBellLosesNothing() throws {
        _ = try SpaceTest.namespace("n")
        let watcher = try Agent(root, "n", "owning=0")
        try watcher.run("watch")
        try root.overwrite("n/bell.new", [0])
        #expect(rename("\(root.path)/n/bell.new", "\(root.path)/n/bell") == 0)
        let writer = try Agent(root, "n")
        for number in 1...3 {
            try watcher.send(number == 2 ? "next-async" : "next-wait")
            #expect(try watcher.line() == "waiting")
            try writer.run("write [\"job\", \(number)]")
            #expect(try watcher.line()?.hasSuffix(" [\"job\",\(number)]") == true)
        }
    }
}
