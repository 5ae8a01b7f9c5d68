/// Null as a field; in a literal it is written after a dot: `["resize", .null]`.
public struct Null: TupleField, Hashable {
    /// The fields that a formal of this type matches.
    public static var fieldType: FieldType { .null }

    @inlinable
    package init() {}

    /// Appends null.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encodeNull()
    }

    /// Reads null.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Null {
        try decoder.decodeNull()
        return Null()
    }
}

extension TemplateElement where Self == Null {
    /// Null, in a literal.
    @inlinable
    public static var null: Null { Null() }
}
