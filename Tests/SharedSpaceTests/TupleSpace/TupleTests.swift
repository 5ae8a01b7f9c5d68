import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Writing, reading, taking and counting, the same in every mode.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct TupleTests {
    private struct Job: Codable, Equatable {
        var kind: String
        var id: Int
        var file: String?
    }

    @Test(arguments: StorageMode.allCases)
    func writesReadsAndTakes(_ mode: StorageMode) throws {
        let jobs = try SpaceTest.namespace(mode)
        #expect(jobs.mode == mode)
        try jobs.write("resize", 42, "cat.png")
        try jobs.write("resize", 43, "dog.png")
        #expect(try jobs.count() == 2)
        let read = try #require(try jobs.readIfExists("resize", any(Int.self), any(String.self)))
        #expect(read.1 == 42 && read.2 == "cat.png")
        let taken = try #require(try jobs.takeIfExists("resize", any(Int.self), any(String.self)))
        #expect(taken.1 == 42 && taken.2 == "cat.png")
        #expect(try jobs.takeIfExists("resize", 42, any(String.self)) == nil)
        #expect(try jobs.takeIfExists(matching: ["resize", 43, .any]) == ["resize", 43, "dog.png"])
        #expect(try jobs.count() == 0)
    }

    @Test(arguments: StorageMode.allCases)
    func everyKindOfFieldComesBack(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        let tuples: [Tuple] = [
            [], ["a"], [1, 2.5, true, false], ["é", "e\u{301}", ""], [Int.min, Int.max, 0, -1],
            try Tuple(json: #"[null, [1, [2]], {"a": {"b": 1}}, {"$base64": "AP8="}, {"$double": "nan"}, -0.0]"#),
            try Tuple(json: #"{"kind": "resize", "id": 42, "tags": ["a", "b"]}"#), [:],
        ]
        for tuple in tuples { try namespace.write(tuple: tuple) }
        #expect(try namespace.readAll() == tuples)
        for tuple in tuples { #expect(try namespace.takeIfExists(matching: Template(tuple).exactly()) == tuple) }
        #expect(try namespace.count() == 0)
    }

    @Test(arguments: StorageMode.allCases)
    func longTuplesComeBackInEveryForm(_ mode: StorageMode) async throws {
        let namespace = try SpaceTest.namespace(mode)
        let text = String(repeating: "é", count: 3000)
        for content in [[UInt8](repeating: 0xff, count: 5000), [UInt8](repeating: 0, count: 5000), Array(1...200)] {
            func write() throws { try namespace.write("long", content, text) }
            try write()
            let read = try #require(try namespace.readIfExists("long", any([UInt8].self), any(String.self)))
            #expect(read.1 == content && read.2 == text)
            #expect(try namespace.readIfExists(matching: .any, order: .newestFirst) == Tuple("long", content, text))
            let waited = try await namespace.read("long", any([UInt8].self), any(String.self))
            #expect(waited.1 == content && waited.2 == text)
            let taken = try #require(try namespace.takeIfExists("long", any([UInt8].self), any(String.self)))
            #expect(taken.1 == content && taken.2 == text)
            #expect(try namespace.count() == 0)
            try write()
            #expect(try namespace.takeIfExists(matching: ["long", .any, .any]) == Tuple("long", content, text))
            try write()
            guard let claim = try namespace.claimIfExists("long", any([UInt8].self), any(String.self)) else {
                Issue.record("nothing to claim")
                return
            }
            #expect(claim.content.1 == content && claim.content.2 == text)
            try claim.release()
            #expect(try namespace.takeIfExists("long", content, text) != nil)
            #expect(try namespace.count() == 0)
        }
    }

    /// Bytes that must end with 1, and that look into the namespace while they are decoded.
    private struct Picky: TupleField {
        @TaskLocal static var namespace: Namespace?
        static var fieldType: FieldType { .bytes }
        var bytes: [UInt8]

        func encode(into encoder: inout TupleEncoder) { bytes.encode(into: &encoder) }

        static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Picky {
            let bytes: [UInt8] = try decoder.decode()
            // Nothing is left, so this throws.
            if bytes.last != 1 || (try? namespace?.count(matching: ["other"])) != 1 { _ = try decoder.decodeInt() }
            return Picky(bytes: bytes)
        }
    }

    @Test(arguments: StorageMode.allCases)
    func aLongTupleThatDoesNotDecodeStaysInPlace(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        let bytes = [UInt8](repeating: 1, count: 5000)
        try namespace.write("long", bytes + [0])
        try namespace.write("other")
        try Picky.$namespace.withValue(namespace) {
            #expect(throws: SpaceError.self) { try namespace.takeIfExists("long", any(Picky.self)) }
            #expect(throws: SpaceError.self) { try namespace.readIfExists("long", any(Picky.self)) }
            #expect(throws: SpaceError.self) { _ = try namespace.claimIfExists("long", any(Picky.self)) }
            #expect(try namespace.takeIfExists("long", any([UInt8].self))?.1 == bytes + [0])
            try namespace.write("long", bytes)
            #expect(try namespace.takeIfExists("long", any(Picky.self))?.1.bytes == bytes)
        }
        #expect(try namespace.count() == 1)
    }

    @Test(arguments: StorageMode.allCases)
    func recordsAreMatchedByWhatTheyHave(_ mode: StorageMode) throws {
        let jobs = try SpaceTest.namespace(mode)
        let first = Job(kind: "resize", id: 1, file: "cat.png")
        try jobs.write(record: first)
        try jobs.write(record: Job(kind: "crop", id: 2))
        #expect(try jobs.readIfExists(matching: .record(Job.self, ["kind": "crop"]))?.id == 2)
        #expect(try jobs.takeIfExists(matching: .record(Job.self, ["id": 1, "file": .any])) == first)
        #expect(try jobs.takeIfExists(matching: .record(Job.self, ["file": .any])) == nil)
        #expect(try jobs.count(matching: ["kind": .any]) == 1)
    }

    @Test(arguments: StorageMode.allCases)
    func batchesAreWholeOrNothing(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        let ids = try namespace.write(contentsOf: (0..<1000).map { Tuple("n", $0) })
        #expect(ids == ids.sorted() && Set(ids).count == 1000)
        // These bytes are no valid encoding, which would take long at this size: the size is checked first.
        let large = Tuple(trusting: [UInt8](repeating: 1, count: Limits.valueBytes + 1), isRecord: false)
        let error = #expect(throws: SpaceError.self) { try namespace.write(contentsOf: [["n", 1000], large]) }
        #expect(error?.code == .tooLarge)
        #expect(try namespace.write(contentsOf: [Tuple]()) == [])
        #expect(try namespace.count() == 1000)
        #expect(try namespace.takeAll(matching: ["n", .any], max: 10).map { $0[1] } == (0..<10).map { .int($0) })
        #expect(
            try namespace.takeAll(matching: ["n", .any], order: .newestFirst, max: 2) == [["n", 999], ["n", 998]]
        )
        #expect(try namespace.takeAll(max: 0) == [])
        #expect(try namespace.takeAll().count == 988)
        #expect(try namespace.takeAll() == [])
    }

    @Test(arguments: StorageMode.allCases)
    func largeValuesComeBack(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        for size in [0, 1, 2000, 2048, 4096, 100_000, 5_000_000] {
            let body = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
                for index in 0..<size { bytes.initializeElement(at: index, to: UInt8(truncatingIfNeeded: index &* 31)) }
                count = size
            }
            try namespace.write("body", body)
            try namespace.set("body", body)
            #expect(try namespace.takeIfExists("body", any([UInt8].self))?.1 == body)
            #expect(try namespace.get("body") == .bytes(body))
        }
    }

    @Test(arguments: StorageMode.allCases)
    func cellsAreSetComparedAndCounted(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        #expect(try namespace.get("a") == nil)
        #expect(try namespace.set("a", 1) == nil)
        #expect(try namespace.set("a", 2) == 1)
        #expect(try namespace.set("a", 4, ifEquals: 3) == false)
        #expect(try namespace.set("a", 3, ifEquals: 2))
        // Values must be equal in type, not only in number.
        #expect(try namespace.set("a", 4, ifEquals: 3.0) == false)
        #expect(try namespace.set("b", 1, ifEquals: Value.null) == false)
        #expect(try namespace.setIfAbsent("b", "x"))
        #expect(try namespace.setIfAbsent("b", "y") == false)
        #expect(try namespace.increment("a", by: 39) == 42)
        #expect(try namespace.increment("new") == 1)
        #expect(try namespace.cells().map(\.key) == ["a", "b", "new"])
        var error = #expect(throws: SpaceError.self) { try namespace.increment("b") }
        #expect(error?.code == .badData)
        try namespace.set("most", Int.max)
        error = #expect(throws: SpaceError.self) { try namespace.increment("most") }
        #expect(error?.code == .badData)
        #expect(try namespace.get("most") == .int(.max))
        #expect(try namespace.unset("b") == "x")
        #expect(try namespace.unset("b") == nil)
        try namespace.set("job", Job(kind: "crop", id: 1))
        #expect(try namespace.get("job", as: Job.self) == Job(kind: "crop", id: 1))
        error = #expect(throws: SpaceError.self) { try namespace.get("a", as: Job.self) }
        #expect(error?.code == .badData)
        for key in ["", String(repeating: "k", count: Limits.cellKeyBytes + 1)] {
            error = #expect(throws: SpaceError.self) { try namespace.set(key, 1) }
            #expect(error?.code == .tooLarge)
        }
        try namespace.set(String(repeating: "k", count: Limits.cellKeyBytes), 1)
    }

    @Test(arguments: StorageMode.allCases)
    func claimsAreCompletedOrComeBack(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        try namespace.write(contentsOf: (0..<4).map { Tuple("job", $0) })
        let claims = try namespace.claimBriefly(matching: ["job", .any], max: 3)
        #expect(claims.map(\.tuple) == [["job", 0], ["job", 1], ["job", 2]])
        #expect(try namespace.readAll() == [["job", 3]])
        #expect(try namespace.status().claims.count == 3)
        #expect(try namespace.verify() == [])
        try namespace.complete([claims[1]])
        try namespace.release([claims[2], claims[0]])
        #expect(try namespace.readAll() == [["job", 0], ["job", 2], ["job", 3]])
        // All claims are completed, or none.
        let again = try namespace.claimBriefly(matching: ["job", 0])
        let error = #expect(throws: SpaceError.self) { try namespace.complete(again + [claims[2]]) }
        #expect(error?.code == .claimLost)
        #expect(try namespace.status().claims.count == 1)
        try namespace.complete(again)
        #expect(try namespace.readAll() == [["job", 2], ["job", 3]])
    }

    @Test(arguments: StorageMode.allCases)
    func tuplesExpire(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        try namespace.write("never", expires: .zero)
        #expect(try namespace.count() == 0)
        try namespace.write("late", expires: .seconds(1 << 40))
        try namespace.write("always")
        // The last write of these: the next writer would remove the tuple if it had expired already.
        try namespace.write("soon", expires: .milliseconds(40))
        #expect(try namespace.count() >= 2)
        // An expired tuple is invisible before a writer has removed it.
        #expect(try eventually { try namespace.readIfExists("soon") == nil })
        #expect(try namespace.count() == 2)
        #expect(try namespace.readAll() == [["late"], ["always"]])
        #expect(try namespace.takeIfExists("soon") == nil)
        #expect(try namespace.status().tuples == 3)
        // The next writer removes it.
        try namespace.write("next")
        #expect(try namespace.status().tuples == 3)
        #expect(try namespace.takeAll().count == 3)
    }

    /// A tuple that is claimed and comes back keeps its expiry.
    @Test func aClaimedTupleKeepsItsExpiry() throws {
        let namespace = try SpaceTest.namespace("n")
        // A tuple that expires before it is claimed shows nothing here; the next one lives longer.
        var life = Duration.milliseconds(30)
        var claims: [HeldClaim] = []
        while claims.isEmpty {
            try namespace.write("job", expires: life)
            claims = try namespace.claimBriefly(matching: ["job"])
            life *= 2
        }
        #expect(try namespace.verify() == [])
        try namespace.release(claims)
        #expect(try namespace.verify() == [])
        #expect(try eventually { try namespace.count() == 0 })
        try namespace.write("next")
        #expect(try namespace.status().tuples == 1)
    }

    @Test func theOneLinersMeetInTheSameNamespace() async throws {
        let root = try TemporaryRoot()
        try root.space["App"].write("resize", 42)
        let other = try Space(root: root.path)
        #expect(try other["App"].readIfExists("resize", any(Int.self))?.1 == 42)
        #expect(try await other["App"].take("resize", any(Int.self)).1 == 42)
        #expect(try root.space["App"].takeIfExists("resize", any(Int.self)) == nil)
        // A look owns nothing, a write does.
        try other["App"].write("resize", 43)
        try root.space["App"].letGo()
        #expect(try root.space.namespaceNames() == ["App"])
        try other["App"].letGo()
        #expect(try root.space.namespaceNames() == [])
    }
}
