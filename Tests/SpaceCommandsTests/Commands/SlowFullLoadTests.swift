import Glibc
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// What a full namespace holds, whatever it is, fits into a new one with the same limit, and comes in its order.
@Suite("A full namespace is loaded into its own limit", .blocking, .slow, .serialized, .timeLimit(.minutes(10)))
struct SlowFullLoadTests {
    private static let limit = 16 << 20

    enum Filling: CaseIterable {
        case tiny, kibibyte, mixed, indexed, expiring, cells, items, elements, claims
    }

    /// Numbers in no order, each once.
    private static func scattered(_ number: Int) -> Int { number &* 2_654_435_761 & 0xFFFF_FFFF }

    private static func body(_ size: Int) -> [UInt8] { [UInt8](repeating: 7, count: size) }

    /// Adds what comes next until there is no room for one more; `add` adds a number of them from a number on.
    private static func fill(_ add: (Range<Int>) throws -> Void) throws {
        var (number, step) = (0, 4096)
        while step > 0 {
            do {
                try add(number..<number + step)
                number += step
            } catch let error as SpaceError where error.code == .limitReached {
                step /= 4
            }
        }
    }

    private static func fill(_ namespace: Namespace, _ filling: Filling) throws {
        func write(expires: Duration? = nil, _ tuple: (Int) -> Tuple) throws {
            try fill { numbers in try namespace.write(contentsOf: numbers.map(tuple), expires: expires) }
        }
        switch filling {
        case .tiny: try write { Tuple("t", $0) }
        case .kibibyte: try write { Tuple("t", $0, body(1024)) }
        case .mixed: try write { Tuple("t", $0, body([0, 10, 300, 1500, 5000, 40_000][scattered($0) >> 8 % 6])) }
        case .expiring: try write(expires: .seconds(86_400)) { Tuple("t", $0, body(50)) }
        case .indexed:
            try namespace.write(contentsOf: (0..<6000).map { Tuple("t", scattered($0), body(30)) })
            // Takes that look at many tuples earn a shape its index.
            for number in stride(from: 5999, to: 5900, by: -1) {
                _ = try namespace.takeIfExists(any(String.self), scattered(number), any([UInt8].self))
            }
            #expect(try namespace.status().shapes.map(\.state) == ["ready"])
            try write { Tuple("t", scattered($0 + 6000), body(30)) }
        case .cells:
            // The order of their keys is not that in which they are set.
            try fill { numbers in
                try namespace.transaction { t in
                    for number in numbers { try t.set("cell \(scattered(number))", number) }
                }
            }
        case .items:
            let queue = namespace.queue("queue")
            try fill { numbers in try queue.put(contentsOf: numbers, priority: numbers.lowerBound % 3) }
        case .elements:
            let set = try namespace.orderedSet("set", of: Int.self)
            try fill { numbers in _ = try set.append(contentsOf: numbers.map(scattered)) }
        case .claims:
            try write { Tuple("t", $0, body(100)) }
            // A buried tuple takes more room than a visible one, so not all can be buried.
            var buried = 0
            do throws(SpaceError) {
                while case let more = try namespace.bury(matching: ["t", .any, .any], max: 500), more > 0 {
                    buried += more
                }
                Issue.record("all were buried")
            } catch {
                #expect(error.code == .limitReached && buried > 10_000)
            }
        }
    }

    /// All that the fillings make, but for ids.
    private struct Contents: Equatable {
        let tuples: [Tuple]
        let buried: [Tuple]
        let cells: [String]
        let items: [Value]
        let elements: [Value]

        init(_ namespace: Namespace) throws {
            tuples = try namespace.readAll()
            buried = try namespace.status().buried.map(\.held.tuple)
            cells = try namespace.cells().map { "\($0.key) \($0.value.json)" }
            items = try namespace.queue("queue").items().map(\.value)
            elements = try namespace.anyOrderedSet("set")?.set.elements() ?? []
        }

        var count: Int { tuples.count + buried.count + cells.count + items.count + elements.count }
    }

    @Test("It comes whole and in order, through a pipe", arguments: Filling.allCases)
    func full(_ filling: Filling) throws {
        try withRoot { (runner) throws in
            let space = try Space(root: runner.root)
            let full = try space.namespace("full", options: NamespaceOptions(byteLimit: Self.limit))
            try Self.fill(full, filling)
            let contents = try Contents(full)
            #expect(contents.count > 300)
            let result = try runner.shell(
                "space-dump full --format json | space load copy --owner $OWNER",
                environment: ["OWNER": "\(getpid())"]
            )
            #expect(result.ending == .exited(0), "\(result.errors)")
            let copy = try space.existingNamespace("copy")
            #expect(try copy.status().byteLimit == Self.limit)
            // The values themselves would be megabytes of a message.
            let isSame = try Contents(copy) == contents
            #expect(isSame)
            #expect(try copy.verify() == [])
            try copy.leave()
        }
    }
}
