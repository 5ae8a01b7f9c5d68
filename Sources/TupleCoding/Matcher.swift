/// What may stand in a template: actuals, formals, ranges, patterns, and templates for nested arrays and objects.
///
/// Template literals have elements of this type, so that variables, ranges and `.any` mix:
///
/// ```swift
/// let template: Template = ["resize", .any, 40..<50]
/// ```
public protocol TemplateElement: Sendable {
    /// Adds the element to a template; one call of a method of `builder`, or of another element's `describe`.
    func describe(into builder: inout TemplateBuilder)
}

/// An element of a template that says what it has matched, so that a take is typed by its template.
public protocol Matcher: TemplateElement {
    /// What a matched field is read as.
    associatedtype Matched: Sendable

    /// Reads the field that the matcher has matched.
    ///
    /// - Throws: `TupleCodingError` when the field can't be read as `Matched`.
    static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched
}

/// A wildcard for fields of one type; see ``any(_:)``.
public struct Formal<Field: TupleField>: Matcher {
    /// Makes the formal.
    @inlinable
    public init() {}

    /// Adds the formal to a template.
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendFormal(Field.fieldType)
    }

    /// Reads the matched field.
    @inlinable
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Field {
        try Field.decode(from: &decoder)
    }
}

/// A formal that matches every field of a type: `any(Int.self)`.
@inlinable
public func any<Field: TupleField>(_ type: Field.Type) -> Formal<Field> {
    Formal()
}

/// A formal that matches every field.
@inlinable
public func any() -> Formal<Value> {
    Formal()
}

extension TemplateElement where Self == Formal<Value> {
    /// A formal that matches every field, in a literal.
    @inlinable
    public static var any: Formal<Value> { Formal() }
}

extension TupleDecoder {
    /// Reads the fields of a tuple that matched, as its template's elements say.
    ///
    /// - Throws: `TupleCodingError` when a field can't be read, or more are left.
    @inlinable
    public mutating func decodeMatched<each M: Matcher>(
        _ matcher: repeat each M
    ) throws(TupleCodingError) -> (repeat (each M).Matched) {
        let matched = (repeat try (each M).decodeMatched(from: &self))
        try finish()
        return matched
    }
}
