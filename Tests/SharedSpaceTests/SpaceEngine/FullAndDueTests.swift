import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// A full namespace in which much is due at once: what has expired makes room, and what returns comes in its order.
///
/// And what is loaded into a new one may fill it a little more.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct FullAndDueTests {
    /// Makes a full namespace; two thirds of what additions may use are filled with large cells.
    private func fullNamespace(_ mode: StorageMode, _ fill: (Namespace) throws -> Void) throws -> Namespace {
        let namespace = try SpaceTest.namespace(mode, byteLimit: Limits.smallestByteLimit)
        for number in 0..<8 { try namespace.set("ballast \(number)", [UInt8](repeating: 7, count: 1 << 20)) }
        try fill(namespace)
        for batch in [100, 10, 1] {
            let refused = #expect(throws: SpaceError.self) {
                while true {
                    try namespace.write(
                        contentsOf: (0..<batch).map { Tuple("rest", $0, String(repeating: "x", count: 100)) }
                    )
                }
            }
            #expect(refused?.code == .limitReached)
        }
        return namespace
    }

    /// Sets the namespace's clock forward.
    private func pass(_ seconds: UInt64, in namespace: Namespace) {
        namespace.core.engine.control.clockAhead.add(1000 * seconds)
    }

    enum Expiring: CaseIterable { case tuples, cells }

    @Test(arguments: StorageMode.allCases, Expiring.allCases)
    func whatHasExpiredMakesRoom(_ mode: StorageMode, _ expiring: Expiring) throws {
        let namespace = try fullNamespace(mode) { namespace in
            let body = String(repeating: "x", count: 1000)
            switch expiring {
            case .tuples:
                try namespace.write(contentsOf: (0..<2000).map { Tuple("brief", $0, body) }, expires: .seconds(3600))
            case .cells:
                try namespace.transaction { t in
                    for number in 0..<2000 { try t.set("brief \(number)", body, expires: .seconds(3600)) }
                }
            }
        }
        pass(3601, in: namespace)
        // A write, a transaction, and a batch that needs most of the room.
        try namespace.write("new", 1)
        try namespace.transaction { t in _ = try t.write("new", 2) }
        try namespace.write(contentsOf: (0..<1000).map { Tuple("new", $0, String(repeating: "x", count: 1000)) })
        #expect(try namespace.count(matching: ["new", .rest]) == 1002)
        #expect(try namespace.verify() == [])
    }

    /// What one commit has freed is there for the next write, although LMDB uses it only after one more commit.
    @Test(arguments: StorageMode.allCases, [true, false])
    func whatWasTakenAtOnceMakesRoom(_ mode: StorageMode, inTransaction: Bool) throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: Limits.smallestByteLimit)
        let body = String(repeating: "x", count: 1000)
        for batch in [100, 1] {
            #expect(throws: SpaceError.self) {
                while true { try namespace.write(contentsOf: (0..<batch).map { Tuple("fill", $0, body) }) }
            }
        }
        #expect(try namespace.takeAll(max: .max).count > 5000)
        if inTransaction {
            try namespace.transaction { t in _ = try t.write("new", body) }
        } else {
            try namespace.write("new", body)
        }
        #expect(try namespace.verify() == [])
    }

    /// The pages of a copy may be packed less densely than those of the dumped namespace, which was full.
    @Test(arguments: StorageMode.allCases)
    func whatIsLoadedMayUseSomeOfTheRoomForRemovals(_ mode: StorageMode) throws {
        let namespace = try fullNamespace(mode) { _ in }
        let count = try namespace.count()
        // Each of them is larger than the one that was refused.
        let body = String(repeating: "x", count: 200)
        var load = NewLoad(namespace.core)
        let tuples = (0..<100).map { LoadedTuple(tuple: Tuple("loaded", $0, body), expires: nil) }
        try load.load(LoadedContents(tuples: tuples, collections: []))
        #expect(load.tuples == 100)
        #expect(try namespace.count() == count + 100)
        #expect(try refusal { try namespace.write("more", 1) }.code == .limitReached)
        // There is still room for removals.
        while try !namespace.takeAll(max: 100).isEmpty {}
        #expect(try namespace.count() == 0 && namespace.verify() == [])
    }

    /// Claims whose deadlines have passed, by the hundred, latest first: there is no room to return all in one commit.
    @Test(arguments: StorageMode.allCases)
    func whatIsOverdueIsTakenInItsOrder(_ mode: StorageMode) throws {
        let namespace = try fullNamespace(mode) { namespace in
            try namespace.write(contentsOf: (0..<600).map { Tuple("job", $0) })
        }
        for number in 0..<500 {
            #expect(try namespace.claimIfExists("job", number, deadline: .seconds(3600 - number))?.detach() != nil)
        }
        pass(3601, in: namespace)
        #expect(try namespace.readIfExists("job", any(Int.self))?.1 == 0)
        for number in 0..<600 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        #expect(try namespace.verify() == [])
    }
}
