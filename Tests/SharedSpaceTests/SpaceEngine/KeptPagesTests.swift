import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// What is kept for removals, which more indexes make more, and for claimed tuples that return.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct KeptPagesTests {
    private static let purposes: [WritePurpose] = [.adding, .loading, .claiming, .returning, .removing, .applying]

    private func left(_ kept: KeptPages, beside end: Int) -> [Int] {
        Self.purposes.map { kept.pages(for: $0, beside: end) }
    }

    /// Additions leave all of it alone, claims a half, returns a quarter, removals nothing.
    @Test func eachPurposeLeavesItsPart() {
        let few = KeptPages(pageSize: 4096, shapes: 0)
        #expect(few.most == 1024)
        #expect(left(few, beside: 100_000) == [1024, 896, 512, 256, 0, 0])
        // A file of a few pages keeps less.
        #expect(left(few, beside: 100) == [200, 175, 100, 50, 0, 0])
        #expect(left(few, beside: 1) == [64, 56, 32, 16, 0, 0])
        // Indexes need more, and so do claimed tuples, in each of them.
        #expect(KeptPages(pageSize: 4096, shapes: 10).most == 1024)
        #expect(KeptPages(pageSize: 4096, shapes: 11).most == 1088)
        let claimed = KeptPages(pageSize: 4096, shapes: 2, hidden: 10_000)
        #expect(left(claimed, beside: 100_000) == [1024 + 273, 896, 512, 256, 0, 0])
        // Not even a damaged number is too large to be counted.
        _ = KeptPages(pageSize: 4096, shapes: 31, hidden: .max)
    }

    private let fields = 4

    /// The choices of fields of which a template may bind the others.
    private var choices: Range<Int> { 1..<1 << fields }

    private func template(_ choice: Int, number: Int) throws -> Template {
        let bound = (0..<fields).map { choice >> $0 & 1 == 0 ? #""?""# : "\(number)" }
        return try Template(json: "[\(bound.joined(separator: ","))]")
    }

    /// In a small namespace fewer shapes have an index, so that three quarters of it can be filled.
    @Test(arguments: StorageMode.allCases)
    func indexesLeaveMostOfANamespace(_ mode: StorageMode) throws {
        let limit = Limits.smallestByteLimit
        let namespace = try SpaceTest.namespace(mode, byteLimit: limit)
        try namespace.write(contentsOf: (0..<1000).map { _ in Tuple(1, 1, 1, 1) })
        // Takes that look at many tuples, and find none, earn an index for each choice of fields, as long as one may be
        // added.
        for choice in choices {
            for _ in 0..<12 { #expect(try namespace.takeIfExists(matching: template(choice, number: 2)) == nil) }
        }
        let shapes = try namespace.status().shapes
        #expect(shapes.count == 10 && shapes.allSatisfy { $0.state == "ready" })
        for size in [100_000, 10_000, 1000, 100] {
            let body = [UInt8](repeating: 7, count: size)
            let refused = try refusal { while true { try namespace.write("ballast", body) } }
            #expect(refused.code == .limitReached)
        }
        #expect(try namespace.status().bytes >= limit * 11 / 16)
        for choice in choices { #expect(try namespace.count(matching: template(choice, number: 1)) == 1000) }
        while try !namespace.takeAll(max: 100).isEmpty {}
        #expect(try namespace.count() == 0)
    }
}
