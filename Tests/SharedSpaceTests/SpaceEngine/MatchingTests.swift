import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Finding tuples by any bound fields, with and without an index.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct MatchingTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    @Test func anyFieldCanBeBound() throws {
        try namespace.write("a", 1, "x")
        try namespace.write("a", 2, "y")
        try namespace.write("b", 2, "x")
        try namespace.write("a", 2)
        #expect(try namespace.count(matching: ["a", .any, .any]) == 2)
        #expect(try namespace.count(matching: [.any, 2, .any]) == 2)
        #expect(try namespace.count(matching: [.any, .any, "x"]) == 2)
        #expect(try namespace.count(matching: [.any, 2, "x"]) == 1)
        #expect(try namespace.count(matching: [.any, .any]) == 1)
        #expect(try namespace.count(matching: [.any]) == 0)
        #expect(try namespace.count(matching: .any) == 4)
        #expect(try namespace.readIfExists(any(String.self), 2, "x")?.0 == "b")
        // Types must match too: 1 is neither 1.0 nor a string.
        #expect(try namespace.count(matching: [.any, 1.0, .any]) == 0)
        #expect(try namespace.readIfExists(any(Int.self), any(Int.self)) == nil)
    }

    /// In the near end, in LMDB, and for those that wait.
    @Test func aRestIsOfAnyLength() async throws {
        for writesFar in [false, true] {
            if writesFar {
                try namespace.transaction { t in
                    for tuple in [["job", 1], ["job", 2, "a", [3]], ["job"], ["jog", 1]] as [Tuple] {
                        try t.write(tuple: tuple)
                    }
                }
            } else {
                try namespace.write("job", 1)
                try namespace.write("job", 2, "a", [3])
                try namespace.write("job")
                try namespace.write("jog", 1)
            }
            #expect(try namespace.count(matching: ["job", .any, .rest]) == 2)
            #expect(try namespace.count(matching: ["job", .rest]) == 3)
            #expect(try namespace.count(matching: [.rest]) == 4)
            let (_, id, rest) = try #require(
                try namespace.takeIfExists("job", any(Int.self), .rest, order: .newestFirst)
            )
            #expect(id == 2 && rest == ["a", [3]])
            #expect(try namespace.readIfExists("job", any(Int.self), .rest)?.2 == [])
            #expect(try namespace.takeAll().count == 3)
        }
        async let waiting = namespace.take("a", any(Int.self), .rest)
        try namespace.write("a")
        try namespace.write("a", 5, 6, 7)
        #expect(try await waiting.2 == [6, 7])
        #expect(try namespace.count() == 1)
    }

    @Test func rangesAndPatternsFilter() throws {
        for number in 0..<100 { try namespace.write("n", number, "file\(number).\(number % 2 == 0 ? "png" : "jpg")") }
        #expect(try namespace.takeIfExists("n", 40..<50, any(String.self))?.1 == 40)
        #expect(try namespace.takeIfExists("n", 40...40, any(String.self)) == nil)
        #expect(try namespace.count(matching: ["n", 90..., .any]) == 10)
        #expect(try namespace.count(matching: try Template(json: #"["n", "?int", "?/9\\.jpg$/"]"#)) == 10)
        #expect(try namespace.count(matching: try Template(json: #"["n", "?0...9", "?/png/"]"#)) == 5)
    }

    @Test func theOrderIsThatOfWriting() throws {
        for number in [3, 1, 2] { try namespace.write("n", number) }
        #expect(try namespace.readAll(matching: ["n", .any]) == [["n", 3], ["n", 1], ["n", 2]])
        #expect(try namespace.readAll(matching: ["n", .any], order: .newestFirst, max: 2) == [["n", 2], ["n", 1]])
        #expect(try namespace.takeIfExists("n", any(Int.self), order: .newestFirst)?.1 == 2)
        #expect(try namespace.takeIfExists("n", any(Int.self))?.1 == 3)
        // A released tuple is back in its old place.
        let claims = try namespace.claimBriefly(matching: ["n", 1])
        try namespace.write("n", 4)
        try namespace.release(claims)
        #expect(try namespace.readAll() == [["n", 1], ["n", 4]])
    }

    @Test func readAllSeesOneMoment() async throws {
        // Two tuples are always changed together, so no snapshot has one change without the other.
        try namespace.write(contentsOf: [["pair", 0], ["pair", 0]])
        let namespace = namespace
        let writer = Task.detached {
            for number in 1...2000 {
                let old = try namespace.takeAll(matching: ["pair", .any])
                guard old.count == 2 else { throw TestFailure("took \(old)") }
                try namespace.write(contentsOf: [["pair", number], ["pair", number]])
            }
        }
        var looks = 0
        while looks < 2000 {
            let pair = try namespace.readAll(matching: ["pair", .any])
            guard pair.isEmpty || pair.count == 2 && pair[0] == pair[1] else {
                Issue.record("saw \(pair)")
                break
            }
            looks += 1
        }
        try await writer.value
    }

    /// Takes by a field that no index knows earn one; while it is built and afterwards, results equal those of a look
    /// through all tuples.
    @Test func aShapeEarnsAnIndex() throws {
        let count = 6000
        try namespace.write(contentsOf: (0..<count).map { Tuple("job", $0 % 3000, "body \($0)") })
        #expect(try namespace.status().shapes == [])
        // Reads never earn an index.
        for number in 0..<10 { _ = try namespace.readIfExists(any(String.self), 2990 + number, any(String.self)) }
        #expect(try namespace.status().shapes == [])

        var states: Set<String> = []
        var taken = 0
        for number in stride(from: 2999, to: 2900, by: -1) {
            let first = try namespace.takeIfExists(any(String.self), number, any(String.self))
            #expect(first?.2 == "body \(number)")
            taken += 1
            for shape in try namespace.status().shapes { states.insert(shape.state) }
            // Tuples written while the index is built lie above its watermark, and are found after older ones.
            if number % 20 == 0 {
                try namespace.write("job", number, "again \(number)")
                #expect(try namespace.count(matching: [.any, number, .any]) == 2)
                let last = try namespace.takeIfExists(any(String.self), number, any(String.self), order: .newestFirst)
                #expect(last?.2 == "again \(number)")
            }
            if taken % 10 == 0 { #expect(try namespace.verify() == []) }
        }
        #expect(states.contains("building") && states.contains("ready"))
        #expect(try namespace.status().shapes.map(\.state) == ["ready"])

        // Compares matches found by the index with matches by a range of one value, which always looks through all
        // tuples.
        for number in stride(from: 0, to: 2900, by: 371) {
            let indexed: Template = [.any, number, .any]
            let scanned: Template = [.any, number...number, .any]
            for order in [MatchOrder.oldestFirst, .newestFirst] {
                let byIndex = try namespace.readAll(matching: indexed, order: order)
                #expect(try byIndex == namespace.readAll(matching: scanned, order: order))
                #expect(byIndex.count == 2)
            }
        }
        // Writes, takes, claims and expiries keep the index up to date.
        try namespace.write("job", 77, "new")
        try namespace.write("job", 77, "passing", expires: .milliseconds(20))
        let claims = try namespace.claimBriefly(matching: [.any, 77, .any], max: 2)
        #expect(try namespace.count(matching: [.any, 77, .any]) >= 1)
        try namespace.release(claims)
        #expect(try eventually { try namespace.count(matching: [.any, 77, .any]) == 3 })
        try namespace.write("job", 78, "removes what has expired")
        #expect(try namespace.verify() == [])
        #expect(try namespace.takeAll().count == count - taken + 2)
    }

    /// Records earn an index by the names that are bound.
    @Test func aShapeOfRecordsEarnsAnIndex() throws {
        try namespace.write(contentsOf: try (0..<3000).map { try Tuple(json: #"{"kind": "job", "id": \#($0)}"#) })
        for number in stride(from: 2999, to: 2960, by: -1) {
            #expect(try namespace.takeIfExists(matching: ["id": number])?.record?["id"] == .int(number))
        }
        #expect(try namespace.status().shapes.map(\.state) == ["ready"])
        #expect(try namespace.count(matching: ["id": 17]) == 1)
        #expect(try namespace.count(matching: ["id": 2999]) == 0)
    }

    /// If more shapes are used than can have an index, the others are searched for as before.
    @Test func thereAreNeverMoreIndexesThanTheLimit() throws {
        let width = 7
        try namespace.write(
            contentsOf: (0..<600).map { number in Tuple(fields: (0..<width).map { .int(number * ($0 + 1)) }) }
        )
        for mask in 1..<1 << width {
            for number in stride(from: 599, to: 591, by: -1) {
                let template = try Template(
                    json: "["
                        + (0..<width).map { mask >> $0 & 1 == 1 ? "\(number * ($0 + 1))" : "\"?\"" }.joined(
                            separator: ","
                        ) + "]"
                )
                try namespace.write(tuple: try #require(try namespace.takeIfExists(matching: template)))
            }
        }
        #expect(try namespace.status().shapes.count == Limits.shapes)
    }
}
