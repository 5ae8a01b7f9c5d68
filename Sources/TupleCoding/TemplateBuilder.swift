/// Collects the elements of a template; see ``TemplateElement``.
///
/// Names and actuals are encoded into one buffer, and the nodes of the template refer to their extents in it. An array
/// without formals becomes one actual, whose extent is the whole array.
public struct TemplateBuilder: ~Copyable, Sendable {
    @usableFromInline var encoder = TupleEncoder()
    var nodes = TemplateNodes()
    var usesPattern = false
    private var hasRest = false
    private var hasMisplacedRest = false
    private var hasNestedChoice = false

    @usableFromInline
    @inline(__always)
    init() {}

    /// Makes a builder whose nodes, which follow, refer to these bytes.
    init(bytes: [UInt8]) { encoder.encoded = EncodedBytes(bytes) }

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
    var hasFailed: Bool { encoder.hasFailed || hasMisplacedRest || hasNestedChoice }

    /// Adds a field that matches equal fields.
    @inlinable
    package mutating func appendActual<Field: TupleField>(_ field: Field) {
        let start = encoder.count
        field.encode(into: &encoder)
        appendActual(from: start)
    }

    /// Adds a formal.
    @usableFromInline
    package mutating func appendFormal(_ type: consuming FieldType) {
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
    private mutating func append(_ node: consuming TemplateNode) {
        if hasRest, nodes.count > 0, nodes[nodes.count - 1].isRest { hasMisplacedRest = true }
        nodes.append(node)
    }

    // MARK: Containers

    /// Adds an array whose elements `body` adds.
    package mutating func appendArray<Failure: Error>(
        _ body: (inout TemplateBuilder) throws(Failure) -> Void
    ) throws(Failure) {
        var outer = TemplateNodes()
        swap(&nodes, &outer)
        let start = encoder.count
        guard encoder.open(TypeCode.array) else {
            swap(&nodes, &outer)
            return
        }
        try body(&self)
        encoder.close()
        let extent = start..<encoder.count
        let inner = nodes.array
        nodes = outer
        append(inner.allSatisfy(\.isActual) ? .actual(extent) : .array(inner, extent: extent))
    }

    /// Adds an object of entries that are sorted by name and unique.
    package mutating func appendObject<Element, Failure: Error>(
        _ entries: [(name: String, element: Element)],
        exactly: Bool,
        _ body: (Element, inout TemplateBuilder) throws(Failure) -> Void
    ) throws(Failure) {
        var outer = TemplateNodes()
        swap(&nodes, &outer)
        let start = encoder.count
        guard encoder.open(TypeCode.record) else {
            swap(&nodes, &outer)
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
        let elements = nodes.array
        nodes = outer
        if hasRest, elements.contains(where: \.isRest) { hasMisplacedRest = true }
        let inner = zip(names, elements).map { TemplateEntry(name: $0, node: $1) }
        append(.object(inner, extent: start..<encoder.count, exactly: exactly))
    }

    /// Adds a template as a nested array or object.
    mutating func append(_ template: TemplateForm) {
        usesPattern = usesPattern || template.usesPattern
        let bytes = template.parts.pointee.bytes
        switch template.parts.pointee.kind {
        case .anything:
            appendFormal(.any)
        case .fields:
            appendArray { builder in
                for field in template.parts.pointee.elements.nodes.array { builder.append(field, from: bytes) }
            }
        case .record(let entries, let exactly):
            append(.object(entries, extent: 0..<bytes.count, exactly: exactly), from: bytes)
        case .anyOf:
            appendFormal(.any)
            hasNestedChoice = true
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
}

extension TemplateForm {
    /// A template for tuples whose number of fields is the number of a builder's elements.
    ///
    /// - Throws: Why the elements make no template.
    @usableFromInline
    init(fields builder: consuming TemplateBuilder) throws(TupleCodingError) {
        if builder.hasFailed, let failure = builder.failure { throw failure }
        self.init(keeping: TemplateParts(builder, .fields))
    }

    /// A template for records, made of the one object that was added to a builder.
    ///
    /// - Throws: Why the object makes no template.
    init(record builder: consuming TemplateBuilder) throws(TupleCodingError) {
        if builder.hasFailed, let failure = builder.failure { throw failure }
        // There is no object only if it was too deep, which is impossible at the top level.
        var kind = TemplateParts.Kind.record([], exactly: false)
        if builder.nodes.count > 0, case .object(let entries, _, let exactly) = builder.nodes[0] {
            kind = .record(entries, exactly: exactly)
        }
        self.init(keeping: TemplateParts(builder, kind))
    }
}
