import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleSpace

/// What tens of thousands of claims need in a full namespace.
@Suite("A full namespace with thousands of claims", .blocking, .slow, .serialized, .timeLimit(.minutes(10)))
struct SlowFullNamespaceTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// A claim removes the tuple's rows from the indexes, and others don't fill the room for their return.
    ///
    /// It takes a namespace full of small tuples: their rows in the indexes need more than what is kept for removals.
    @Test(arguments: [2, 3])
    func allThatADeadProcessClaimedReturnsToItsIndexes(_ fields: Int) throws {
        let namespace = try root.space.namespace("indexed", options: NamespaceOptions(byteLimit: 16 << 20))
        func tuple(_ number: Int) -> Tuple {
            Tuple(fields: [.string("s\(number % 7)")] + (1..<fields).map { .int(number * ($0 + 3) % 1000) })
        }
        var count = 0
        func fill() throws {
            for batch in [1000, 100, 10, 1] {
                let refused = #expect(throws: SpaceError.self) {
                    while true {
                        try namespace.write(contentsOf: (count..<count + batch).map(tuple))
                        count += batch
                    }
                }
                #expect(refused?.code == .limitReached)
            }
        }
        try namespace.write(contentsOf: (0..<2000).map(tuple))
        count = 2000
        // Takes that look at many tuples, and find none, earn an index for each choice of fields.
        for choice in 1..<1 << fields {
            let bound = (0..<fields).map { choice >> $0 & 1 == 0 ? #""?""# : $0 == 0 ? #""none""# : "-1" }
            let template = try Template(json: "[\(bound.joined(separator: ","))]")
            for _ in 0..<12 { #expect(try namespace.takeIfExists(matching: template) == nil) }
        }
        #expect(try namespace.status().shapes.count { $0.state == "ready" } == 1 << fields - 1)
        try fill()
        let claimer = try Agent(root, "indexed")
        try claimer.send("claim-each")
        _ = try claimer.line()
        #expect(try namespace.status().claims.count > count / 4)
        try fill()
        try claimer.kill()
        #expect(try eventually { try namespace.count() == count })
        while case let taken = try namespace.takeAll(max: 32), !taken.isEmpty { count -= taken.count }
        #expect(try count == 0 && namespace.count() == 0 && namespace.verify() == [])
    }

    /// There is room for what returns even if it returns the newest first: LMDB then leaves pages half empty.
    @Test func whatReturnsTheNewestFirstHasRoom() throws {
        let namespace = try root.space.namespace("returning", options: NamespaceOptions(byteLimit: 24 << 20))
        let (fields, batches, size) = (4, 20, 1000)
        func template(_ choice: Int, _ number: Int) throws -> Template {
            let bound = (0..<fields).map { choice >> $0 & 1 == 0 ? #""?""# : "\(number)" }
            return try Template(json: "[\(bound.joined(separator: ","))]")
        }
        let all: Template = [1, 1, 1, 1]
        func write() throws { try namespace.write(contentsOf: (0..<size).map { _ in Tuple(1, 1, 1, 1) }) }
        try write()
        for choice in 1...10 {
            for _ in 0..<12 { #expect(try namespace.takeIfExists(matching: template(choice, 2)) == nil) }
        }
        #expect(try namespace.status().shapes.count { $0.state == "ready" } == 10)
        var claims: [[HeldClaim]] = []
        for batch in 0..<batches {
            if batch > 0 { try write() }
            claims.append(try namespace.claimAll(matching: all, order: .oldestFirst, max: size, deadline: nil))
        }
        #expect(claims.allSatisfy { $0.count == size })
        for size in [100_000, 10_000, 1000, 100] {
            let body = [UInt8](repeating: 7, count: size)
            #expect(try refusal { while true { try namespace.write("ballast", body) } }.code == .limitReached)
        }
        for claims in claims.reversed() { try namespace.release(claims.reversed()) }
        #expect(try namespace.count(matching: all) == batches * size && namespace.verify() == [])
    }
}
