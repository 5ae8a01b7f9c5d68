import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Watchers that begin with the present state, or with the history, while others write and take.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ReplicaTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Copies that begin while others write all end equal to the namespace: each change fits what the copy had before,
    /// and none is missing.
    @Test(arguments: [("watch-from initial", "replicate"), ("observe-copy", "observed-copy")], ["", "slowly"])
    func aCopyEndsEqual(by way: (begin: String, end: String), pace: String) throws {
        let namespace = try SpaceTest.namespace("n")
        let count = 4000
        for start in stride(from: 0, to: count, by: 1000) {
            try namespace.write(contentsOf: (start..<start + 1000).map { Tuple("job", $0) })
        }
        for number in 0..<500 { try namespace.set("k\(number)", number) }
        let (writers, takers) = (
            try (0..<2).map { _ in try Agent(root, "n") }, try (0..<2).map { _ in try Agent(root, "n") }
        )
        for (number, writer) in writers.enumerated() { try writer.send("churn \(number) 3000") }
        for taker in takers { try taker.send("barge-loop") }
        // The copies begin one after the other, each at another moment; the last of them outlives the writers.
        var copies: [Agent] = []
        for _ in 0..<4 {
            let copy = try Agent(root, "n", "owning=0")
            try copy.run("\(way.begin) \(pace)")
            try copy.send("\(way.end) \(pace)")
            copies.append(copy)
        }
        for writer in writers { #expect(try writer.line() == "ok 3000") }
        try namespace.write("stop")
        for taker in takers { #expect(try taker.line()?.hasPrefix("ok ") == true) }
        try namespace.post("end")
        for copy in copies {
            let line = try #require(try copy.line())
            #expect(line.hasPrefix("ok "), "\(line)")
            let same = try copy.ask("same-as-copy")
            #expect(same.hasPrefix("ok "), "\(same)")
        }
    }

    /// A history keeps the changes that killed writers committed while no watcher was registered.
    @Test func whatKilledWritersCommittedUnwatchedIsKept() throws {
        let namespace = try SpaceTest.namespace("n", options: NamespaceOptions(history: History()))
        for number in 0..<3 {
            let writer = try Agent(root, "n")
            let ledger = Ledger(root, "written-\(number)")
            try writer.run("ledger \(ledger.path)")
            try writer.send("write-loop \(number * 100_000) 100000")
            #expect(try eventually { try ledger.numbers().count >= 100 })
            try writer.kill()
        }
        #expect(try namespace.status().watchers == [])
        let last = try namespace.status().sequence
        let late = try Agent(root, "n", "owning=0")
        try late.run("watch-from 0")
        let ledger = Ledger(root, "told")
        try late.run("ledger \(ledger.path)")
        let told = try Followed(late.run("follow 0 \(last)"))
        #expect(told.gaps == 0 && told.first == 1 && told.last == last && UInt64(told.received) == last)
        #expect(
            try ledger.numbers()
                == namespace.readAll(matching: ["job", .any]).map { tuple in
                    if case .int(let number) = tuple[1] { number } else { -1 }
                }
        )
    }

    /// Wherever a watcher begins while others write, its gap and the kept changes make up the whole.
    @Test func keptAndMissedMakeUpTheWhole() throws {
        let namespace = try SpaceTest.namespace("n", options: NamespaceOptions(history: History(changes: 500)))
        let writers = try (0..<2).map { _ in try Agent(root, "n") }
        for (number, writer) in writers.enumerated() { try writer.send("write-loop \(number * 10_000) 2000") }
        for _ in 0..<10 {
            let watcher = try Agent(root, "n", "owning=0")
            try watcher.run("watch-from 0")
            let last = try namespace.status().sequence
            let told = try Followed(watcher.run("follow 0 \(max(last, 1))"))
            #expect(told.first == 1 && UInt64(told.received) + told.missed == told.last)
        }
        for writer in writers { #expect(try writer.line() == "ok 2000") }
        // More than the history's bound is kept for a watcher, so all 4000 may be there still. Once an opener has noticed
        // that the watchers are dead, each write drops a few changes beyond the bound.
        let late = try Agent(root, "n", "owning=0")
        #expect(try namespace.status().watchers == [])
        for number in 0..<2000 { try namespace.write("job", 20_000 + number) }
        try late.run("watch-from 0")
        let told = try Followed(late.run("follow 0 6000"))
        #expect(told.received == 500 && told.gaps == 1 && told.missed == 5500)
    }

    /// The end of a killed watcher leaves the history as it was.
    @Test func aKilledWatcherTakesNoHistoryAlong() throws {
        let namespace = try SpaceTest.namespace("n", options: NamespaceOptions(history: History(changes: 50)))
        let watcher = try Agent(root, "n", "owning=0")
        try watcher.run("watch")
        for number in 0..<20 { try namespace.write("job", number) }
        try watcher.kill()
        let late = try Agent(root, "n", "owning=0")
        try late.run("watch-from 0")
        #expect(try namespace.status().watchers.map(\.pid) == [late.pid])
        #expect(try late.run("follow 20 0").hasPrefix("20 0 0 1 20 "))
    }

    /// An object that posts in one process is found as the sender only there.
    @Test func aSenderIsAnObjectInItsOwnProcessAlone() throws {
        let namespace = try SpaceTest.namespace("n", options: NamespaceOptions(history: History()))
        let poster = try Agent(root, "n")
        let other = try Agent(root, "n")
        for agent in [poster, other] { try agent.run("watch") }
        try poster.run("post-for one")
        try poster.run("post-for two")
        try other.run("post-for three")
        try namespace.post("four")
        let heard = try [poster, other].map { agent in try (0..<4).map { _ in try agent.run("next-post") } }
        #expect(heard[0] == ["one some 0", "two some 1", "three some nobody", "four none nobody"])
        #expect(heard[1] == ["one some nobody", "two some nobody", "three some 0", "four none nobody"])
    }
}
