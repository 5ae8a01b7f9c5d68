/// A wildcard for fields of one type; see ``any(_:)``.
public struct Formal<Matched: TupleField>: Matcher {
    @inlinable
    package init() {}

    /// Adds the formal to a template.
    @inlinable
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendFormal(Matched.fieldType)
    }

    /// Reads a field of the type.
    @inlinable
    public func matched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched {
        try Matched.decode(from: &decoder)
    }
}

/// A formal that matches every field of a type: `any(Int.self)`.
@inlinable
public func any<Field: TupleField>(_ type: Field.Type) -> Formal<Field> {
    Formal()
}

extension TemplateElement where Self == Formal<Value> {
    /// A formal that matches every field: `.any`.
    @inlinable
    public static var any: Formal<Value> { Formal() }
}
