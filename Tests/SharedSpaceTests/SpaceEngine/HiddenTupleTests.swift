import Glibc
import SharedSpace
import SpaceEngine
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleSpace

/// Claimed tuples keep their rows beside the visible ones, and no look finds them or walks past all of them.
@Suite(.spaceTest)
struct HiddenTupleTests {
    private func namespace(_ mode: StorageMode, _ count: Int) throws -> (Namespace, [TupleID]) {
        let namespace = try SpaceTest.namespace(mode, "jobs", byteLimit: 16 << 20)
        return (namespace, try namespace.write(contentsOf: (0..<count).map { Tuple("job", $0) }))
    }

    private func firstVisible(_ namespace: Namespace) throws -> UInt64 {
        try namespace.attempt("look") { (core) throws(SpaceError) in
            try core.read { (snapshot) throws(SpaceError) in try snapshot.counters().firstVisible }
        }
    }

    @Test("A walk begins behind the claimed ones, and at one that returns", arguments: StorageMode.allCases)
    func walks(_ mode: StorageMode) throws {
        let (namespace, ids) = try namespace(mode, 6)
        let claims = try namespace.claimAll(matching: .any, order: .oldestFirst, max: 4, deadline: nil)
        #expect(try firstVisible(namespace) == ids[4].rawValue)
        #expect(try namespace.readIfExists(matching: .any)?.fields[1] == 4)
        #expect(try namespace.count() == 2 && namespace.readAll().count == 2)
        #expect(try namespace.release(claims[1]))
        #expect(try firstVisible(namespace) == ids[1].rawValue)
        #expect(try namespace.takeIfExists(matching: .any)?.fields[1] == 1)
        #expect(try namespace.takeIfExists(matching: .any)?.fields[1] == 4)
        try namespace.complete([claims[0], claims[2]])
        // Takes have moved the beginning too.
        #expect(try firstVisible(namespace) == ids[3].rawValue + 1)
        #expect(try namespace.count() == 1 && namespace.verify() == [])
        #expect(try namespace.kick() == 0 && namespace.bury(matching: .any) == 1)
        #expect(try namespace.readIfExists(matching: .any) == nil && namespace.count() == 0)
        #expect(try namespace.kick() == 1 && namespace.takeIfExists(matching: .any)?.fields[1] == 5)
        #expect(try namespace.verify() == [])
    }

    /// Nothing has written since, and no process waits: the look itself returns it.
    @Test("A tuple whose claim is overdue, or whose rest is over, is found first", arguments: StorageMode.allCases)
    func theOldestReturns(_ mode: StorageMode) throws {
        let (namespace, ids) = try namespace(mode, 8)
        var next = 0
        func loseTheOldest(byRest: Bool = false) throws {
            let claim = try #require(
                try namespace.claimIfExists(id: ids[next], deadline: byRest ? nil : .milliseconds(1))?.detach()
            )
            if byRest { #expect(try namespace.release(claim, delay: .milliseconds(1))) }
            while try namespace.attempt(
                "look",
                { (core) throws(SpaceError) in
                    try core.read { (snapshot) throws(SpaceError) in try snapshot.due(limit: 1).isEmpty }
                }
            ) {
                sched_yield()
            }
            next += 1
        }
        try loseTheOldest()
        #expect(try namespace.readIfExists("job", any(Int.self))?.1 == 0)
        next = 0
        try loseTheOldest()
        #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == 0)
        try loseTheOldest(byRest: true)
        #expect(try namespace.readIfExists(matching: .any)?.fields[1] == 1)
        #expect(try namespace.takeIfExists(matching: .any)?.fields[1] == 1)
        try loseTheOldest()
        #expect(try namespace.claimIfExists(matching: .any)?.detach().tuple.fields[1] == 2)
        try loseTheOldest()
        #expect(try namespace.takeAll(matching: .any, max: 1) == [Tuple("job", 3)])
        try loseTheOldest(byRest: true)
        #expect(try namespace.readAll(max: 2).map(\.fields[1]) == [4, 5])
        next = 4
        try loseTheOldest()
        let first = try namespace.transaction { (transaction) throws in try transaction.takeIfExists(matching: .any) }
        #expect(first?.fields[1] == 4)
        try loseTheOldest()
        #expect(try namespace.takeIfExists(matching: .any, order: .newestFirst)?.fields[1] == 7)
        #expect(try namespace.count() == 2 && namespace.verify() == [])
    }

    @Test("A transaction finds what it has returned itself") func inATransaction() throws {
        let (namespace, _) = try namespace(.fast, 5)
        let claims = try namespace.claimAll(matching: .any, order: .oldestFirst, max: 4, deadline: nil)
        let taken = try namespace.transaction { (transaction) throws in
            var taken = [try transaction.release(claims[2]) ? "released" : "lost"]
            while let tuple = try transaction.takeIfExists(matching: .any) { taken.append("\(tuple.fields[1])") }
            return taken
        }
        #expect(taken == ["released", "2", "4"])
        #expect(try namespace.verify() == [])
    }

    @Test("A tuple that is claimed while its index is built is found after its return") func inAnIndex() throws {
        let (namespace, _) = try namespace(.fast, 3000)
        let claims = try namespace.claimAll(matching: .any, order: .oldestFirst, max: 1000, deadline: nil)
        // Takes earn an index, and each builds a slice of it.
        for number in stride(from: 2999, to: 2900, by: -1) {
            #expect(try namespace.takeIfExists("job", number) != nil)
        }
        #expect(try namespace.takeIfExists("job", 500) == nil)
        #expect(try namespace.release(claims[500]))
        #expect(try namespace.takeIfExists("job", 500) != nil)
        #expect(try namespace.count() == 3000 - 1000 - 99 && namespace.verify() == [])
    }

    @Test("The check finds a visible tuple before the first one, and a claim without its tuple") func check() throws {
        // Not of the test's own root, whose namespaces have to be whole at its end.
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("jobs")
        let ids = try namespace.write(contentsOf: (0..<3).map { Tuple("job", $0) })
        _ = try namespace.claimAll(matching: .any, order: .oldestFirst, max: 1, deadline: nil)
        try namespace.attempt("damage") { (core) throws(SpaceError) in
            try core.write(.adding, timeout: nil) { (scope) throws(SpaceError) in
                scope.counters.firstVisible = ids[2].rawValue
                try scope.tuples.delete(ids[0].rawValue)
                scope.noteUpkeep()
            }
        }
        #expect(
            try namespace.verify() == [
                "tuple \(ids[1].rawValue) is older than the first visible one",
                "tuple \(ids[0].rawValue) is claimed, and is not there",
            ]
        )
    }
}
