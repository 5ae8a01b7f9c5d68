import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The changes that handlers are told, and the options that they are told with.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ObservingTests {
    let jobs: Namespace

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    @Test func everyChangeComesOnceInOrder() async throws {
        let told = Told()
        let token = try jobs.observe(.everything) { told.note($0) }
        try jobs.write("a", 1)
        _ = try jobs.takeIfExists("a", any(Int.self))
        for number in 0..<1000 { try jobs.set("k", number) }
        try jobs.unset("k")
        try jobs.post("hello", "you")
        #expect(try await eventually { told.count == 1004 })
        let changes = told.changes
        try #require(changes.count == 1004)
        #expect(changes.map(\.sequence) == Array(changes[0].sequence..<changes[0].sequence + 1004))
        #expect(changes[0].tuple == ["a", 1] && changes[3].old == 0 && changes[3].new == 1)
        #expect(changes[1003].kind == .post && changes[1003].new == "you")
        token.cancel()
        #expect(!token.isActive)
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    /// The changes are read in few looks, each of which has some changes for every observer.
    @Test func eachIsToldOfWhatConcernsIt() async throws {
        let told = (0..<3).map { _ in Told() }
        let filters: [ChangeFilter] = [.tuples(["a", .any]), .tuples(["b", .any]), .everything]
        let tokens = try zip(filters, told).map { filter, told in try jobs.observe(filter) { told.note($0) } }
        let tuples = (0..<600).map { Tuple($0 % 3 == 0 ? "a" : $0 % 3 == 1 ? "b" : "c", $0) }
        try jobs.write(contentsOf: tuples)
        #expect(try await eventually { told.map(\.count) == [200, 200, 600] })
        #expect(told[0].changes.map(\.tuple) == tuples.indices.filter { $0 % 3 == 0 }.map { tuples[$0] })
        #expect(told[1].changes.map(\.tuple) == tuples.indices.filter { $0 % 3 == 1 }.map { tuples[$0] })
        #expect(told[2].changes.map(\.tuple) == tuples)
        for token in tokens { token.cancel() }
    }

    /// Every combination of the four options: old, new, prior and initial.
    @Test(arguments: (0..<16).map { ObservationOptions(rawValue: $0) })
    func theOptionsDecideWhatACallBrings(_ options: ObservationOptions) async throws {
        try jobs.set("k", 1)
        let told = Told()
        let token = try jobs.observe("k", options: options) { told.note($0) }
        try jobs.set("k", 2)
        try jobs.unset("k")
        var expected: [[Value?]] = []
        let (old, new) = (options.contains(.old), options.contains(.new))
        if options.contains(.initial) { expected.append([nil, new ? 1 : nil, false, true]) }
        for (before, after) in [(1, 2), (2, nil)] as [(Value, Value?)] {
            if options.contains(.prior) { expected.append([old ? before : nil, nil, true, false]) }
            expected.append([old ? before : nil, new ? after : nil, false, false])
        }
        #expect(try await eventually { told.count >= expected.count })
        #expect(told.changes.map { [$0.old, $0.new, .bool($0.isPrior), .bool($0.isPresent)] } == expected)
        token.cancel()
    }

    @Test func aPathIsToldOfItsPartAlone() async throws {
        try jobs.set("user", ["name": "Ada", "age": 36] as Value)
        let told = Told()
        let token = try jobs.observe("user.name", options: [.initial, .old, .new]) { told.note($0) }
        try jobs.set("user", ["name": "Ada", "age": 37] as Value)
        try jobs.set("user", ["name": "Grace", "age": 37] as Value)
        try jobs.set("user", ["age": 38] as Value)
        try jobs.set("user", ["age": 39] as Value)
        try jobs.unset("user")
        try jobs.set("user", ["name": "Joan"] as Value)
        #expect(try await eventually { told.count >= 4 })
        #expect(told.changes.map(\.old) == [nil, "Ada", "Grace", nil])
        #expect(told.changes.map(\.new) == ["Ada", "Grace", nil, "Joan"])
        #expect(told.changes.allSatisfy { $0.key == "user" })
        token.cancel()
    }

    private struct User: Codable, Equatable { var name: String }

    @Test func aTypedCellIsToldDecoded() async throws {
        let (told, parts, errors) = (Slot<[String]>(), Slot<[String]>(), Slot<[String]>())
        (told.value, parts.value, errors.value) = ([], [], [])
        let token = try jobs.observe(
            cell: "user",
            as: User.self,
            options: [.initial, .old, .new],
            onError: { errors.value?.append("\($0)") }
        ) { old, new in told.value?.append("\(old?.name ?? "-") \(new?.name ?? "-")") }
        let part = try jobs.observe(cell: "user.name", as: String.self) { values in
            parts.value?.append(values.new ?? "-")
        }
        try jobs.set("user", User(name: "Ada"))
        #expect(try await eventually { told.value?.count == 2 && parts.value?.count == 1 })
        try jobs.set("user", 7)
        #expect(try await eventually { errors.value?.count == 1 && parts.value?.count == 2 })
        try jobs.unset("user")
        #expect(try await eventually { errors.value?.count == 2 })
        #expect(told.value == ["- -", "- Ada"] && parts.value == ["Ada", "-"])
        #expect(errors.value?.first?.contains("observe the cell \"user\"") == true, "\(errors.value ?? [])")
        token.cancel()
        part.cancel()
    }

    /// Filters of every kind are used side by side, and no observer is told of a change outside its filter.
    @Test func filtersFindTheirChanges() async throws {
        let filters: [(ChangeFilter, [String])] = [
            (.tuples(["a", .any]), ["a1", "a2"]), (.tuples(["a", 2]), ["a2"]), (.tuples([.any, 2]), ["a2", "b2"]),
            (.tuples([.any, .any]), ["a1", "a2", "b2"]), (.tuples(.any), ["a1", "a2", "b2", "record"]),
            (.tuples(["kind": "x"]), ["record"]), (.tuples(["kind": .any]), ["record"]), (.cell("k"), ["k"]),
            (.cell("k.x"), ["k.x"]), (.cells(), ["k", "k.x", "l"]), (.notification("n"), ["n"]),
            (.notifications(), ["n", "m"]), (ChangeFilter(cells: .all, kinds: [.unset]), []),
        ]
        let told = filters.map { _ in Told() }
        let bag = ObservationBag()
        for ((filter, _), told) in zip(filters, told) { bag.add(try jobs.observe(filter) { told.note($0) }) }
        try jobs.write("a", 1)
        try jobs.write("a", 2)
        try jobs.write("b", 2)
        try jobs.write(record: ["kind": "x", "id": "7"])
        try jobs.set("k", 1)
        try jobs.set("k.x", 1)
        try jobs.set("l", 1)
        try jobs.post("n")
        try jobs.post("m")
        let marks = Told()
        bag.add(try jobs.observe("end") { marks.note($0) })
        try jobs.set("end", 1)
        // An observer that is told of the last change, after all the others, was told of all before it.
        #expect(try await eventually { marks.count == 1 })
        for (told, (filter, expected)) in zip(told, filters) {
            let expected = expected + (filter.cells == .all && filter.kinds == nil ? ["end"] : [])
            #expect(try await eventually { told.count >= expected.count })
            let names = told.changes.map { change in
                change.key ?? change.tuple.map { $0.isRecord ? "record" : "\($0[0])\($0[1])" } ?? ""
            }
            #expect(names.map { $0.replacing("\"", with: "") } == expected, "\(filter)")
        }
    }

    /// An observer is told the value at first and then each change, without a gap or a repetition.
    @Test func theInitialValueJoinsTheChanges() async throws {
        let jobs = jobs
        try jobs.set("n", 0)
        let isDone = Slot<Bool>()
        async let writing: Void = onThread {
            while isDone.value == nil { try jobs.increment("n") }
            try jobs.increment("n")
        }
        // Otherwise a failure would wait for the writer, which waits for the end.
        defer { isDone.value = true }
        for _ in rounds(100) {
            let told = Told()
            let token = try jobs.observe("n", options: [.initial, .new]) { told.note($0) }
            #expect(try await eventually { told.count >= 5 })
            token.cancel()
            // Reads the changes once, because a call that has begun may still note something.
            let changes = told.changes
            let numbers = changes.map { change in if case .int(let number) = change.new { number } else { -1 } }
            #expect(
                numbers == Array(numbers[0]..<numbers[0] + numbers.count),
                "\(changes.prefix(3).map { ($0.kind, $0.sequence, $0.lastSequence) })"
            )
            #expect(changes.map(\.isPresent) == [true] + Array(repeating: false, count: numbers.count - 1))
        }
        isDone.value = true
        try await writing
    }

    /// Observers that register while others write begin with the change after their registration.
    @Test func nothingAfterTheRegistrationIsMissed() async throws {
        let jobs = jobs
        let isDone = Slot<Bool>()
        let always = Told()
        let first = try jobs.observe(.everything) { always.note($0) }
        // The number of changes stays within the journal's bound, however long the registrations take.
        async let writing: Void = onThread { for _ in 0..<20_000 where isDone.value == nil { try jobs.increment("n") } }
        var late: [(Told, UInt64, ObservationToken)] = []
        for _ in 0..<100 {
            let told = Told()
            let before = try jobs.status().sequence
            late.append((told, before, try jobs.observe("n") { told.note($0) }))
        }
        isDone.value = true
        try await writing
        try jobs.increment("n")
        let last = try jobs.status().sequence
        #expect(try await eventually { always.last?.sequence == last })
        for (told, before, token) in late {
            #expect(try await eventually { told.last?.sequence == last })
            let sequences = told.changes.map(\.sequence)
            #expect(sequences == Array(sequences[0]...last) && sequences[0] > before)
            token.cancel()
        }
        #expect(always.changes.map(\.sequence) == Array(always.changes[0].sequence...last))
        first.cancel()
    }

    /// Of a thousand observers, a change asks only the one that it may concern.
    @Test func aChangeAsksOnlyThoseItMayConcern() async throws {
        let told = Told()
        let bag = ObservationBag()
        for number in 0..<1000 {
            let filter: ChangeFilter =
                number % 2 == 0 ? .cell("k\(number)") : .tuples(["job", number, .any])
            bag.add(try jobs.observe(filter) { told.note($0) })
        }
        #expect(bag.count == 1000)
        let before = jobs.filterEvaluations
        for number in 0..<100 {
            try jobs.set("k\(number * 2)", 1)
            try jobs.write("job", number * 2 + 1, "x")
        }
        #expect(try await eventually { told.count == 200 })
        // A busy observer asks its own filter once more for changes that came meanwhile; none of these observers is
        // told of more than one change.
        #expect(jobs.filterEvaluations - before < 1000)
        bag.stopObserving()
        #expect(try await eventually { try jobs.status().watchers == [] })
    }
}
