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

extension Range: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: upperBound, isClosed: false, into: &builder)
    }
}

extension ClosedRange: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: upperBound, isClosed: true, into: &builder)
    }
}

extension PartialRangeFrom: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: lowerBound, upper: nil, isClosed: true, into: &builder)
    }
}

extension PartialRangeThrough: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: nil, upper: upperBound, isClosed: true, into: &builder)
    }
}

extension PartialRangeUpTo: TemplateElement, Matcher where Bound: TupleRangeBound {
    /// Adds the range to a template.
    public func describe(into builder: inout TemplateBuilder) {
        Bound.describe(lower: nil, upper: upperBound, isClosed: false, into: &builder)
    }
}
