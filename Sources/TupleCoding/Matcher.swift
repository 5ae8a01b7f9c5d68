/// An element of a template that says what it has matched, so that a take is typed by its template.
public protocol Matcher: TemplateElement {
    /// What a matched field is read as.
    associatedtype Matched: Sendable

    /// Reads the field that the matcher has matched.
    ///
    /// - Throws: `TupleCodingError` when the field can't be read as `Matched`.
    static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Matched
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
