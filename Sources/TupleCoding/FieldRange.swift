/// A range of one type, compared as encoded.
///
/// So a range of doubles without an upper bound takes in infinity and the positive NaNs, and `0.0...` leaves out `-0.0`.
package struct FieldRange: Sendable, Hashable {
    package enum Bounds: Sendable, Hashable {
        case int(lower: Int?, upper: Int?)
        /// Bounds as ordered bits.
        case double(lower: UInt64?, upper: UInt64?)
        /// Bounds as encoded strings.
        case string(lower: [UInt8]?, upper: [UInt8]?)
    }

    package let bounds: Bounds

    /// Whether the upper bound, if there is one, belongs to the range.
    package let isClosed: Bool

    package init(_ bounds: Bounds, isClosed: Bool) {
        self.bounds = bounds
        self.isClosed = isClosed
    }

    package static func doubles(lower: Double?, upper: Double?, isClosed: Bool) -> FieldRange {
        FieldRange(.double(lower: lower?.orderedBits, upper: upper?.orderedBits), isClosed: isClosed)
    }

    package static func strings(lower: String?, upper: String?, isClosed: Bool) -> FieldRange {
        func encoded(_ string: String) -> [UInt8] {
            var encoder = TupleEncoder(reservingCapacity: string.utf8.count + 2)
            encoder.encode(string)
            return encoder.bytes
        }
        return FieldRange(.string(lower: lower.map(encoded), upper: upper.map(encoded)), isClosed: isClosed)
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

    /// Where the element that begins at `start` ends if it lies in the range; nil if not, or if it is malformed.
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
            // Encoded strings compare as the strings do.
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

// MARK: Swift's ranges as elements of templates

/// A field type of which ranges may stand in templates: integers, doubles and strings.
public protocol TupleRangeBound: TupleField, Comparable {
    /// Adds a range of this type to a template.
    static func describe(lower: Self?, upper: Self?, isClosed: Bool, into builder: inout TemplateBuilder)
}

extension TupleRangeBound where Self: FixedWidthInteger {
    /// Adds a range of integers to a template.
    public static func describe(lower: Self?, upper: Self?, isClosed: Bool, into builder: inout TemplateBuilder) {
        // A missing bound is the type's own, unless that is Int's: a matched field must be readable as this type.
        let lower = Int(lower ?? min)
        let closed = upper == nil || isClosed
        let upper = Int(upper ?? max)
        builder.appendRange(
            FieldRange(
                .int(lower: lower == .min ? nil : lower, upper: closed && upper == .max ? nil : upper),
                isClosed: closed
            )
        )
    }
}

extension Int: TupleRangeBound {}
extension Int8: TupleRangeBound {}
extension Int16: TupleRangeBound {}
extension Int32: TupleRangeBound {}
extension Int64: TupleRangeBound {}
extension UInt8: TupleRangeBound {}
extension UInt16: TupleRangeBound {}
extension UInt32: TupleRangeBound {}

extension Double: TupleRangeBound {
    /// Adds a range of doubles to a template.
    public static func describe(lower: Double?, upper: Double?, isClosed: Bool, into builder: inout TemplateBuilder) {
        builder.appendRange(.doubles(lower: lower, upper: upper, isClosed: isClosed))
    }
}

extension String: TupleRangeBound {
    /// Adds a range of strings to a template; they compare as UTF-8.
    public static func describe(lower: String?, upper: String?, isClosed: Bool, into builder: inout TemplateBuilder) {
        builder.appendRange(.strings(lower: lower, upper: upper, isClosed: isClosed))
    }
}

extension Range: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: upperBound, isClosed: false, into: &builder)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bound {
        try Bound.decode(from: &decoder)
    }
}

extension ClosedRange: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: upperBound, isClosed: true, into: &builder)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bound {
        try Bound.decode(from: &decoder)
    }
}

extension PartialRangeFrom: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: nil, isClosed: true, into: &builder)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bound {
        try Bound.decode(from: &decoder)
    }
}

extension PartialRangeThrough: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: nil, upper: upperBound, isClosed: true, into: &builder)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bound {
        try Bound.decode(from: &decoder)
    }
}

extension PartialRangeUpTo: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: nil, upper: upperBound, isClosed: false, into: &builder)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bound {
        try Bound.decode(from: &decoder)
    }
}
