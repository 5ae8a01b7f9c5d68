/// A field type whose ranges may be elements of templates: integers, doubles and strings.
public protocol TupleRangeBound: TupleField, Comparable {
    /// Adds a range of this type to a template.
    static func describe(lower: Self?, upper: Self?, isClosed: Bool, into builder: inout TemplateBuilder)
}

extension TupleRangeBound where Self: FixedWidthInteger {
    /// Adds a range of integers to a template.
    public static func describe(lower: Self?, upper: Self?, isClosed: Bool, into builder: inout TemplateBuilder) {
        // A matched field must be readable as this type. So a missing bound becomes the type's own limit, unless that
        // is Int's.
        let lower = Int(lower ?? min)
        let closed = upper == nil || isClosed
        let upper = Int(upper ?? max)
        builder.appendRange(
            FieldRange(
                bounds: .int(lower: lower == .min ? nil : lower, upper: closed && upper == .max ? nil : upper),
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
    /// Adds a range of strings to a template; the strings compare as UTF-8.
    public static func describe(lower: String?, upper: String?, isClosed: Bool, into builder: inout TemplateBuilder) {
        builder.appendRange(.strings(lower: lower, upper: upper, isClosed: isClosed))
    }
}

// MARK: Swift's ranges as elements of templates

extension RangeExpression where Bound: TupleRangeBound {
    /// A matched field is read as the type of the bounds.
    public typealias Matched = Bound
}

/// A range as an element of a template.
package protocol TemplateRange: Matcher {
    associatedtype Bound: TupleRangeBound
    /// Where the range begins and ends, and whether it has its upper bound.
    var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { get }
}

extension TemplateRange {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        let bounds = bounds
        Bound.describe(lower: bounds.lower, upper: bounds.upper, isClosed: bounds.isClosed, into: &builder)
    }
}

extension Range: TemplateElement, Matcher, TemplateRange where Bound: TupleRangeBound {
    package var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension ClosedRange: TemplateElement, Matcher, TemplateRange where Bound: TupleRangeBound {
    package var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension PartialRangeFrom: TemplateElement, Matcher, TemplateRange where Bound: TupleRangeBound {
    package var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { (lowerBound, nil, true) }
}

extension PartialRangeThrough: TemplateElement, Matcher, TemplateRange where Bound: TupleRangeBound {
    package var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: TemplateElement, Matcher, TemplateRange where Bound: TupleRangeBound {
    package var bounds: (lower: Bound?, upper: Bound?, isClosed: Bool) { (nil, upperBound, false) }
}
