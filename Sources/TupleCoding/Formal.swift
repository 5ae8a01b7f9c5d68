/// A wildcard for fields of one type; see ``any(_:)``.
public struct Formal<Field: TupleField>: Matcher {
    /// A matched field is read as the type of the formal.
    public typealias Matched = Field

    /// Makes the formal.
    @inlinable
    public init() {}

    /// Adds the formal to a template.
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendFormal(Field.fieldType)
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
    /// A formal that matches every field, for use in a literal.
    @inlinable
    public static var any: Formal<Value> { Formal() }
}
