import Testing
import TupleCoding

/// Codable types as records and cells.
@Suite struct CodableTests {
    enum State: String, Codable { case waiting, done }

    struct Size: Codable, Hashable {
        var width: Int32
        var height: Double
    }

    struct Job: Codable, Hashable {
        var kind: String
        var id: UInt64
        var state: State
        var size: Size?
        var tags: [String]
        var scores: [String: Float]
        var payload: [UInt8]
        var key: TupleUUID
        var extra: Value
        var note: String?
        var grid: [[Int]]
        var maybe: [Int?]
    }

    static let job = Job(
        kind: "resize",
        id: 42,
        state: .done,
        size: Size(width: -3, height: 2),
        tags: ["a", "b"],
        scores: ["x": 0.5],
        payload: [0, 255],
        key: TupleUUID(high: 1, low: 2),
        extra: ["deep": [1, .null, .bytes([1])]],
        note: nil,
        grid: [[1, 2], []],
        maybe: [1, nil]
    )

    @Test func structsAreRecords() throws {
        let record = try Record(encoding: Self.job)
        #expect(
            record == [
                "kind": "resize", "id": 42, "state": "done", "size": ["width": -3, "height": 2.0], "tags": ["a", "b"],
                "scores": ["x": 0.5], "payload": .bytes([0, 255]), "key": .uuid(TupleUUID(high: 1, low: 2)),
                "extra": ["deep": [1, .null, .bytes([1])]], "grid": [[1, 2], []], "maybe": [1, .null],
            ]
        )
        #expect(record["note"] == nil, "nil is left out")
        #expect(try record.decode(Job.self) == Self.job)
        #expect(try Tuple(checking: record).record?.decode(Job.self) == Self.job)
    }

    @Test func nullsAndMissingFieldsAreNil() throws {
        struct Optionals: Codable, Equatable { var a: Int?, b: Int?, c: Int? }
        #expect(try (["a": .null, "c": 3] as Record).decode() == Optionals(a: nil, b: nil, c: 3))
    }

    @Test func scalarsAreValues() throws {
        #expect(try Value(encoding: 5) == 5)
        #expect(try Value(encoding: UInt8(5)) == 5)
        #expect(try Value(encoding: "x") == "x")
        #expect(try Value(encoding: 0.5) == 0.5)
        #expect(try Value(encoding: Float(0.5)) == 0.5)
        #expect(try Value(encoding: true) == true)
        #expect(try Value(encoding: State.done) == "done")
        #expect(try Value(encoding: Int?.none) == .null)
        #expect(try Value(encoding: [1, 2]) == [1, 2])
        #expect(try Value(encoding: [UInt8]([1, 2])) == .bytes([1, 2]))
        #expect(try Value(encoding: Value.bytes([1])) == .bytes([1]))
        #expect(try Value.int(5).decode(Int8.self) == 5)
        #expect(try Value.string("done").decode(State.self) == .done)
        #expect(try Value.null.decode(Int?.self) == nil)
        #expect(try Value.double(0.5).decode(Float.self) == 0.5)
        #expect(try Value.bytes([1]).decode([UInt8].self) == [1])
        #expect(try Value.array([1, 2]).decode([UInt8].self) == [1, 2])
        #expect(try Value.uuid(TupleUUID(high: 1, low: 2)).decode(TupleUUID.self) == TupleUUID(high: 1, low: 2))
        #expect(try Value.array(["x", .null]).decode(Value.self) == ["x", .null])
        #expect(try Value.object(["a": 1]).decode([String: Int].self) == ["a": 1])
    }

    @Test func integersAreReadAsDoublesWhenExact() throws {
        #expect(try Value.int(1).decode(Double.self) == 1)
        #expect(throws: TupleCodingError.self) { try Value.int((1 << 53) + 1).decode(Double.self) }
        #expect(throws: TupleCodingError.self) { try Value.double(1).decode(Int.self) }
        #expect(throws: TupleCodingError.self) { try Value.double(1e300).decode(Float.self) }
    }

    @Test func errorsHaveAPath() throws {
        func expectFailure<Content>(_ reason: String, _ body: () throws -> Content) {
            let error = #expect(throws: TupleCodingError.self) { _ = try body() }
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
        struct Big: Encodable { var list = [UInt64.max] }
        expectFailure("is outside the range of Int64; no other integers are kept (at list[0])") {
            try Record(encoding: Big())
        }
        expectFailure("\(UInt64.max) is outside the range of Int64") { try Value(encoding: UInt64.max) }
        expectFailure("is no record") { try Record(encoding: [1]) }
        var record = try Record(encoding: Self.job)
        record["size"] = ["width": "x", "height": 1.0]
        expectFailure("expected an integer, found a string (at size.width)") { try record.decode(Job.self) }
        record["size"] = ["width": 1]
        expectFailure("there is no field \"height\" (at size)") { try record.decode(Job.self) }
        record["size"] = ["width": .int(1 << 40), "height": 1.0]
        expectFailure("that fits Int32, found the integer 1099511627776 (at size.width)") {
            try record.decode(Job.self)
        }
        record["size"] = nil
        record["grid"] = [[1, "x"]]
        expectFailure("(at grid[0][1])") { try record.decode(Job.self) }
        record["grid"] = []
        record["state"] = "gone"
        expectFailure("(at state)") { try record.decode(Job.self) }
    }

    /// Superclasses, nested containers and encoders that write more than once.
    class Animal: Codable {
        var legs = 4
    }

    final class Cat: Animal {
        var name = "Tom"

        private enum Key: String, CodingKey { case name, nested, list, flag }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            name = try container.decode(String.self, forKey: .name)
            let nested = try container.nestedContainer(keyedBy: Key.self, forKey: .nested)
            #expect(try nested.decode(Bool.self, forKey: .flag))
            #expect(nested.contains(.flag) && !nested.contains(.name) && nested.allKeys == [.flag])
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(list.count == 4)
            #expect(try list.decodeNil())
            #expect(try !list.decodeNil())
            #expect(try list.decode(Int.self) == 1)
            var inner = try list.nestedUnkeyedContainer()
            #expect(inner.isAtEnd)
            #expect(throws: DecodingError.self) { try inner.decode(Int.self) }
            let keyed = try list.nestedContainer(keyedBy: Key.self)
            #expect(try keyed.decode(Int.self, forKey: .flag) == 2)
            #expect(list.isAtEnd)
            try super.init(from: try container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("first", forKey: .name)
            try container.encode(name, forKey: .name)
            var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
            try nested.encode(true, forKey: .flag)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encodeNil()
            try list.encode(1)
            _ = list.nestedUnkeyedContainer()
            var keyed = list.nestedContainer(keyedBy: Key.self)
            try keyed.encode(2, forKey: .flag)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func nestedContainersAndSupers() throws {
        let cat = Cat()
        cat.legs = 3
        let record = try Record(encoding: cat)
        #expect(
            record == [
                "name": "Tom", "nested": ["flag": true], "list": [.null, 1, [], ["flag": 2]], "super": ["legs": 3],
            ]
        )
        let read = try record.decode(Cat.self)
        #expect(read.legs == 3 && read.name == "Tom")
    }

    @Test func depthIsLimited() throws {
        final class Chain: Codable {
            var next: Chain?
            init(_ length: Int) { next = length > 1 ? Chain(length - 1) : nil }
        }
        let limit = TupleLimits.maximumDepth
        let deepest = try Record(encoding: Chain(limit))
        _ = try Tuple(checking: deepest)
        _ = try deepest.decode(Chain.self)
        for length in [limit + 1, 5_000] {
            let error = #expect(throws: TupleCodingError.self) { try Record(encoding: Chain(length)) }
            #expect(error?.code == .tooDeep)
        }
        let value = try Value(encoding: Chain(limit))
        let error = #expect(throws: TupleCodingError.self) { try Value(encoding: [value]) }
        #expect(error?.code == .tooDeep)
        let endless = (0..<1_000).reduce(into: Value.object([:])) { value, _ in value = ["next": value] }
        #expect(throws: TupleCodingError.self) { try endless.decode(Chain.self) }
    }

    @Test func typesThatNeverEndAreErrors() {
        struct Endless: Codable {
            init() {}
            init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(Endless())
            }
        }
        #expect(throws: TupleCodingError.self) { try Value(encoding: Endless()) }
    }
}
