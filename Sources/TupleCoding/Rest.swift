/// The fields or elements that are left, however many; see ``TemplateElement/rest``.
public struct Rest: Matcher {
    init() {}

    /// Adds the rest to a template.
    public func describe(into builder: inout TemplateBuilder) { builder.appendRest() }

    /// Reads the fields that are left.
    public func matched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> [Value] {
        var values: [Value] = []
        while !decoder.isAtEnd { values.append(try decoder.decodeValue()) }
        return values
    }
}

extension TemplateElement where Self == Rest {
    /// The remaining fields or elements, any number (even none) of any types: the last element of a template's fields,
    /// or of a nested array.
    ///
    /// ```swift
    /// let (_, id, rest) = try await jobs.take("job", any(Int.self), .rest)      // rest: [Value]
    /// ```
    ///
    /// A template with a rest matches tuples of different lengths, so no index serves it: a look goes through all tuples,
    /// up to the first match.
    public static var rest: Rest { Rest() }
}
