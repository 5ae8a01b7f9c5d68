import SeededRandom
import Testing
import TupleCoding

/// Bytes from disk and other processes that are no tuple.
@Suite struct MalformedBytesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let encoded: [UInt8]
        let code: TupleCodingError.Code

        init(_ hexadecimal: String, _ code: TupleCodingError.Code) {
            encoded = bytes(hexadecimal)
            self.code = code
        }

        var testDescription: String { "\(encoded)" }
    }

    static let cases: [Case] = [
        Case("01 dead", .truncated),
        Case("01 de 00ff ad", .truncated),
        Case("02 68656c6c6f", .truncated),
        Case("02 68656c 00ff 6c6f", .truncated),
        Case("02", .truncated),
        Case("02 80 00", .invalidUTF8),
        Case("02 c080 00", .invalidUTF8),
        Case("02 c2 00", .invalidUTF8),
        Case("02 c2 00ff 80 00", .invalidUTF8),
        Case("02 eda0bd 00", .invalidUTF8),
        Case("02 edb4a5 00", .invalidUTF8),
        Case("02 eda0bdedb4a5 00", .invalidUTF8),
        Case("02 e08080 00", .invalidUTF8),
        Case("02 f4908080 00", .invalidUTF8),
        Case("02 f8 00", .invalidUTF8),
        Case("05", .truncated),
        Case("05 02 68 00", .truncated),
        Case("05 02 68 00 00ff", .truncated),
        Case("05 15 01", .truncated),
        Case("16 01", .truncated),
        Case("12 01", .truncated),
        Case("1c 01020304050607", .truncated),
        // Integers that are longer than they need to be, or too large.
        Case("15 00", .malformed),
        Case("16 0001", .malformed),
        Case("13 ff", .malformed),
        Case("12 fffe", .malformed),
        Case("1c 8000000000000000", .integerOutOfRange),
        Case("1c ffffffffffffffff", .integerOutOfRange),
        Case("0c 7ffffffffffffffe", .integerOutOfRange),
        Case("0c 0000000000000000", .integerOutOfRange),
        Case("1d 09 010203040506070809", .integerOutOfRange),
        Case("0b f6 fefdfcfbfaf9f8f7f6", .integerOutOfRange),
        Case("0a", .integerOutOfRange),
        Case("1e", .integerOutOfRange),
        // FoundationDB's other types, and codes that no type has.
        Case("20 3dd7ffff", .unsupported),
        Case("22", .unsupported),
        Case("32 01020304050607080900", .unsupported),
        Case("33 0102030405060708090a0b0c", .unsupported),
        Case("03", .malformed),
        Case("04", .malformed),
        Case("25", .malformed),
        Case("28", .malformed),
        Case("31 0102030405060708", .malformed),
        Case("41 00", .malformed),
        Case("ff", .malformed),
        Case("00 ff", .malformed),
        Case("21 01020304050607", .truncated),
        Case("30 0102030405060708090a0b0c0d0e0f", .truncated),
        // Objects.
        Case("40", .typeMismatch),
        Case("40 02 61 00", .truncated),
        Case("40 02 61 00 00", .malformed),
        Case("40 15 01 15 01 00", .typeMismatch),
        Case("40 02 62 00 14 02 61 00 14 00", .malformed),
        Case("40 02 61 00 14 02 61 00 14 00", .malformed),
        Case("40 00ff 14 00", .typeMismatch),
        Case("40 02 61 00 14", .typeMismatch),
    ]

    @Test(arguments: cases)
    func isRefused(_ example: Case) {
        let error = #expect(throws: TupleCodingError.self) { try Tuple(encoded: example.encoded, isRecord: false) }
        #expect(error?.code == example.code, "\(String(describing: error))")
    }

    /// The same bytes, under every operation that runs without validating first.
    @Test(arguments: cases)
    func staysWithinBounds(_ example: Case) {
        for isRecord in [false, true] {
            exercise(example.encoded, isRecord: isRecord)
        }
    }

    @Test func recordsAreOneObject() {
        #expect(throws: TupleCodingError.self) { try Tuple(encoded: [], isRecord: true) }
        #expect(throws: TupleCodingError.self) { try Tuple(encoded: bytes("14"), isRecord: true) }
        #expect(throws: TupleCodingError.self) { try Tuple(encoded: bytes("05 00"), isRecord: true) }
        let error = #expect(throws: TupleCodingError.self) { try Tuple(encoded: bytes("40 00 14"), isRecord: true) }
        #expect(error?.description == "more fields than expected (at byte 2)")
    }

    /// Every prefix of a good tuple, and every tuple with one byte changed.
    @Test func damageIsSeenOrHarmless() throws {
        var random = RandomValues(seed: 7)
        for _ in 0..<150 {
            let tuple = random.tuple()
            for length in 0..<tuple.encoded.count {
                let prefix = Array(tuple.encoded.prefix(length))
                exercise(prefix, isRecord: tuple.isRecord)
                if tuple.isRecord {
                    #expect(throws: TupleCodingError.self) { try Tuple(encoded: prefix, isRecord: true) }
                }
                var changed = tuple.encoded
                changed[length] = UInt8(truncatingIfNeeded: random.generator.next())
                exercise(changed, isRecord: tuple.isRecord)
            }
        }
    }

    static let record: Template = ["a": 1]
    static let nested: Template = [[.any] as Template]
    static let templates: [Template] = [
        .any, [], ["a", .any], [.any, .any, .any], [0...5],
        ["a"..."b", .any],
        [any(Int.self)], [any([Int].self)], [any([String: Int].self)],
        [any(Tuple.self)],
        record, record.exactly(), [:], ["a": .any], nested, [record], [Null()], [any(String?.self)],
        [0.0...1.0] as Template,
    ]

    /// Valid bytes must come back byte for byte; invalid ones must only not trap, nor match with bytes left over.
    private func exercise(_ encoded: [UInt8], isRecord: Bool) {
        let valid = try? Tuple(encoded: encoded, isRecord: isRecord)
        encoded.withUnsafeBytes { raw in
            let tuple = EncodedTuple(bytes: raw, isRecord: isRecord)
            for template in Self.templates {
                let matches = template.matches(tuple)
                if matches {
                    #expect(tuple.hash(of: template.form.shape) == template.form.boundHash)
                    #expect(tuple.fieldCount != nil)
                }
            }
            tuple.forEachPairHash { _ in }
            _ = raw.nesting
            if let valid {
                let again = valid.record.map { Tuple(record: $0) } ?? Tuple(fields: valid.fields)
                #expect(again.encoded == encoded)
                #expect(tuple.isWellFormed)
            }
        }
    }
}
