/// The byte that begins an encoded element (FoundationDB's design/tuple.md; 0x40 is this project's, from the range for
/// users).
@usableFromInline
package enum TypeCode {
    @usableFromInline package static let null: UInt8 = 0x00
    @usableFromInline package static let bytes: UInt8 = 0x01
    @usableFromInline package static let string: UInt8 = 0x02
    @usableFromInline package static let array: UInt8 = 0x05
    /// An 8-byte negative integer; the codes from this one to `largestInt` encode sign and length.
    @usableFromInline package static let smallestInt: UInt8 = 0x0c
    @usableFromInline package static let zero: UInt8 = 0x14
    @usableFromInline package static let largestInt: UInt8 = 0x1c
    @usableFromInline package static let double: UInt8 = 0x21
    @usableFromInline package static let `false`: UInt8 = 0x26
    @usableFromInline package static let `true`: UInt8 = 0x27
    @usableFromInline package static let uuid: UInt8 = 0x30
    @usableFromInline package static let record: UInt8 = 0x40

    /// The byte after a 0x00 that belongs to the content; no element begins with it (design/tuple.md, "Escape
    /// Character").
    @usableFromInline package static let escape: UInt8 = 0xff

    /// The name of an element's type, for messages.
    package static func name(_ code: UInt8) -> String {
        switch code {
        case null: "null"
        case bytes: "bytes"
        case string: "string"
        case array: "array"
        case smallestInt...largestInt: "integer"
        case 0x0a, 0x0b, 0x1d, 0x1e: "integer beyond 64 bits"
        case 0x20: "32-bit float"
        case double: "double"
        case 0x22: "long double"
        case `false`, `true`: "bool"
        case uuid: "UUID"
        case 0x32, 0x33: "versionstamp"
        case record: "object"
        default: "unknown type code 0x" + hexadecimal(code)
        }
    }

    /// The error for an element that begins with `code`, which this encoding doesn't read.
    package static func unreadable(_ code: UInt8, at offset: Int) -> TupleCodingError {
        switch code {
        case 0x0a, 0x0b, 0x1d, 0x1e:
            TupleCodingError(
                .integerOutOfRange,
                "an integer beyond 64 bits can't be read; only Int64's range is kept",
                at: .offset(offset)
            )
        case 0x20, 0x22:
            TupleCodingError(
                .unsupported,
                "a \(name(code)) can't be read; only 64-bit doubles are kept",
                at: .offset(offset)
            )
        case 0x32, 0x33:
            TupleCodingError(.unsupported, "a versionstamp can't be read", at: .offset(offset))
        default:
            TupleCodingError(.malformed, "\(name(code)) where an element should begin", at: .offset(offset))
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }
}
