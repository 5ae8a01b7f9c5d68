/// An element of a template that knows the type of the field that it matches, so that a template gives a take its
/// types.
public protocol Matcher: TemplateElement {
    /// The type as which a matched field is read.
    associatedtype Matched: Sendable

    /// Reads the field that the matcher has matched.
    ///
    /// - Throws: `TupleCodingError` if the field can't be read as `Matched`.
    static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched
}

extension TupleDecoder {
    /// Reads the fields of a matched tuple as the types of its template's elements.
    ///
    /// - Throws: `TupleCodingError` if a field can't be read, or if fields are left.
    @inlinable
    public mutating func decodeMatched<each M: Matcher>(
        _ matcher: repeat each M
    ) throws(TupleCodingError) -> (repeat (each M).Matched) {
        let matched = (repeat try (each M).decodeMatched(from: &self))
        try finish()
        return matched
    }
}
