/// Base64 of RFC 4648: the standard alphabet with padding, and no other characters.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8], into text: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let taken = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if taken > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if taken > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0..<4 {
                let digit = alphabet[Int(group >> UInt32(18 - 6 * position) & 63)]
                text.append(position <= taken ? digit : UInt8(ascii: "="))
            }
            index += taken
        }
    }

    /// The bytes, or `nil` if `encode` would not have written the text.
    static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var index = 0
        while index < digits.count {
            let isLast = index + 4 == digits.count
            let count = isLast ? 4 - padding : 4
            var group: UInt32 = 0
            for position in 0..<4 {
                let byte = digits[index + position]
                if position < count {
                    guard let digit = digit(byte) else { return nil }
                    group = group << 6 | digit
                } else {
                    guard byte == UInt8(ascii: "=") else { return nil }
                    group <<= 6
                }
            }
            // RFC 4648, section 3.5: the padding bits of the last group are zero.
            guard group & (1 << UInt32((4 - count) * 8) - 1) == 0 else { return nil }
            for position in 0..<count - 1 {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position)))
            }
            index += 4
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
