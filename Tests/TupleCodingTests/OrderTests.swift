import Testing
import TupleCoding

/// The order of the bytes is the order of the values.
@Suite struct OrderTests {
    /// An order written down independently of the encoding and of `Value`'s own: by kind, then as the standard library
    /// compares.
    static func order(_ left: Value, _ right: Value) -> Int {
        func rank(_ value: Value) -> Int {
            switch value {
            case .null: 0
            case .bytes: 1
            case .string: 2
            case .array: 3
            case .int: 4
            case .double: 5
            case .bool(let value): value ? 7 : 6
            case .uuid: 8
            case .object: 9
            }
        }
        func lexicographic(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
            left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
        }
        func sequence(_ left: [Value], _ right: [Value]) -> Int {
            for (left, right) in zip(left, right) where order(left, right) != 0 { return order(left, right) }
            return left.count - right.count
        }
        switch (left, right) {
        case (.bytes(let left), .bytes(let right)): return lexicographic(left, right)
        case (.string(let left), .string(let right)): return lexicographic(left.utf8, right.utf8)
        case (.array(let left), .array(let right)): return sequence(left, right)
        case (.int(let left), .int(let right)): return left == right ? 0 : left < right ? -1 : 1
        case (.double(let left), .double(let right)):
            if left.bitPattern == right.bitPattern { return 0 }
            return left.isTotallyOrdered(belowOrEqualTo: right) ? -1 : 1
        case (.uuid(let left), .uuid(let right)):
            return left.description == right.description ? 0 : left.description < right.description ? -1 : 1
        case (.object(let left), .object(let right)):
            return sequence(
                left.flatMap { [.string($0.name), $0.value] },
                right.flatMap { [.string($0.name), $0.value] }
            )
        default: return rank(left) - rank(right)
        }
    }

    static func sign(_ order: Int) -> Int { order.signum() }

    @Test func bytesAndValuesOrderAlike() {
        var random = RandomValues(seed: 2)
        let values =
            (0..<300).map { _ in random.value() } + RandomValues.ints.map { .int($0) }
            + RandomValues.doubles.map { .double($0) } + RandomValues.strings.map { .string($0) }
        var seen = (less: 0, equal: 0)
        for left in values {
            let leftTuple = Tuple(left)
            for right in values {
                let expected = Self.sign(Self.order(left, right))
                seen.less += expected < 0 ? 1 : 0
                seen.equal += expected == 0 ? 1 : 0
                let rightTuple = Tuple(right)
                #expect(Self.sign(left.compare(right)) == expected, "\(left) \(right)")
                #expect((left < right) == (expected < 0))
                #expect((left == right) == (expected == 0))
                #expect((leftTuple.encoded.lexicographicallyPrecedes(rightTuple.encoded)) == (expected < 0))
                #expect((leftTuple < rightTuple) == (expected < 0))
                #expect((leftTuple == rightTuple) == (expected == 0))
                if expected == 0 { #expect(left.hashValue == right.hashValue) }
            }
        }
        // Both outcomes occurred, beyond each value with itself.
        #expect(seen.less > 10_000 && seen.equal > values.count)
    }

    @Test func tuplesOrderFieldByField() {
        var random = RandomValues(seed: 3)
        let tuples = (0..<300).map { _ in (0..<random.count(0...3)).map { _ in random.value(depth: 1) } }
        for left in tuples {
            for right in tuples {
                let expected = Self.order(.array(left), .array(right)) < 0
                #expect((Tuple(fields: left) < Tuple(fields: right)) == expected)
            }
        }
    }

    @Test func equalityIsThatOfTheEncoding() {
        #expect(Value.string("é") != Value.string("e\u{301}"))
        #expect("é" == "e\u{301}", "what Swift says of the strings themselves")
        #expect(Value.double(0.0) != Value.double(-0.0))
        #expect(Value.double(.nan) == Value.double(.nan))
        #expect(Value.double(.nan) != Value.double(-.nan))
        #expect(Value.int(1) != Value.double(1))
        #expect(Set<Value>(["é", "e\u{301}", 1, 1.0, .double(.nan), .double(.nan)]).count == 5)
        let names: Record = ["é": 1, "e\u{301}": 2]
        #expect(names["é"] == 1 && names["e\u{301}"] == 2)
        #expect(names.names.map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("é".utf8)])
    }

    @Test func recordsKeepNamesUniqueAndSorted() throws {
        var record = try Record([("b", 1), ("a", 2), ("", 3)])
        #expect(record.names == ["", "a", "b"])
        record["aa"] = 4
        record["b"] = nil
        #expect(record.map(\.name) == ["", "a", "aa"])
        #expect(record == ["aa": 4, "": 3, "a": 2])
        let error = #expect(throws: TupleCodingError.self) { try Record([("a", 1), ("b", 1), ("a", 2)]) }
        #expect(error?.code == .duplicateName)
    }

    @Test func uuidsReadTheirTextForms() throws {
        let text = "01234567-89ab-cdef-fedc-ba9876543210"
        let uuid = try #require(TupleUUID(text))
        #expect(uuid.description == text)
        #expect(TupleUUID("01234567-89AB-CDEF-FEDC-BA9876543210") == uuid)
        #expect(TupleUUID(uuid.uuid) == uuid)
        #expect(uuid.uuid.0 == 0x01 && uuid.uuid.15 == 0x10)
        for wrong in [
            "", "0123456789abcdeffedcba9876543210", text + "0", String(text.dropLast()), "{" + text + "}",
            "0123456789ab-cdef-fedc-ba98-76543210", "g1234567-89ab-cdef-fedc-ba9876543210",
        ] {
            #expect(TupleUUID(wrong) == nil, "\(wrong)")
        }
        let random = TupleUUID.random()
        #expect(random.uuid.6 >> 4 == 4 && random.uuid.8 >> 6 == 0b10)
        #expect(random != TupleUUID.random())
    }
}
