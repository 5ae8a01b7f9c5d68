import SeededRandom
import TupleCoding

/// Makes values that lie close together, because distant ones differ in their first byte and test little.
struct RandomValues {
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    static let strings = [
        "", "a", "b", "ab", "a\0", "a\0b", "a\0\0", "\0", "\0\0", "é", "e\u{301}", "?", "?int", "$x", "\u{7f}",
        "\u{ff}", "\u{ffff}",
        "\u{10000}", "🔥", "a longer string that fills more than one word", "line\nbreak\t\"quoted\" \\", "\u{1f}",
    ]
    static let ints = [
        0, 1, -1, 2, 127, 128, 255, 256, -255, -256, -257, 65535, 65536, -65536, 1 << 24, 1 << 32, -(1 << 32), 1 << 53,
        (1 << 56) - 1, 1 << 56, Int.max, Int.max - 1, Int.min, Int.min + 1,
    ]
    static let doubles = [
        0.0, -0.0, 1, -1, 0.5, 1e-300, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity,
        .nan, -.nan, 3.14, 1e23, 2.5e-308, 0.1, 123_456_789.125,
    ]

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    mutating func count(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    mutating func bytes() -> [UInt8] {
        (0..<count(0...4)).map { _ in pick([0x00, 0x01, 0x7f, 0x80, 0xff]) }
    }

    mutating func value(depth: Int = 3) -> Value {
        switch count(0...(depth > 0 ? 11 : 8)) {
        case 0: return .null
        case 1: return .bytes(bytes())
        case 2, 3: return .string(pick(Self.strings))
        case 4, 5:
            return .int(Bool.random(using: &generator) ? pick(Self.ints) : Int(truncatingIfNeeded: generator.next()))
        case 6: return .double(pick(Self.doubles))
        case 7: return .bool(Bool.random(using: &generator))
        case 8: return .uuid(TupleUUID(high: UInt64(count(0...2)) << 62, low: UInt64(count(0...2))))
        case 9, 10: return .array((0..<count(0...3)).map { _ in value(depth: depth - 1) })
        default: return .object(record(depth: depth - 1))
        }
    }

    mutating func record(depth: Int = 2) -> Record {
        var record = Record()
        for _ in 0..<count(0...3) { record[pick(Self.strings)] = value(depth: depth) }
        return record
    }

    mutating func tuple() -> Tuple {
        if count(0...3) == 0 { return Tuple(record: record()) }
        return Tuple(fields: (0..<count(0...4)).map { _ in value() })
    }
}

/// Reads text such as "02 66 00".
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.utf8.filter { $0 != UInt8(ascii: " ") }.map { UInt8($0) }
    return stride(from: 0, to: digits.count, by: 2).compactMap { index in
        UInt8(String(decoding: digits[index..<min(index + 2, digits.count)], as: UTF8.self), radix: 16)
    }
}
