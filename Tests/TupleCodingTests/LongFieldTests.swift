import SeededRandom
import Testing

@testable import TupleCoding

/// Long strings and bytes: the search for zeros, the encoding in parts, and what a pass over the content saves the next.
@Suite struct LongFieldTests {
    @Test func theFirstZeroIsFoundAtEachPlace() {
        for alignment in 0..<8 {
            for length in Array(0...72) + Array(250...340) {
                // Zeros around the content must not be found.
                var bytes = [UInt8](repeating: 0, count: alignment + length + 9)
                for index in alignment..<alignment + length { bytes[index] = index % 2 == 0 ? 0x80 : 0x01 }
                for zero in 0...length {
                    if zero < length { bytes[alignment + zero] = 0 }
                    bytes.withUnsafeBytes { all in
                        let content = UnsafeRawBufferPointer(rebasing: all[alignment..<alignment + length])
                        #expect(content.firstZero(from: 0) == (zero < length ? zero : nil))
                        #expect(content.firstZero(from: zero) == (zero < length ? zero : nil))
                        if zero < length { #expect(content.firstZero(from: zero + 1) == nil) }
                    }
                    if zero < length { bytes[alignment + zero] = 0x01 }
                }
            }
        }
    }

    /// Where the zeros of long content are: at the borders of the parts in which it is encoded, alone and in pairs.
    static let zeros: [[Int]] = {
        let part = 16 << 10
        let borders = [0, 1, 7, 8, part - 1, part, part + 1, 2 * part - 1, 2 * part, 2 * part + 99]
        return [[]] + borders.map { [$0] } + borders.map { [$0, $0 + 1] } + [borders, Array(0..<2 * part)]
    }()

    @Test(arguments: zeros) func longContentIsEncodedAsShortContentIs(zeros: [Int]) throws {
        for length in [1022, 1023, 1024, 1025, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, (32 << 10) + 100] {
            var content = [UInt8](repeating: 0x78, count: length)
            for zero in zeros where zero < length { content[zero] = 0 }
            let escaped = content.flatMap { $0 == 0 ? [0x00, 0xff] : [$0] }
            let tuple = Tuple(content, String(decoding: content, as: UTF8.self), 7)
            #expect(tuple.encoded == [0x01] + escaped + [0x00, 0x02] + escaped + [0x00, 0x15, 7])
            #expect(tuple.fields == [.bytes(content), .string(String(decoding: content, as: UTF8.self)), 7])
            #expect(try Tuple(encoded: tuple.encoded, isRecord: false) == tuple)
        }
    }

    @Test func theEncoderKnowsALongFieldWithoutEscapes() {
        let long = [UInt8](repeating: 0xff, count: 5000)
        var encoder = TupleEncoder()
        encoder.encode("a")
        #expect(encoder.long.start == .max)
        long.withUnsafeBytes { encoder.encode(bytes: $0) }
        encoder.encode(7)
        #expect(encoder.long.start == 3 && encoder.long.end == 3 + 5002)

        var others = TupleEncoder()
        long.withUnsafeBytes { long in others.encodeArray { $0.encode(bytes: long) } }
        (long + [0]).withUnsafeBytes { others.encode(bytes: $0) }
        #expect(others.long.start == .max)
    }

    /// Tuples with long content, and the same with short content, which the same templates match.
    static let tuples: [(long: Tuple, short: Tuple)] = {
        func tuples(_ count: Int) -> [Tuple] {
            let text = String(repeating: "é", count: count)
            let bytes = [UInt8](repeating: 1, count: count)
            return [
                Tuple("a", text), Tuple("a", bytes), Tuple(text, bytes), Tuple("a", text + "\0"),
                Tuple("a", bytes + [0, 0xff]), Tuple("a", [text]), Tuple("a", Null()), Tuple("a", 1), Tuple(text),
                Tuple("a", text, bytes), Tuple("a", [UInt8](repeating: 0, count: count)),
            ]
        }
        return Array(zip(tuples(3000), tuples(3)))
    }()

    static let templates: [Template] = [
        .any, ["a", .any], ["a", any(String.self)], ["a", any([UInt8].self)],
        ["a", any(String?.self)], [.any, any([UInt8].self)], ["a", any([String].self)],
        ["a", any(Int.self)], ["a", .any, .any],
    ]

    @Test func matchingWithNotesIsMatching() throws {
        var noted = 0
        for (tuple, short) in Self.tuples {
            for template in Self.templates {
                tuple.withEncoded { encoded in
                    let match = template.form.match(encoded)
                    #expect((match != nil) == template.matches(short), "\(template) \(short)")
                    guard let match else { return }
                    let long = encoded.knowing(match)
                    let fields = tuple.fields
                    #expect(long.hash(of: template.form.shape) == template.form.boundHash)
                    let both = Shape.fields(arity: fields.count, bound: 3)
                    #expect(long.hash(of: both) == encoded.hash(of: both))
                    if long.long.start != .max { noted += 1 }
                    var decoder = TupleDecoder(long)
                    var decoded: [Value] = []
                    while !decoder.isAtEnd, let value = try? decoder.decodeValue() { decoded.append(value) }
                    #expect(decoded == fields)
                    #expect((try? Tuple(copying: long)) == tuple)
                }
            }
        }
        #expect(noted > 10)
    }

    @Test func aLongStringThatIsNotUTF8IsRefused() {
        for place in [0, 1023, 1024, 2999] {
            var content = [UInt8](repeating: 0x78, count: 3000)
            content[place] = 0xc3
            let encoded = [0x02] + content + [0x00]
            encoded.withUnsafeBytes { bytes in
                let fresh = EncodedTuple(bytes: bytes, isRecord: false)
                guard let match = ([any(String.self)] as Template).form.match(fresh) else {
                    Issue.record("no match")
                    return
                }
                let tuple = fresh.knowing(match)
                var decoder = TupleDecoder(tuple)
                let error = #expect(throws: TupleCodingError.self) { try decoder.decodeString() }
                #expect(error?.code == .invalidUTF8)
                #expect(throws: TupleCodingError.self) { try tuple.validate() }
            }
        }
    }

    @Test func aLongFieldWithoutItsEndMatchesNothing() {
        for end in [[], [0x00, 0xff], [0x00, 0xff, 0x78]] as [[UInt8]] {
            let encoded = [0x01] + [UInt8](repeating: 0x78, count: 3000) + end
            encoded.withUnsafeBytes { bytes in
                for template: Template in [.any, [.any], [any([UInt8].self)]] {
                    let tuple = EncodedTuple(bytes: bytes, isRecord: false)
                    #expect(!template.matches(tuple))
                    #expect(tuple.hash(of: .fields(arity: 1, bound: 1)) == nil)
                }
            }
        }
    }
}
