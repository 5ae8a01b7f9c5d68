public import FoundationEssentials
public import SharedSpace

/// A date is stored as a double: the seconds since 1970, which a `Date` keeps to the microsecond for centuries.
///
/// In templates, `any(Date.self)` matches every double, and two dates make a range.
extension Date: TupleField, TupleRangeBound {
    /// The fields that a formal of this type matches: any double.
    public static var fieldType: FieldType { .double }

    /// Appends the seconds since 1970.
    public func encode(into encoder: inout TupleEncoder) { encoder.encode(timeIntervalSince1970) }

    /// Reads the seconds since 1970.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Date {
        Date(timeIntervalSince1970: try decoder.decode(Double.self))
    }

    /// Adds a range of dates to a template.
    public static func describe(lower: Date?, upper: Date?, isClosed: Bool, into builder: inout TemplateBuilder) {
        Double.describe(
            lower: lower?.timeIntervalSince1970,
            upper: upper?.timeIntervalSince1970,
            isClosed: isClosed,
            into: &builder
        )
    }
}
