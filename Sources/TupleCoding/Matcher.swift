/// An element of a template that knows the type of the field that it matches: so a take by the template has typed
/// results.
public protocol Matcher: TemplateElement {
    /// The type as which a matched field is read.
    associatedtype Matched: Sendable

    /// Reads the field that this matcher has matched.
    ///
    /// The default reads it as a field of its type. A matcher that knows the field without reading it skips the field,
    /// which saves time.
    ///
    /// - Throws: `TupleCodingError` if the field can't be read as `Matched`.
    func matched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched
}

extension Matcher where Matched: TupleField {
    /// Reads the field as a field of its type.
    @inlinable
    public func matched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched {
        try Matched.decode(from: &decoder)
    }
}

extension TupleDecoder {
    /// Reads the fields of a matched tuple as the types of its template's elements.
    ///
    /// - Throws: `TupleCodingError` if a field can't be read.
    @inlinable
    package mutating func decodeMatched<each M: Matcher>(
        _ matcher: repeat each M
    ) throws(TupleCodingError) -> (repeat (each M).Matched) {
        (repeat try (each matcher).matched(from: &self))
    }
}
