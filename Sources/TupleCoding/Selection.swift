/// What a call looks for, and what it makes of a match: made once, used often, in any namespace.
///
/// A ``Template`` is the selection whose matches come as tuples. Typed fields make a selection that returns matches as
/// these fields; ``record(_:_:)`` makes one that returns decoded matches:
///
/// ```swift
/// let next = Selection("resize", any(Int.self), any(String.self))
/// while let (_, id, file) = try jobs.takeIfExists(matching: next) { … }
///
/// let urgent = Selection.record(Job.self, ["priority": 7...])
/// let job: Job = try await jobs.take(matching: urgent)
/// ```
///
/// A call with fields, such as `jobs.takeIfExists("resize", any(Int.self))`, makes its selection again each time, which
/// costs about a quarter of the call.
public struct Selection<Content: Sendable>: Sendable {
    /// What matches.
    @usableFromInline package let form: TemplateForm

    /// Makes the content of a match; it is called before the tuple is taken or claimed, and perhaps for tuples that
    /// other processes then take first.
    @usableFromInline package let decode: @Sendable (inout TupleDecoder) throws(TupleCodingError) -> Content

    @usableFromInline
    package init(
        _ form: TemplateForm,
        decode: @escaping @Sendable (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) {
        self.form = form
        self.decode = decode
    }

    /// Makes a selection of tuples with as many fields as there are matchers; a match comes as these fields.
    ///
    /// - Parameter matcher: For each field an actual, a formal, a range or a pattern.
    /// - Precondition: No actual is nested deeper than 64 levels; see `init(checking:)`.
    @inlinable
    public init<each M: Matcher>(_ matcher: repeat each M) where Content == (repeat (each M).Matched) {
        self.init(TemplateForm(repeat each matcher)) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Makes a selection of fields whose nesting comes from data.
    ///
    /// - Throws: `TupleCodingError` if an actual is nested deeper than 64 levels.
    @inlinable
    public init<each M: Matcher>(
        checking matcher: repeat each M
    ) throws(TupleCodingError) where Content == (repeat (each M).Matched) {
        self.init(try TemplateForm(checking: repeat each matcher)) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// The same selection, but it matches only records, and at every depth nested objects, that have no other names.
    public func exactly() -> Selection { Selection(form.exactly(), decode: decode) }

    /// Whether the tuple matches.
    package func matches(_ tuple: EncodedTuple) -> Bool { form.matches(tuple) }

    /// Whether the tuple matches.
    public func matches(_ tuple: Tuple) -> Bool { tuple.withEncoded { form.matches($0) } }
}

extension Selection where Content: Decodable {
    /// A selection whose matches come decoded, as a `Codable` type; tuples of fields are decoded as arrays.
    ///
    /// ```swift
    /// let job = try await jobs.take(matching: .record(Job.self, ["kind": "resize"]))
    /// ```
    ///
    /// A call throws `badData` for a match that doesn't decode, which then stays where it is.
    ///
    /// - Parameters:
    ///   - type: What a match is decoded as.
    ///   - template: What matches.
    /// - Returns: The selection.
    public static func record(_ type: Content.Type = Content.self, _ template: Template) -> Selection {
        Selection(template.form) { (decoder) throws(TupleCodingError) in try decoder.decodeTuple().content(type) }
    }
}

extension Tuple {
    /// The record that the tuple is, or its fields as an array, decoded.
    ///
    /// - Throws: `TupleCodingError` if it doesn't decode as the type.
    package func content<Content: Decodable>(_ type: Content.Type) throws(TupleCodingError) -> Content {
        guard let record else { return try TupleCoding.Value.array(fields).decode(type) }
        return try record.decode(type)
    }
}

extension TemplateForm {
    @inlinable
    package init<each M: Matcher>(_ matcher: repeat each M) {
        var builder = TemplateBuilder()
        repeat (each matcher).describe(into: &builder)
        self.init(trusting: builder)
    }

    @inlinable
    package init<each M: Matcher>(checking matcher: repeat each M) throws(TupleCodingError) {
        var builder = TemplateBuilder()
        repeat (each matcher).describe(into: &builder)
        try self.init(fields: builder)
    }

    @usableFromInline
    init(trusting builder: consuming TemplateBuilder) {
        do throws(TupleCodingError) { try self.init(fields: builder) } catch { preconditionFailure(error.reason) }
    }
}
