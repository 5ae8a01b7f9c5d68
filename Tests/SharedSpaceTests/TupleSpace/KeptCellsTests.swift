import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// A cell that is read again and again is read from a copy, which is never older than the last commit.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct KeptCellsTests {
    private let root: TemporaryRoot
    private let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    /// What the next read finds in the copies.
    private func kept(_ key: String) -> Value? {
        let core = namespace.core
        return core.keptCells.value(of: key, asOf: core.engine.lastCommit)
    }

    private func value(_ key: String) throws -> Value? { try namespace.get(key) }

    @Test func theThirdReadKeeps() throws {
        try namespace.set("k", "a")
        for _ in 0..<3 {
            #expect(kept("k") == nil)
            #expect(try value("k") == "a")
        }
        #expect(kept("k") == "a")
        try namespace.set("other", 1)
        #expect(kept("k") == nil)
    }

    /// Also of the reads that decode, which most programs call.
    @Test func theTypedReadIsServed() throws {
        try namespace.set("k", 7)
        for _ in 0..<3 {
            let number: Int? = try namespace.get("k")
            #expect(number == 7)
        }
        #expect(kept("k") == 7)
        // In a transaction's body a read sees what the body has set.
        try namespace.transaction {
            _ = try $0.set("k", 8)
            #expect(try $0.get("k") == 8)
        }
    }

    /// A read that comes after another process's commit sees it.
    @Test func anotherProcessesCommitIsSeen() throws {
        let runner = CommandRunner(root: root.path)
        for number in 0..<5 {
            #expect(try runner.start("space", ["set", "n", "k", "\(number)"]).finish().ending == .exited(0))
            for _ in 0..<4 { #expect(try value("k") == .int(number)) }
            #expect(kept("k") != nil)
        }
        #expect(try runner.start("space", ["unset", "n", "k"]).finish().ending == .exited(0))
        #expect(try value("k") == nil)
    }

    /// What ends by itself, or is large, is read from the tables.
    @Test func whatEndsIsNotKept() throws {
        try namespace.set("ends", 1, expires: .seconds(600))
        try namespace.set("mine", 1, lifetime: .session)
        try namespace.set("large", String(repeating: "x", count: 2000))
        for key in ["ends", "mine", "large"] {
            for _ in 0..<4 { #expect(try value(key) != nil) }
            #expect(kept(key) == nil)
        }
    }

    /// Keys are told apart by their bytes, and a namespace that was left has no cells.
    @Test func keysAreBytes() throws {
        let keys = ["\u{E9}", "e\u{301}"]
        for (number, key) in keys.enumerated() { try namespace.set(key, number) }
        for (number, key) in keys.enumerated() {
            for _ in 0..<4 { #expect(try value(key) == .int(number)) }
        }
        try namespace.leave()
        #expect(errorCode { _ = try value(keys[1]) } == .closed)
    }

    /// Of random steps, each read finds what was set last, by any of the handles, threads and transactions.
    @Test(arguments: 1...4) func readsAreNeverOld(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var cells: [String: Int] = [:]
        for step in 0..<3000 {
            let key = "k\(Int.random(in: 0..<100, using: &generator))"
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                cells[key] = step
                try namespace.set(key, step)
            case 1:
                cells[key] = nil
                try namespace.unset(key)
            case 2:
                cells[key] = step
                try namespace.transaction { _ = try $0.set(key, step) }
            case 3: try namespace.write("noise", step)
            default:
                let key = step % 2 == 0 ? "k1" : key
                for _ in 0..<3 {
                    let found: Int? = try namespace.get(key)
                    #expect(found == cells[key])
                }
            }
        }
    }
}
