/// A range of values of one type, in the order of their encodings.
///
/// So a range of doubles without an upper bound contains infinity and the positive NaNs, and `0.0...` does not contain
/// `-0.0`.
package struct FieldRange: Sendable, Hashable {
    package enum Bounds: Sendable, Hashable {
        case int(lower: Int?, upper: Int?)
        /// The bounds as ordered bits.
        case double(lower: UInt64?, upper: UInt64?)
        /// The bounds as encoded strings.
        case string(lower: [UInt8]?, upper: [UInt8]?)
    }

    package let bounds: Bounds

    /// Whether the upper bound, if there is one, belongs to the range.
    package let isClosed: Bool

    package static func doubles(lower: Double?, upper: Double?, isClosed: Bool) -> FieldRange {
        FieldRange(bounds: .double(lower: lower?.orderedBits, upper: upper?.orderedBits), isClosed: isClosed)
    }

    package static func strings(lower: String?, upper: String?, isClosed: Bool) -> FieldRange {
        func encoded(_ string: String) -> [UInt8] {
            var encoder = TupleEncoder(reservingCapacity: string.utf8.count + 2)
            encoder.encode(string)
            return encoder.bytes
        }
        return FieldRange(bounds: .string(lower: lower.map(encoded), upper: upper.map(encoded)), isClosed: isClosed)
    }

    /// Whether the lower bound comes after the upper one.
    package var isReversed: Bool {
        switch bounds {
        case .int(let lower?, let upper?): lower > upper
        case .double(let lower?, let upper?): lower > upper
        case .string(let lower?, let upper?):
            lower.withUnsafeBytes { lower in upper.withUnsafeBytes { lower.compare($0) > 0 } }
        default: false
        }
    }

    /// The end of the element that begins at `start`, or `nil` if the element is not in the range or is malformed.
    package func match(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        switch bounds {
        case .int(let lower, let upper):
            guard let (value, end) = bytes.integer(at: start) else { return nil }
            return contains(value, lower, upper) ? end : nil
        case .double(let lower, let upper):
            guard let value = bytes.doubleBits(at: start) else { return nil }
            return contains(value, lower, upper) ? start &+ 9 : nil
        case .string(let lower, let upper):
            guard start < bytes.count, bytes[start] == TypeCode.string,
                let end = bytes.escapedEnd(from: start &+ 1)
            else { return nil }
            // Encoded strings have the same order as the strings.
            let element = bytes.slice(start..<end)
            if let lower, lower.withUnsafeBytes({ element.compare($0) < 0 }) { return nil }
            if let upper {
                let order = upper.withUnsafeBytes { element.compare($0) }
                guard isClosed ? order <= 0 : order < 0 else { return nil }
            }
            return end
        }
    }

    private func contains<Bound: Comparable>(_ value: Bound, _ lower: Bound?, _ upper: Bound?) -> Bool {
        if let lower, value < lower { return false }
        guard let upper else { return true }
        return isClosed ? value <= upper : value < upper
    }
}
