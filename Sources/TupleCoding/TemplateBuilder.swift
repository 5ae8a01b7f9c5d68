/// Collects the elements of a template; see ``TemplateElement``.
///
/// Names and actuals are encoded into one buffer, and the nodes of the template refer to their extents in it. An array
/// without formals becomes one actual, whose extent is the whole array.
public struct TemplateBuilder: Sendable {
    @usableFromInline var encoder = TupleEncoder()
    private var nodes: [TemplateNode] = []
    private(set) var usesPattern = false
    private var hasRest = false
    private var hasMisplacedRest = false
    private var hasNestedChoice = false

    @usableFromInline
    init() {
        nodes.reserveCapacity(4)
    }

    /// The error if an element was nested too deep, a rest is not the last of its list, or a choice is nested; `nil`
    /// otherwise.
    @usableFromInline
    var failure: TupleCodingError? {
        if hasMisplacedRest {
            return TupleCodingError(
                .formal,
                "a rest stands only as the last element of a template's fields or of an array"
            )
        }
        if hasNestedChoice {
            return TupleCodingError(.formal, "a template that matches any of several can't be an element of another")
        }
        return encoder.failure
    }

    /// Whether the elements make no template.
    @usableFromInline
    var hasFailed: Bool { encoder.hasFailed || hasMisplacedRest || hasNestedChoice }

    /// Adds a field that matches equal fields.
    @inlinable
    package mutating func appendActual<Field: TupleField>(_ field: Field) {
        let start = encoder.count
        field.encode(into: &encoder)
        appendActual(from: start)
    }

    /// Adds a formal.
    package mutating func appendFormal(_ type: FieldType) {
        append(.formal(type))
    }

    @usableFromInline
    mutating func appendActual(from start: Int) {
        append(.actual(start..<encoder.count))
    }

    package mutating func appendRange(_ range: FieldRange) {
        append(.range(range))
    }

    package mutating func appendPattern(_ pattern: Pattern) {
        usesPattern = true
        append(.pattern(pattern))
    }

    /// Adds the rest: whatever fields or elements are left.
    package mutating func appendRest() {
        append(.rest)
        hasRest = true
    }

    /// Adds a node to the present list.
    @inline(__always)
    private mutating func append(_ node: TemplateNode) {
        if hasRest, case .rest? = nodes.last { hasMisplacedRest = true }
        nodes.append(node)
    }

    // MARK: Containers

    /// Adds an array whose elements `body` adds.
    package mutating func appendArray<Failure: Error>(
        _ body: (inout TemplateBuilder) throws(Failure) -> Void
    ) throws(Failure) {
        let outer = nodes
        nodes = []
        let start = encoder.count
        guard encoder.open(TypeCode.array) else {
            nodes = outer
            return
        }
        try body(&self)
        encoder.close()
        let extent = start..<encoder.count
        let inner = nodes
        nodes = outer
        append(inner.allSatisfy(\.isActual) ? .actual(extent) : .array(inner, extent: extent))
    }

    /// Adds an object of entries that are sorted by name and unique.
    package mutating func appendObject<Element, Failure: Error>(
        _ entries: [(name: String, element: Element)],
        exactly: Bool,
        _ body: (Element, inout TemplateBuilder) throws(Failure) -> Void
    ) throws(Failure) {
        let outer = nodes
        nodes = []
        let start = encoder.count
        guard encoder.open(TypeCode.record) else {
            nodes = outer
            return
        }
        var names: [Range<Int>] = []
        for (name, element) in entries {
            let start = encoder.count
            encoder.encode(name)
            names.append(start..<encoder.count)
            try body(element, &self)
        }
        encoder.close()
        if hasRest, nodes.contains(where: \.isRest) { hasMisplacedRest = true }
        let inner = zip(names, nodes).map { TemplateEntry(name: $0, node: $1) }
        nodes = outer
        append(.object(inner, extent: start..<encoder.count, exactly: exactly))
    }

    /// Adds a template as a nested array or object.
    mutating func append(_ template: TemplateForm) {
        usesPattern = usesPattern || template.usesPattern
        template.bytes.withUnsafeBytes { bytes in
            switch template.kind {
            case .anything:
                appendFormal(.any)
            case .fields(let fields):
                appendArray { builder in
                    for field in fields { builder.append(field, from: bytes) }
                }
            case .record(let entries, let exactly):
                append(.object(entries, extent: 0..<bytes.count, exactly: exactly), from: bytes)
            case .anyOf:
                appendFormal(.any)
                hasNestedChoice = true
            }
        }
    }

    /// Copies a node of another template; its bytes may have been encoded at another depth.
    private mutating func append(_ node: TemplateNode, from bytes: UnsafeRawBufferPointer) {
        switch node {
        case .actual(let extent):
            let start = encoder.count
            encoder.append(element: bytes.slice(extent))
            appendActual(from: start)
        case .formal, .range, .pattern:
            append(node)
        case .rest: appendRest()
        case .array(let elements, _):
            appendArray { builder in
                for element in elements { builder.append(element, from: bytes) }
            }
        case .object(let entries, _, let exactly):
            let named = entries.map { entry in
                var decoder = TupleDecoder(bytes.slice(entry.name))
                // A template's names were encoded from strings.
                return (name: (try? decoder.decodeString()) ?? "", element: entry.node)
            }
            appendObject(named, exactly: exactly) { node, builder in builder.append(node, from: bytes) }
        }
    }

    // MARK: The template

    /// A template for tuples whose number of fields is the number of the elements; the builder is empty afterwards.
    ///
    /// The nodes move to the template. A copy would count their references up and down again.
    @usableFromInline
    mutating func takeFields() -> TemplateForm {
        var own: [TemplateNode] = []
        swap(&own, &nodes)
        return TemplateForm(bytes: encoder.bytes, kind: .fields(own), usesPattern: usesPattern)
    }

    /// A template for records, made of the one object that was added; the builder is empty afterwards.
    mutating func takeRecord() -> TemplateForm {
        guard case .object(let entries, _, let exactly)? = nodes.first else {
            // This happens only if the object itself was too deep, which is impossible at the top level.
            return TemplateForm(bytes: [], kind: .record([], exactly: false), usesPattern: false)
        }
        return TemplateForm(
            bytes: encoder.bytes,
            kind: .record(entries, exactly: exactly),
            usesPattern: usesPattern
        )
    }
}
