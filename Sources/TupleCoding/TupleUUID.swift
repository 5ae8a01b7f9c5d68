/// A UUID as a field: 16 bytes, ordered as unsigned bytes.
///
/// Foundation's `UUID` converts both ways through its `uuid` bytes: `TupleUUID(id.uuid)`, `UUID(uuid: field.uuid)`.
public struct TupleUUID: Sendable, Hashable, Comparable, OrderedByEncoding {
    /// Sixteen bytes in the form of Foundation's `uuid_t`.
    public typealias Bytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )

    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a UUID of its bytes.
    public init(_ bytes: Bytes) {
        self = withUnsafeBytes(of: bytes) { raw in
            TupleUUID(
                high: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian,
                low: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
            )
        }
    }

    /// Reads the form `8-4-4-4-12` in hexadecimal digits of either case; `nil` for all other text.
    public init?(_ text: String) {
        var digits = (high: UInt64(0), low: UInt64(0))
        var count = 0
        var position = 0
        for byte in text.utf8 {
            defer { position += 1 }
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard count < 32, let digit = Self.digit(byte) else { return nil }
            if count < 16 { digits.high = digits.high << 4 | digit } else { digits.low = digits.low << 4 | digit }
            count += 1
        }
        guard count == 32, position == 36 else { return nil }
        self.init(high: digits.high, low: digits.low)
    }

    /// A random UUID (version 4, RFC 9562).
    public static func random() -> TupleUUID {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xf000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        return TupleUUID(high: high, low: low)
    }

    /// The bytes.
    public var uuid: Bytes {
        func byte(_ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - (index & 7) * 8))
        }
        return (
            byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
            byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
        )
    }

    /// The form `8-4-4-4-12` in lower case.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - (index & 15) * 4) & 0xf)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        return String(decoding: text, as: UTF8.self)
    }

    package func compare(_ other: TupleUUID) -> Int {
        (high, low) < (other.high, other.low) ? -1 : self == other ? 0 : 1
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

extension TupleUUID: Codable, LosslessStringConvertible, CodedAsText {
    package static var misread: String { "not a UUID" }
}
