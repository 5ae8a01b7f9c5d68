import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A value nested as deep as the limit is kept as it is; every call refuses a value that is nested deeper.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct DeepValueTests {
    let namespace: Namespace
    let deepest = Self.nested(TupleLimits.maximumDepth)
    let tooDeep = Self.nested(TupleLimits.maximumDepth + 1)

    init() throws { namespace = try SpaceTest.namespace("n") }

    private static func nested(_ depth: Int) -> Value { (0..<depth).reduce(1) { value, _ in .array([value]) } }

    private func expectRefused(_ what: Comment, _ body: () throws -> Void) {
        let error = #expect(throws: SpaceError.self, what) { try body() }
        #expect(error?.code == .badData && error?.reason.contains("nested deeper than 64 levels") == true, what)
    }

    private func expectRefused(_ what: Comment, _ body: () async throws -> Void) async {
        let error = await #expect(throws: SpaceError.self, what) { try await body() }
        #expect(error?.code == .badData && error?.reason.contains("nested deeper than 64 levels") == true, what)
    }

    @Test func cellsKeepTheDeepestAndRefuseWhatIsDeeper() throws {
        try namespace.set("k", deepest)
        #expect(try namespace.get("k") == deepest)
        expectRefused("set") { try namespace.set("k", tooDeep) }
        expectRefused("set if absent") { _ = try namespace.setIfAbsent("new", tooDeep) }
        expectRefused("set if equals") { _ = try namespace.set("k", tooDeep, ifEquals: deepest) }
        expectRefused("what is expected") { _ = try namespace.set("k", 1, ifEquals: tooDeep) }
        expectRefused("set a Codable value") { try namespace.set("k", tooDeep) }
        #expect(try namespace.cells().map(\.key) == ["k"] && namespace.get("k") == deepest)
    }

    @Test func transactionsRefuseWhatIsDeeper() throws {
        func refuse(_ what: Comment, _ body: (borrowing Transaction) throws -> Void) {
            expectRefused(what) {
                try namespace.transaction { t in
                    try t.write("before")
                    try body(t)
                }
            }
        }
        refuse("write") { t in try t.write("d", tooDeep) }
        refuse("set") { t in try t.set("k", tooDeep) }
        refuse("set if absent") { t in _ = try t.setIfAbsent("k", tooDeep) }
        refuse("what is expected") { t in _ = try t.set("k", 1, ifEquals: tooDeep) }
        refuse("post") { t in try t.post("n", tooDeep) }
        refuse("read") { t in _ = try t.readIfExists("d", tooDeep) }
        refuse("take") { t in _ = try t.takeIfExists("d", tooDeep) }
        refuse("claim") { t in _ = try t.claimIfExists("d", tooDeep) }
        #expect(try namespace.count() == 0 && namespace.cells().isEmpty)
    }

    @Test func queuesElectionsAndPostsRefuseWhatIsDeeper() async throws {
        let queue = namespace.queue("q")
        try queue.put(deepest)
        expectRefused("put") { try queue.put(tooDeep) }
        expectRefused("put a Codable value") { try queue.put(contentsOf: [tooDeep]) }
        guard let item = try queue.takeIfReady() else { throw TestFailure("nothing was put") }
        #expect(item.value == deepest)
        try item.complete()
        #expect(try queue.counts() == QueueCounts())
        let changes = try namespace.changes()
        try namespace.post("n", deepest)
        expectRefused("post") { try namespace.post("n", tooDeep) }
        #expect(try changes.now().map(\.new) == [deepest])
        let election = namespace.election("e")
        let leadership = try await election.stand(as: deepest)
        #expect(try election.leader()?.value == deepest)
        try leadership.release()
        await expectRefused("stand") { _ = try await election.stand(as: tooDeep) }
        #expect(try election.leader() == nil)
    }

    @Test func typedTemplatesRefuseWhatIsDeeper() async throws {
        try namespace.write("d", deepest)
        #expect(try namespace.readIfExists("d", deepest) != nil)
        expectRefused("read") { _ = try namespace.readIfExists("d", tooDeep) }
        expectRefused("take") { _ = try namespace.takeIfExists("d", tooDeep) }
        expectRefused("claim") { _ = try namespace.claimIfExists("d", tooDeep) != nil }
        await expectRefused("wait to read") { _ = try await namespace.read("d", tooDeep) }
        await expectRefused("wait to read in time") { _ = try await namespace.read("d", tooDeep, timeout: .zero) }
        await expectRefused("wait to take") { _ = try await namespace.take("d", tooDeep) }
        await expectRefused("wait to take in time") { _ = try await namespace.take("d", tooDeep, timeout: .zero) }
        await expectRefused("wait to claim") { _ = try await namespace.claim("d", tooDeep) }
        await expectRefused("wait to claim in time") {
            _ = try await namespace.claim("d", tooDeep, timeout: .zero) != nil
        }
        #expect(throws: TupleCodingError.self) { try Template(checking: ["d", tooDeep]) }
        #expect(throws: TupleCodingError.self) { _ = try Selection(checking: "d", tooDeep) }
        #expect(try Selection(checking: "d", any(Int.self)).matches(["d", 1]))
        #expect(try namespace.takeIfExists("d", deepest) != nil)
    }

    @Test func loadingRefusesWhatIsDeeper() throws {
        expectRefused("a cell") {
            try namespace.load(LoadedContents(cells: [DumpedCell(key: "k", value: tooDeep, expires: nil, holder: nil)]))
        }
        let item = QueueDump.Item(
            id: 1,
            value: tooDeep,
            priority: 0,
            readyTime: nil,
            group: nil,
            deliveries: 0,
            isBuried: false
        )
        var recipes = RecipesDump()
        recipes.queues = [QueueDump(name: "q", deliveries: 0, items: [item])]
        expectRefused("an item") { try namespace.load(LoadedContents(recipes: recipes)) }
        let set = CollectionDump(name: "s", kind: .orderedSet, elementType: "Value", elements: [tooDeep])
        expectRefused("an element") { try namespace.load(LoadedContents(collections: [set])) }
        #expect(try namespace.cells().isEmpty)
    }
}
