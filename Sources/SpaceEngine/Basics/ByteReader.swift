/// Reads fields one after the other from bytes that may be anything: numbers in little-endian order, and bytes with their
/// length before them, as ``Swift/Array/append(field:)`` writes them.
package struct ByteReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    package var isAtEnd: Bool { rest.isEmpty }

    /// What is left.
    package var unread: ArraySlice<UInt8> { rest }

    /// The next number; `nil` if there are not enough bytes.
    package mutating func next<I: FixedWidthInteger>(_: I.Type = I.self) -> I? {
        let size = MemoryLayout<I>.size
        guard rest.count >= size else { return nil }
        let number = rest.withUnsafeBytes { I(littleEndian: $0.loadUnaligned(as: I.self)) }
        rest = rest.dropFirst(size)
        return number
    }

    package mutating func nextBytes() -> [UInt8]? {
        guard let count = next(UInt32.self), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    package mutating func nextText() -> String? {
        nextBytes().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A number that is 0 or 1, as a condition.
    package mutating func nextFlag() -> Bool? {
        switch next(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Numbers, with their count (2 bytes) before them; `nil` if there are more than `most`.
    package mutating func nextNumbers(most: Int) -> [UInt64]? {
        guard let count = next(UInt16.self), count <= most else { return nil }
        var numbers: [UInt64] = []
        for _ in 0..<count {
            guard let number = next(UInt64.self) else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}

extension [UInt8] {
    /// Appends bytes with their length.
    package mutating func append(field: [UInt8]) {
        append(little: UInt32(field.count))
        append(contentsOf: field)
    }

    package mutating func append(field text: String) { append(field: Array(text.utf8)) }

    package mutating func append(flag: Bool) { append(flag ? 1 : 0) }

    /// Appends numbers with their number before them.
    package mutating func append(numbers: [UInt64]) {
        append(little: UInt16(numbers.count))
        for number in numbers { append(little: number) }
    }
}
