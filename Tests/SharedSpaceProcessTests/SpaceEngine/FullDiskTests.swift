import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Whether an agent can mount a file system of its own: it must be root's, or have the capability.
let mayMount: Bool = {
    guard let root = try? TemporaryRoot(), let agent = try? Agent() else { return false }
    return (try? agent.run("tmpfs \(root.path) 8388608")) != nil
}()

/// A file system that fills up leads to errors, never to a signal, and no commit is lost.
///
/// Each agent mounts a small tmpfs that it alone sees, so a SIGBUS would end the agent and be seen here.
///
/// `SlowFullDiskTests` does it in the modes, with the sizes and the fillings that are left out here.
@Suite(
    .blocking,
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(if: mayMount, "mounting a small file system is not permitted")
)
struct FullDiskTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func agent(onMebibytes size: Int) throws -> Agent {
        let agent = try Agent()
        try agent.run("tmpfs \(root.path) \(size << 20)")
        return agent
    }

    /// The number in an answer `full <number> error …`, whose error must say that there is no space left.
    private func full(_ answer: String) throws -> Int {
        let words = answer.split(separator: " ")
        guard words.count > 3, words[0] == "full", let number = Int(words[1]),
            ["storageFull", "limitReached"].contains(words[3])
        else { throw TestFailure("not full: \(answer)") }
        return number
    }

    @Test(arguments: [(.fast, 500), (.guarded, 4000), (.durable, 30_000)] as [(StorageMode, Int)])
    func aFullDiskIsAnErrorAndNotTheEnd(_ mode: StorageMode, _ size: Int) throws {
        // The limit is beyond the disk, so the disk is what ends first.
        let agent = try agent(onMebibytes: 9)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        let answer = try agent.ask("fill \(size) 1000000")
        let count = try full(answer)
        #expect(answer.contains("storageFull"))
        #expect(count > 10)
        #expect(try agent.run("count") == "\(count)")
        #expect(try agent.run("verify") == "")
        // Takes work while the disk is full, and so do claims and their return.
        try agent.run("claim [\"fill\", 0, \"?\"]")
        try agent.run("release")
        try agent.run("thin 2")
        #expect(try agent.run("drain") == "\(count - 1)")
        // Writes work when there is space again.
        #expect(try full(try agent.ask("fill \(size) 1000000")) > count / 2)
        try agent.run("drain")
        try agent.run("write [\"small\"]")
        #expect(try agent.run("count") == "1")
        #expect(try agent.run("verify") == "")
        try agent.run("leave")
        try agent.exit()
    }

    /// The file in which latencies are counted is refused at the switch, and waits go on without it.
    @Test func latenciesAreNotMeasuredOnAFullDisk() throws {
        let agent = try agent(onMebibytes: 9)
        try agent.open(root, "n")
        try agent.run("write [\"job\", 1]")
        try agent.run("fill-file \(root.path)/rest")
        #expect(try agent.ask("measure on").hasPrefix("error storageFull"))
        #expect(
            try agent.run("list-folder \(root.path)/n").split(separator: " ").filter { $0.contains("latency") } == []
        )
        #expect(try agent.run("take [\"job\", \"?int\"]") == #"["job",1]"#)
        try agent.run("remove-file \(root.path)/rest")
        try agent.run("measure on")
        #expect(try agent.run("verify") == "")
        try agent.run("leave")
        try agent.exit()
    }

    /// A namespace that is new on a full disk has room for what comes and goes, again and again.
    @Test(arguments: StorageMode.allCases)
    func aNewNamespaceIsUsedOnAFullDisk(_ mode: StorageMode) throws {
        let agent = try agent(onMebibytes: 20)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        try agent.run("fill-file \(root.path)/rest")
        let count = try full(try agent.ask("fill 30000 1000000"))
        #expect(try count > 0 && agent.run("drain") == "\(count)")
        for _ in 0..<3 { #expect(try agent.run("turn-over 1000 10") == "10") }
        #expect(try agent.run("verify") == "")
        try agent.run("leave")
        try agent.exit()
    }

    /// A transaction, which runs once, has the room of what was taken, at the second attempt at the latest.
    @Test func aTransactionHasTheRoomOfWhatWasTaken() throws {
        let agent = try agent(onMebibytes: 9)
        try agent.open(root, "n", "mode=fast limit=\(256 << 20)")
        let count = try full(try agent.ask("fill 30000 1000000"))
        for number in 0..<min(count, 40) { #expect(try agent.ask("take [\"fill\", \(number), \"?\"]").hasPrefix("ok")) }
        let answers = try (0..<2).map { _ in try agent.ask("write-at-once 4 30000") }
        #expect(answers.last == "ok 4", "\(answers)")
        #expect(try agent.run("verify") == "")
        try agent.run("leave")
        try agent.exit()
    }

    /// Transactions, an ordered set or a work queue fill the disk: a step that is refused changes nothing, and all of
    /// it can be taken out while nothing is free.
    @Test(
        arguments: [(.fast, "transactions"), (.guarded, "set"), (.durable, "queue")] as [(StorageMode, String)]
    )
    func whateverFillsTheDisk(_ mode: StorageMode, _ filling: String) throws {
        let agent = try agent(onMebibytes: 9)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        // A watcher's journal takes space too, as long as there is any.
        for (size, isWatched) in [(700, false), (9000, true)] {
            if isWatched { try agent.run("watch") }
            let answer = try agent.ask("fill-by \(filling) \(size)")
            #expect(answer.contains(" error storageFull ") && !answer.contains("torn"))
            let count = try full(answer)
            #expect(count > 10)
            #expect(try agent.run("verify") == "")
            #expect(try agent.run("empty-by \(filling)") == "\(count)")
            #expect(try agent.run("verify") == "")
        }
        try agent.exit()
    }

    /// Another file fills the disk while the namespace is small: the namespace goes on with the space that it has, and
    /// grows when it can again.
    @Test(arguments: StorageMode.allCases)
    func somebodyElseFillsTheDisk(_ mode: StorageMode) throws {
        let agent = try agent(onMebibytes: 16)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        try agent.run("write [\"kept\", 1]")
        try agent.run("fill-file \(root.path)/.filler")
        _ = try full(try agent.ask("fill 4000 1000000"))
        #expect(try agent.run("take [\"kept\", \"?\"]") == #"["kept",1]"#)
        try agent.run("drain")
        try agent.run("write [\"small\"]")
        // The files that a wait needs can't be made, but the wait works all the same.
        try agent.send("take-async [\"small\"]")
        #expect(try agent.line() == "waiting")
        #expect(try agent.line() == #"ok ["small"]"#)
        try agent.run("remove-file \(root.path)/.filler")
        #expect(try full(try agent.ask("fill 4000 1000000")) > 1000)
        #expect(try agent.run("verify") == "")
        // The namespace can be deleted while the disk is full.
        try agent.run("leave")
        #expect(try agent.run("names") == "")
        try agent.open(root, "m", "mode=\(mode)")
        try agent.run("write [\"new\"]")
        #expect(try agent.run("count") == "1")
        try agent.exit()
    }

    /// The disk fills up when the namespace is new, or has been used a little: it goes on with the little that it has
    /// reserved, and whatever it takes up then can be taken out.
    @Test(arguments: StorageMode.allCases, [0, 1, 20, 400])
    func aSmallNamespaceOnAFullDisk(_ mode: StorageMode, _ before: Int) throws {
        let agent = try agent(onMebibytes: 16)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        for number in 0..<before {
            try agent.run("write [\"kept\", \(number)]")
            // What is written into the ring is no change of the database.
            try agent.run("set cell \(number)")
        }
        try agent.run("fill-file \(root.path)/.filler")
        let count = try full(try agent.ask("fill 100 1000000"))
        #expect(count > 0)
        try agent.run("claim [\"fill\", 0, \"?\"]")
        try agent.run("release")
        for number in 0..<before / 2 {
            #expect(try agent.run("take [\"kept\", \(number)]") == "[\"kept\",\(number)]")
        }
        #expect(try agent.run("drain") == "\(count + before - before / 2)")
        // Of few pages most are kept back.
        let again = try full(try agent.ask("fill 100 1000000"))
        #expect(again >= (before < 100 ? 1 : count / 2), "\(count), then \(again)")
        try agent.run("drain")
        #expect(try agent.run("count") == "0")
        #expect(try agent.run("verify") == "")
        try agent.run("remove-file \(root.path)/.filler")
        #expect(try full(try agent.ask("fill 4000 1000000")) > 1000)
        try agent.exit()
    }

    /// If the disk has too little space for a namespace, however little, creating one is an error and leaves nothing
    /// behind.
    @Test(arguments: StorageMode.allCases)
    func creatingOnAFullDiskIsAnError(_ mode: StorageMode) throws {
        var isCreated = false
        for kibibytes in stride(from: 8, through: 9216, by: 512) {
            let agent = try Agent()
            try agent.run("tmpfs \(root.path) \(kibibytes << 10)")
            let answer = try agent.ask("open \(root.path) n mode=\(mode)")
            isCreated = answer == "ok"
            if isCreated {
                try agent.run("write [\"job\", 1]")
                #expect(try agent.run("verify") == "")
                try agent.run("leave")
            } else {
                #expect(answer.hasPrefix("error storageFull"))
            }
            #expect(try agent.run("names") == "")
            #expect(try agent.run("list-folder \(root.path)/.nursery") == "")
            try agent.exit()
        }
        #expect(isCreated)
    }

    /// A value needs many pages in a row, and the free pages lie scattered.
    @Test(arguments: StorageMode.allCases)
    func largeValuesOnAFullDisk(_ mode: StorageMode) throws {
        let agent = try agent(onMebibytes: 9)
        try agent.open(root, "n", "mode=\(mode) limit=\(256 << 20)")
        for size in [4000, 100_000, 1400, 900_000, 9000] {
            let count = try full(try agent.ask("fill \(size) 1000000"))
            // Every other tuple goes, so that the free pages lie between used ones.
            try agent.run("thin \(min(count, 400))")
            _ = try full(try agent.ask("fill 100000 1000"))
            // One transaction claims as many as it can move; they return one by one.
            #expect(try agent.run("claim-batch") != "0")
            try agent.run("release")
            #expect(try agent.run("verify") == "")
            try agent.run("drain")
        }
        try agent.run("write [\"small\"]")
        #expect(try agent.run("verify") == "")
        try agent.exit()
    }
}
