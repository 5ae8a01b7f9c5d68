/// A description of the tuples that `read` and `take` match: fields that are actual values, and formals.
///
/// A template of fields matches tuples with the same number of fields; with ``TemplateElement/rest`` as its last element,
/// tuples with that number at least. A template of names matches records that have at
/// least its names or, with ``exactly()``, no others. ``any`` matches every tuple.
///
/// ```swift
/// let jobs: Template = ["resize", .any, 40..<50]
/// let urgent: Template = ["kind": "resize", "priority": 7...]
/// ```
///
/// An array or object that you give as a value is an actual: only an equal array or object matches it. An array or
/// object with formals inside is a nested template: `["job", ["kind": "resize", "id": .any] as Template]`.
public struct Template: Sendable {
    package enum Form: Sendable {
        case anything
        case fields([TemplateNode])
        case record([TemplateEntry], exactly: Bool)
    }

    /// The encoded names and actuals, to which the extents of the nodes refer.
    let bytes: [UInt8]
    let form: Form

    /// The set of bound fields.
    package let shape: Shape

    /// The hash of the bound fields, or 0 if none is bound; `EncodedTuple.hash(of:)` is equal for every tuple that
    /// matches.
    package let boundHash: UInt64

    /// Whether the template contains a regular expression, so that matching may take long.
    package let usesPattern: Bool

    init(bytes: [UInt8], form: Form, usesPattern: Bool) {
        self.bytes = bytes
        self.form = form
        self.usesPattern = usesPattern
        (shape, boundHash) = bytes.withUnsafeBytes { Self.bound(form, in: $0) }
    }

    private static func bound(_ form: Form, in bytes: UnsafeRawBufferPointer) -> (Shape, UInt64) {
        var hash: UInt64 = 0
        switch form {
        case .anything:
            return (.anything, 0)
        case .fields(let nodes):
            // Tuples of any length from the one before the rest can match, and no index has all of them.
            if case .rest? = nodes.last { return (.anything, 0) }
            var mask: UInt64 = 0
            for (position, node) in nodes.prefix(Shape.maximumBoundPositions).enumerated() {
                guard case .actual(let extent) = node else { continue }
                mask |= 1 << UInt64(position)
                hash &+= Hash64.mix(Hash64.hash(bytes.slice(extent)), UInt64(position))
            }
            return (.fields(arity: nodes.count, bound: mask), hash)
        case .record(let entries, _):
            var names: [String] = []
            for entry in entries {
                guard let extent = entry.boundExtent else { continue }
                var decoder = TupleDecoder(bytes.slice(entry.name))
                guard let name = try? decoder.decodeString() else { continue }
                names.append(name)
                hash &+= Hash64.mix(Hash64.hash(bytes.slice(extent)), Hash64.recordMark)
            }
            return (.record(bound: names), hash)
        }
    }
}

// MARK: Making templates

extension Template {
    /// The template that matches every tuple, including records.
    public static let any = Template(bytes: [], form: .anything, usesPattern: false)

    /// Makes the template that matches the tuple without fields.
    public init() {
        var builder = TemplateBuilder()
        self = builder.takeFields()
    }

    /// Makes a template of fields.
    ///
    /// - Precondition: No actual is nested deeper than ``TupleLimits/maximumDepth``; see ``init(checking:)``.
    @inlinable
    public init<each M: Matcher>(_ matcher: repeat each M) {
        var builder = TemplateBuilder()
        repeat (each matcher).describe(into: &builder)
        self.init(fields: &builder)
    }

    /// Makes a template of fields whose nesting comes from data.
    ///
    /// - Throws: `TupleCodingError` if an actual is nested deeper than ``TupleLimits/maximumDepth``.
    @inlinable
    public init<each M: Matcher>(checking matcher: repeat each M) throws(TupleCodingError) {
        var builder = TemplateBuilder()
        repeat (each matcher).describe(into: &builder)
        if builder.hasFailed, let failure = builder.failure { throw failure }
        self = builder.takeFields()
    }

    /// Makes a template that matches only one tuple.
    public init(_ tuple: Tuple) {
        let form = tuple.encoded.withUnsafeBytes { bytes -> Form in
            if tuple.isRecord {
                var entries: [TemplateEntry] = []
                _ = bytes.forEachPair(from: 0) { name, value in
                    entries.append(TemplateEntry(name: name, node: .actual(value)))
                    return true
                }
                return .record(entries, exactly: true)
            }
            var nodes: [TemplateNode] = []
            _ = bytes.forEachElement { extent in
                nodes.append(.actual(extent))
                return true
            }
            return .fields(nodes)
        }
        self.init(bytes: tuple.encoded, form: form, usesPattern: false)
    }

    /// Whether every tuple matches.
    package var matchesEverything: Bool {
        if case .anything = form { true } else { false }
    }

    @usableFromInline
    init(fields builder: inout TemplateBuilder) {
        if builder.hasFailed { preconditionFailure(builder.failure?.reason ?? "") }
        self = builder.takeFields()
    }

    /// The same template, but it matches only records, and at every depth only nested objects, that have no other
    /// names.
    public func exactly() -> Template {
        switch form {
        case .anything:
            self
        case .fields(let nodes):
            Template(bytes: bytes, form: .fields(nodes.map(\.matchingExactly)), usesPattern: usesPattern)
        case .record(let entries, _):
            Template(
                bytes: bytes,
                form: .record(
                    entries.map { TemplateEntry(name: $0.name, node: $0.node.matchingExactly) },
                    exactly: true
                ),
                usesPattern: usesPattern
            )
        }
    }
}

extension Template: ExpressibleByArrayLiteral {
    /// Makes a template of fields.
    ///
    /// - Precondition: No actual is nested deeper than ``TupleLimits/maximumDepth``; see ``init(checking:)``.
    public init(arrayLiteral elements: any TemplateElement...) {
        var builder = TemplateBuilder()
        for element in elements { element.describe(into: &builder) }
        self.init(fields: &builder)
    }
}

extension Template: ExpressibleByDictionaryLiteral {
    /// Makes a template of names.
    ///
    /// - Precondition: No name occurs twice, and no actual is nested deeper than ``TupleLimits/maximumDepth``.
    public init(dictionaryLiteral elements: (String, any TemplateElement)...) {
        let sorted = elements.map { (name: $0.0, element: $0.1) }.sorted { $0.name.compareUTF8($1.name) < 0 }
        for (earlier, later) in zip(sorted, sorted.dropFirst()) {
            precondition(earlier.name.compareUTF8(later.name) != 0, "a template has the name \(later.name) twice")
        }
        var builder = TemplateBuilder()
        builder.appendObject(sorted, exactly: false) { element, builder in element.describe(into: &builder) }
        if let failure = builder.failure { preconditionFailure(failure.reason) }
        self = builder.takeRecord()
    }
}

extension Template: TemplateElement {
    /// Adds the template to another one, as a nested array or object.
    public func describe(into builder: inout TemplateBuilder) {
        builder.append(self)
    }
}

extension Template: CustomStringConvertible {
    /// The JSON form.
    public var description: String { json }
}
