import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// What one process keeps of namespaces that it has open, or had, and how its threads are in each other's way.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct OneProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test func namespacesThatWereLeftAreForgotten() throws {
        for number in 0..<300 { try root.space.namespace("n\(number)").leave() }
        // Other tests of this process have namespaces open.
        #expect(CoreRegistry.shared.count < 250)
    }

    /// A look of this process pins the pages that a writer frees; the write that needs them waits until the look is over.
    @Test(arguments: StorageMode.allCases)
    func aWriteWaitsForASnapshotInItsWay(_ mode: StorageMode) async throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: Limits.smallestByteLimit)
        let engine = namespace.core.engine
        let isOver = Flag()
        try await churn(
            namespace,
            whileSnapshot: { engine.readerWait.count.load(ordering: .relaxed) == 0 && !isOver.isSet }
        ) {
            defer { isOver.set() }
            let before = engine.readerWait.count.load(ordering: .relaxed)
            for number in 0..<Self.mostChurns where engine.readerWait.count.load(ordering: .relaxed) == before {
                try Self.replace(namespace, number)
            }
            #expect(engine.readerWait.count.load(ordering: .relaxed) > before, "no write was in need of pinned pages")
        }
    }

    /// Some of the tuples of one write have room, and the next one has none.
    @Test func aWriteOfManyWaitsForASnapshotInItsWay() async throws {
        let namespace = try SpaceTest.namespace(.guarded, byteLimit: Limits.smallestByteLimit)
        let engine = namespace.core.engine
        let isOver = Flag()
        try await churn(
            namespace,
            whileSnapshot: { engine.readerWait.count.load(ordering: .relaxed) == 0 && !isOver.isSet }
        ) {
            defer { isOver.set() }
            #expect(try namespace.takeAll(max: 700).count == 700)
            // A commit can't use what the last one has freed.
            try namespace.set("commit", 1)
            // As many as there is room for beside what the snapshot pins, and about 500 more.
            let content = [UInt8](repeating: 7, count: 4000)
            let room = (Limits.smallestByteLimit - engine.bytesInUse - Limits.removalReserve) / 4096
            try namespace.write(contentsOf: (0..<room + 500).map { Tuple("new", $0, content) })
            #expect(engine.readerWait.count.load(ordering: .relaxed) == 1)
        }
    }

    /// Few transactions are enough for it to be named, if they are large.
    @Test func aWriteOfManyNamesTheSnapshotInItsWay() async throws {
        let namespace = try SpaceTest.namespace(.guarded, byteLimit: Limits.smallestByteLimit)
        let engine = namespace.core.engine
        let isOver = Flag()
        try await churn(namespace, whileSnapshot: { !isOver.isSet }) {
            defer { isOver.set() }
            #expect(try namespace.takeAll(max: 700).count == 700)
            try namespace.set("commit", 1)
            let room = (Limits.smallestByteLimit - engine.bytesInUse - Limits.removalReserve) / 4096
            let content = [UInt8](repeating: 7, count: 4000)
            let refused = try refusal {
                try namespace.write(contentsOf: (0..<room + 500).map { Tuple("new", $0, content) })
            }
            #expect(refused.code == .limitReached)
            #expect(refused.holder == getpid(), "\(refused)")
        }
    }

    /// A write does not wait for ever: the error names the process whose snapshot is in the way.
    @Test func aWriteGivesUpOnASnapshotThatDoesNotEnd() async throws {
        let namespace = try SpaceTest.namespace(.guarded, byteLimit: Limits.smallestByteLimit)
        let isOver = Flag()
        try await churn(namespace, whileSnapshot: { !isOver.isSet }) {
            defer { isOver.set() }
            let refused = try refusal { for number in 0..<Self.mostChurns { try Self.replace(namespace, number) } }
            #expect(refused.code == .limitReached)
            #expect(refused.holder == getpid())
        }
        // Without the snapshot there is room.
        try namespace.write("kept", -1, [UInt8](repeating: 7, count: 4000))
    }

    private static let mostChurns = 20_000
    private static let kept = 900

    /// Writes one tuple and takes an older one: the data stay as large as they are, and pages are freed.
    private static func replace(_ namespace: Namespace, _ number: Int) throws {
        try namespace.write("kept", kept + number, [UInt8](repeating: 7, count: 4000))
        #expect(try namespace.takeIfExists("kept", number, any([UInt8].self)) != nil)
    }

    /// Fills a namespace to about half, and runs `body` while another thread holds a snapshot.
    private func churn(
        _ namespace: Namespace,
        whileSnapshot isWanted: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable () throws -> Void
    ) async throws {
        let content = [UInt8](repeating: 7, count: 4000)
        for number in 0..<Self.kept { try namespace.write("kept", number, content) }
        let isReading = Flag()
        async let reading: Void = onThread {
            try namespace.core.read { _ in
                isReading.set()
                while isWanted() { poll(nil, 0, 1) }
            }
        }
        async let writing: Void = onThread {
            while !isReading.isSet { poll(nil, 0, 1) }
            try body()
        }
        _ = try await (writing, reading)
    }
}

private final class Flag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
