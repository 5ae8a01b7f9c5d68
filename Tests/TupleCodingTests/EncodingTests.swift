import Testing
import TupleCoding

/// The bytes: FoundationDB's published vectors, edges, round trips.
@Suite struct EncodingTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let fields: [Value]
        let encoded: [UInt8]

        init(_ fields: [Value], _ hexadecimal: String) {
            self.fields = fields
            encoded = bytes(hexadecimal)
        }

        var testDescription: String { "\(fields)" }
    }

    /// Test cases of design/tuple.md, and the edges of the rules there.
    static let vectors: [Vector] = [
        // As published.
        Vector([.bytes(Array("foo\0bar".utf8))], "01 666f6f 00ff 626172 00"),
        Vector(["F\u{d4}O\u{0}bar"], "02 46 c394 4f 00ff 626172 00"),
        Vector([[.bytes(Array("foo\0bar".utf8)), .null, []]], "05 01 666f6f 00ff 626172 00 00ff 0500 00"),
        Vector([-5_551_212], "11 ab4b93"),
        Vector([-1], "13 fe"),
        Vector([[]], "05 00"),
        Vector([[.null]], "05 00ff 00"),
        // Null and the empty ones.
        Vector([], ""),
        Vector([.null], "00"),
        Vector([.null, .null], "00 00"),
        Vector([""], "02 00"),
        Vector([.bytes([])], "01 00"),
        Vector(["\0"], "02 00ff 00"),
        Vector(["\0\0"], "02 00ff 00ff 00"),
        Vector([.bytes([0x00, 0xff, 0x00])], "01 00ff ff 00ff 00"),
        Vector(["🔥"], "02 f09f94a5 00"),
        Vector(["é"], "02 c3a9 00"),
        Vector(["e\u{301}"], "02 65cc81 00"),
        // Integers: every length's edges.
        Vector([0], "14"),
        Vector([1], "15 01"),
        Vector([42], "15 2a"),
        Vector([255], "15 ff"),
        Vector([256], "16 0100"),
        Vector([1066], "16 042a"),
        Vector([65535], "16 ffff"),
        Vector([65536], "17 010000"),
        Vector([-255], "13 00"),
        Vector([-256], "12 feff"),
        Vector([-1066], "12 fbd5"),
        Vector([-65535], "12 0000"),
        Vector([-65536], "11 feffff"),
        Vector([.int((1 << 56) - 1)], "1b ffffffffffffff"),
        Vector([.int(1 << 56)], "1c 0100000000000000"),
        Vector([.int(.max)], "1c 7fffffffffffffff"),
        Vector([.int(.min)], "0c 7fffffffffffffff"),
        Vector([.int(.min + 1)], "0c 8000000000000000"),
        // Doubles.
        Vector([0.0], "21 8000000000000000"),
        Vector([-0.0], "21 7fffffffffffffff"),
        Vector([1.0], "21 bff0000000000000"),
        Vector([-1.0], "21 400fffffffffffff"),
        Vector([3.14], "21 c0091eb851eb851f"),
        Vector([-3.14], "21 3ff6e147ae147ae0"),
        Vector([.double(.infinity)], "21 fff0000000000000"),
        Vector([.double(-.infinity)], "21 000fffffffffffff"),
        Vector([.double(.nan)], "21 fff8000000000000"),
        Vector([.double(Double(bitPattern: 0xfff8_0000_0000_0001))], "21 0007fffffffffffe"),
        // The other types.
        Vector([false], "26"),
        Vector([true], "27"),
        Vector(
            [.uuid(TupleUUID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))],
            "30 0123456789abcdef fedcba9876543210"
        ),
        Vector(["resize", 42, "cat.png"], "02 726573697a65 00 15 2a 02 6361742e706e67 00"),
        Vector([[[[]], .null, 1], 2], "05 05 0500 00 00ff 15 01 00 15 02"),
        // Objects, which FoundationDB does not have.
        Vector([[:]], "40 00"),
        Vector([["b": 1, "a": .null]], "40 02 61 00 00ff 02 62 00 15 01 00"),
        Vector([["a\0": [.null], "a": ["x": []]]], "40 02 61 00 40 02 78 00 05 00 00 02 61 00ff 00 05 00ff 00 00"),
    ]

    @Test(arguments: vectors)
    func encodes(_ vector: Vector) throws {
        let tuple = Tuple(fields: vector.fields)
        #expect(tuple.encoded == vector.encoded)
        let read = try Tuple(encoded: vector.encoded, isRecord: false)
        #expect(read == tuple)
        #expect(read.fields == vector.fields)
        #expect(read.count == vector.fields.count)
    }

    @Test func recordIsOneObject() throws {
        let record: Record = ["kind": "resize", "id": 42]
        let tuple = Tuple(record: record)
        #expect(tuple.encoded == bytes("40 02 6964 00 15 2a 02 6b696e64 00 02 726573697a65 00 00"))
        #expect(tuple.isRecord)
        #expect(tuple.record == record)
        #expect(tuple.fields == [42, "resize"])
        #expect(tuple.count == 2)
        #expect(tuple["kind"] == "resize")
        #expect(tuple["nothing"] == nil)
        #expect(tuple[1] == "resize")
        #expect(try Tuple(encoded: tuple.encoded, isRecord: true) == tuple)
        // The same bytes as the field of a tuple are another tuple.
        let field = try Tuple(encoded: tuple.encoded, isRecord: false)
        #expect(field != tuple)
        #expect(field < tuple)
        #expect(field.record == nil)
        #expect(field["kind"] == nil)
        #expect(field[0] == .object(record))
    }

    @Test func roundTrips() throws {
        var random = RandomValues(seed: 1)
        for _ in 0..<2_000 {
            let tuple = random.tuple()
            let read = try Tuple(encoded: tuple.encoded, isRecord: tuple.isRecord)
            let again = read.record.map { Tuple(record: $0) } ?? Tuple(fields: read.fields)
            #expect(again.encoded == tuple.encoded)
            tuple.withEncoded { #expect($0.isWellFormed && $0.fieldCount == tuple.count) }
        }
    }

    @Test func swiftTypesAreTheirValues() throws {
        let now: Int8 = -3
        let tuple = Tuple(
            now,
            Int64.min,
            UInt32.max,
            Float(0.5),
            Substring("ab"),
            [UInt8]([0, 1]),
            [1, 2],
            ["b": 1, "a": 2],
            Int?.none,
            Int?.some(7),
            TupleUUID(high: 0, low: 1),
            Null(),
            Tuple(1, Null()),
            Tuple(record: ["x": .null])
        )
        let values: [Value] = [
            -3, .int(.min), 4_294_967_295, 0.5, "ab", .bytes([0, 1]), [1, 2], ["a": 2, "b": 1], .null, 7,
            .uuid(TupleUUID(high: 0, low: 1)), .null, [1, .null], ["x": .null],
        ]
        #expect(tuple.fields == values)
        #expect(tuple == Tuple(fields: values))
        try tuple.encoded.withUnsafeBufferPointer { (bytes) throws(TupleCodingError) in
            var decoder = TupleDecoder(UnsafeRawBufferPointer(bytes))
            #expect(try decoder.decode(Int8.self) == -3)
            #expect(try decoder.decode(Int64.self) == .min)
            #expect(try decoder.decode(UInt32.self) == .max)
            #expect(try decoder.decode(Float.self) == 0.5)
            #expect(try decoder.decode(Substring.self) == "ab")
            #expect(try decoder.decode([UInt8].self) == [0, 1])
            #expect(try decoder.decode([Int].self) == [1, 2])
            #expect(try decoder.decode([String: Int].self) == ["a": 2, "b": 1])
            #expect(try decoder.decode(Int?.self) == nil)
            #expect(try decoder.decode(Int?.self) == 7)
            #expect(try decoder.decode(TupleUUID.self) == TupleUUID(high: 0, low: 1))
            _ = try decoder.decode(Null.self)
            #expect(try decoder.decode(Tuple.self) == [1, .null])
            #expect(try decoder.decode(Tuple.self) == ["x": .null])
            try decoder.finish()
        }
    }

    enum Priority: Int, TupleField { case low, high }

    @Test func rawValuesAreFields() throws {
        let tuple = Tuple(Priority.high)
        #expect(tuple == [1])
        try tuple.encoded.withUnsafeBufferPointer { (bytes) throws(TupleCodingError) in
            var decoder = TupleDecoder(UnsafeRawBufferPointer(bytes))
            #expect(try decoder.decode(Priority.self) == .high)
        }
        Tuple(2).encoded.withUnsafeBytes { bytes in
            _ = #expect(throws: TupleCodingError.self) {
                var decoder = TupleDecoder(bytes)
                return try decoder.decode(Priority.self)
            }
        }
    }

    @Test func wrongTypesAreErrors() {
        func expectFailure<Field: TupleField>(_ field: some TupleField, as type: Field.Type, _ reason: String) {
            Tuple(field).encoded.withUnsafeBytes { bytes in
                var decoder = TupleDecoder(bytes)
                let error = #expect(throws: TupleCodingError.self) { try decoder.decode(type) }
                #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
            }
        }
        expectFailure(300, as: UInt8.self, "300 doesn't fit UInt8")
        expectFailure(-1, as: UInt32.self, "-1 doesn't fit UInt32")
        expectFailure("x", as: Int.self, "expected integer, found string (at byte 0)")
        expectFailure(1, as: Double.self, "expected double, found integer")
        expectFailure([1, 2], as: [String].self, "expected string, found integer (at byte 1)")
        expectFailure(Null(), as: String.self, "expected string, found null")
        expectFailure(["é": 1, "e\u{301}x": 2], as: [String: String].self, "expected string, found integer")
    }

    @Test func dictionariesRefuseNamesThatSwiftTakesForEqual() {
        var record = Record()
        record["é"] = 1
        record["e\u{301}"] = 2
        #expect(record.count == 2)
        Tuple(record).encoded.withUnsafeBytes { bytes in
            let error = #expect(throws: TupleCodingError.self) {
                var decoder = TupleDecoder(bytes)
                return try decoder.decode([String: Int].self)
            }
            #expect(error?.code == .duplicateName)
        }
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int) -> Value {
            (0..<depth).reduce(into: Value.int(1)) { value, _ in value = [value] }
        }
        let deepest = try Tuple(checking: [nested(TupleLimits.maximumDepth)])
        #expect(try Tuple(encoded: deepest.encoded, isRecord: false) == deepest)
        #expect(throws: TupleCodingError.self) { try Tuple(checking: [nested(TupleLimits.maximumDepth + 1)]) }
        #expect(throws: TupleCodingError.self) { try Tuple(checking: ["x": nested(TupleLimits.maximumDepth)]) }
        let tooDeep = [UInt8](repeating: 0x05, count: 100_000) + [UInt8](repeating: 0x00, count: 100_000)
        let error = #expect(throws: TupleCodingError.self) { try Tuple(encoded: tooDeep, isRecord: false) }
        #expect(error?.code == .tooDeep)
        tooDeep.withUnsafeBytes { #expect(!EncodedTuple(bytes: $0, isRecord: false).isWellFormed) }
        // A tuple inside a tuple adds its own level.
        var encoder = TupleEncoder()
        encoder.encode(deepest)
        #expect(encoder.failure?.code == .tooDeep)
    }

    @Test func aTupleOfAnyLengthIsItsElementsInOrder() throws {
        for length in 0..<300 {
            let text = String(repeating: "x", count: length)
            let tuple = Tuple(text, 70_000, "a\0b", -1, [text])
            #expect(tuple.fields == [.string(text), .int(70_000), .string("a\0b"), .int(-1), .array([.string(text)])])
            #expect(try Tuple(encoded: tuple.encoded, isRecord: false) == tuple)
            #expect(Selection("first", text).matches(Tuple("first", text)))
        }
    }
}
