import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// What a call looks for as a value: prepared once, used with each verb, at once and waiting, in any namespace.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct SelectionTests {
    private struct Job: Codable, Equatable {
        var kind: String
        var id: Int
    }

    private let jobs: Namespace

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    @Test(arguments: StorageMode.allCases)
    func aPreparedSelectionServesEachVerbInEachNamespace(_ mode: StorageMode) async throws {
        let next = Selection("job", any(Int.self))
        for name in ["a", "b"] {
            let jobs = try SpaceTest.namespace(mode, name)
            for id in 1...9 { try jobs.write("job", id) }
            try jobs.write("other", 0)
            #expect(try jobs.count(matching: next) == 9)
            #expect(try jobs.readIfExists(matching: next)?.1 == 1)
            #expect(try jobs.readAll(matching: next, max: 2).map(\.1) == [1, 2])
            #expect(try jobs.takeIfExists(matching: next)?.1 == 1)
            #expect(try await jobs.take(matching: next).1 == 2)
            #expect(try await jobs.take(matching: next, order: .newestFirst, timeout: .zero)?.1 == 9)
            #expect(try claimed(next, in: jobs) == 3)
            #expect(try await jobs.claim(matching: next) { $0.1 } == 3)
            try jobs.transaction { t in
                #expect(try t.readIfExists(matching: next)?.1 == 4)
                #expect(try t.takeIfExists(matching: next)?.1 == 4)
                let held = try #require(try t.claimIfExists(matching: next))
                #expect(held.content.1 == 5)
                try t.complete(held.claim)
                #expect(try t.readAll(matching: next).map(\.1) == [6, 7, 8])
                #expect(try t.count(matching: next) == 3)
            }
            #expect(try jobs.takeAll(matching: next, max: 2).map(\.1) == [6, 7])
            #expect(try await jobs.takeAll(matching: next, timeout: .zero).map(\.1) == [8])
            #expect(try jobs.takeIfExists(matching: next) == nil)
            #expect(try await jobs.read(matching: next, timeout: .zero) == nil)
            #expect(try jobs.readAll() == [["other", 0]])
        }
    }

    /// The number in the tuple that is claimed, and released.
    private func claimed(_ next: Selection<(String, Int)>, in jobs: Namespace) throws -> Int? {
        guard let claim = try jobs.claimIfExists(matching: next) else { return nil }
        return claim.content.1
    }

    @Test func aWaitOfEachKindEndsWithTheContent() async throws {
        let next = Selection("job", any(Int.self))
        async let read = jobs.read(matching: next)
        #expect(try await eventually { try jobs.status().waiters.count == 1 })
        try jobs.write("job", 1)
        #expect(try await read.1 == 1)
        #expect(try jobs.takeIfExists(matching: next)?.1 == 1)
        async let taken = jobs.take(matching: next, timeout: watchdog)
        #expect(try await eventually { try jobs.status().waiters.count == 1 })
        try jobs.write("job", 4)
        #expect(try await taken?.1 == 4)
        async let claimed = jobs.claim(matching: .record(Job.self, ["kind": "resize"])) { $0.id }
        let blocked = Task { [jobs] in
            try await onThread { try jobs.take(matching: next, timeout: watchdog)?.1 }
        }
        #expect(try await eventually { try jobs.status().waiters.count == 2 })
        try jobs.write(record: Job(kind: "resize", id: 2))
        try jobs.write("job", 3)
        #expect(try await claimed == 2)
        #expect(try await blocked.value == 3)
        #expect(try jobs.count() == 0)
    }

    /// A match that is no content of the selection is an error, and stays where it is; so does a batch with one.
    @Test func whatDoesNotDecodeStays() async throws {
        try jobs.write(record: Job(kind: "resize", id: 1))
        try jobs.write(tuple: ["kind": "resize", "id": "two"])
        let wrong = Selection.record(Job.self, ["id": "two"])
        #expect(throws: SpaceError.self) { try jobs.takeIfExists(matching: wrong) }
        #expect(throws: SpaceError.self) { _ = try jobs.claimIfExists(matching: wrong) }
        #expect(throws: SpaceError.self) { try jobs.takeAll(matching: .record(Job.self, .any)) }
        await #expect(throws: SpaceError.self) { try await jobs.take(matching: wrong) }
        let error = #expect(throws: SpaceError.self) { try jobs.readIfExists(matching: wrong) }
        #expect(error?.code == .badData)
        #expect(throws: SpaceError.self) {
            try jobs.transaction { t in _ = try t.takeIfExists(matching: wrong) }
        }
        #expect(try jobs.count() == 2)
        #expect(try jobs.matches(.any).map(\.deliveries) == [0, 0])
    }

    @Test func aClaimOfFieldsHasTheWholeTuple() throws {
        for text in ["short", String(repeating: "x", count: 2000)] {
            let tuple = Tuple("job", 7, text)
            try jobs.write(tuple: tuple)
            let claim = try #require(try jobs.claimIfExists("job", any(Int.self), any(String.self))?.detach())
            #expect(claim.tuple == tuple)
            try jobs.complete(claim)
        }
    }

    // MARK: Any of several templates

    private let some = Template.anyOf(["a", .any], ["b"], ["kind": "c"])

    private func writeSome() throws {
        for tuple in [["x"], ["b"], ["a", 1], ["b", 2]] as [Tuple] { try jobs.write(tuple: tuple) }
        try jobs.write(tuple: Tuple(json: #"{"kind":"c","n":1}"#))
    }

    @Test func aChoiceIsATemplateForEachVerb() throws {
        try writeSome()
        #expect(try jobs.count(matching: some) == 3)
        #expect(
            try jobs.readAll(matching: some).map(\.description) == [#"["b"]"#, #"["a",1]"#, #"{"kind":"c","n":1}"#]
        )
        #expect(try jobs.readAll(matching: some, order: .newestFirst, max: 1).map(\.isRecord) == [true])
        let claim = try #require(try jobs.claimIfExists(matching: some)?.detach())
        #expect(claim.tuple == ["b"])
        #expect(try jobs.readIfExists(matching: some) == ["a", 1])
        try jobs.bury(claim)
        #expect(try jobs.buried(matching: some).map(\.tuple) == [["b"]])
        #expect(try jobs.buried(matching: .anyOf(["a", .any], ["x"])).isEmpty)
        #expect(try jobs.kick(matching: some) == 1)
        try jobs.transaction { t in
            let taken = try t.takeIfExists(matching: some)
            #expect(try taken == ["b"] && t.count(matching: some) == 2)
        }
        #expect(try jobs.takeAll(matching: some).count == 2)
        #expect(try jobs.readAll() == [["x"], ["b", 2]])
    }

    @Test func aChoiceFiltersChanges() async throws {
        let changes = try jobs.changes(ChangeFilter(tuples: some, kinds: [.write]))
        try writeSome()
        var seen: [String] = []
        for try await change in changes {
            seen.append(change.tuple?.json ?? "-")
            if seen.count == 3 { break }
        }
        #expect(seen == [#"["b"]"#, #"["a",1]"#, #"{"kind":"c","n":1}"#])
    }

    @Test func aChoiceOfOneIsThatTemplate() throws {
        #expect(Template.anyOf(["a", 1]).json == #"["a",1]"#)
        #expect(some.json == #"["a","?"] or ["b"] or {"kind":"c"}"#)
        #expect(some.matches(["b"]) && !some.matches(["c"]))
        let record: Template = ["kind": "c"]
        #expect(record.matches(try Tuple(json: #"{"kind":"c","n":1}"#)))
        #expect(!Template.anyOf(record, ["b"]).exactly().matches(try Tuple(json: #"{"kind":"c","n":1}"#)))
    }

    @Test func aChoiceOfNoneIsRefusedAndMatchesNothing() async throws {
        try writeSome()
        let none = Template.anyOf([])
        #expect(try jobs.count(matching: none) == 0)
        let error = #expect(throws: SpaceError.self) { try jobs.takeIfExists(matching: none) }
        #expect(error?.code == .invalidArgument)
        await #expect(throws: SpaceError.self) { try await jobs.take(matching: none) }
        await #expect(throws: SpaceError.self) { try await jobs.takeAll(matching: none, timeout: nil) }
        #expect(throws: SpaceError.self) { try jobs.readAll(matching: none) }
        #expect(throws: SpaceError.self) { try jobs.transaction { t in _ = try t.takeIfExists(matching: none) } }
        #expect(try jobs.count() == 5)
    }

    @Test func aChoiceIsNoElementOfAnotherTemplate() {
        let error = #expect(throws: TupleCodingError.self) { try Template(checking: ["x", some]) }
        #expect(error?.description.contains("any of several") ?? false)
    }
}
