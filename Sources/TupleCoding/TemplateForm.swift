/// What a template matches, without what becomes of a match; see ``Template``.
///
/// A form refers to its parts. A call with fields has them on its stack, and lends a form of them to what it calls, so
/// that it allocates nothing. A form that is kept owns its parts.
@usableFromInline
package struct TemplateForm: @unchecked Sendable {
    // Unchecked because of the pointer: the parts of a form do not change, and stay where they are.
    @usableFromInline let parts: UnsafePointer<TemplateParts>
    /// What frees the parts; `nil` if they are lent.
    ///
    /// The compiler ends no variable before what is read through a pointer.
    private let owner: KeptParts?

    /// A form that is valid until the parts are changed or gone.
    @usableFromInline
    init(lending parts: UnsafePointer<TemplateParts>) {
        self.parts = parts
        owner = nil
    }

    /// Lends `body` the form of some fields, for whose parts nothing is allocated.
    ///
    /// - Throws: `refusal` of what is wrong with the fields, if anything is, and what `body` throws.
    @inlinable
    @inline(__always)
    package static func lend<each M: Matcher, Result: ~Copyable, Failure: Error>(
        _ matcher: repeat each M,
        refusal: (TupleCodingError) -> Failure,
        to body: (TemplateForm) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeTemporaryAllocation(of: TemplateParts.self, capacity: 1) { (memory) throws(Failure) in
            let parts = memory.baseAddress.unsafelyUnwrapped
            TemplateParts.begin(at: parts)
            defer { TemplateParts.end(at: parts) }
            repeat (each matcher).describe(into: &parts.pointee.elements)
            do throws(TupleCodingError) { try TemplateParts.complete(at: parts) } catch { throw refusal(error) }
            return try body(TemplateForm(lending: parts))
        }
    }

    /// A form that owns its parts.
    init(keeping parts: consuming TemplateParts) {
        let owner = KeptParts(parts)
        self.parts = UnsafePointer(owner.pointer)
        self.owner = owner
    }

    /// The set of bound fields.
    @inlinable
    package var shape: Shape { parts.pointee.shape }

    /// The hash of the bound fields, or 0 if none is bound; `EncodedTuple.hash(of:)` is equal for every tuple that
    /// matches.
    @inlinable
    package var boundHash: UInt64 { parts.pointee.boundHash }

    /// Whether the template contains a regular expression, so that matching may take long.
    package var usesPattern: Bool { parts.pointee.elements.usesPattern }

    /// The form that every tuple matches, including records.
    package static let any = TemplateForm(keeping: TemplateParts(TemplateBuilder(), .anything))

    /// The form that only one tuple matches.
    init(_ tuple: Tuple) {
        var elements = TemplateBuilder(bytes: tuple.encoded)
        var kind = TemplateParts.Kind.fields
        tuple.encoded.withUnsafeBytes { bytes in
            if tuple.isRecord {
                var entries: [TemplateEntry] = []
                _ = bytes.forEachPair(from: 0) { name, value in
                    entries.append(TemplateEntry(name: name, node: .actual(value)))
                    return true
                }
                kind = .record(entries, exactly: true)
            } else {
                _ = bytes.forEachElement { extent in
                    elements.nodes.append(.actual(extent))
                    return true
                }
            }
        }
        self.init(keeping: TemplateParts(elements, kind))
    }

    /// The form that matches what any of several matches.
    init(anyOf forms: [TemplateForm]) {
        var elements = TemplateBuilder()
        elements.usesPattern = forms.contains { $0.usesPattern }
        self.init(keeping: TemplateParts(elements, .anyOf(forms)))
    }

    /// The forms of which one has to match; `nil` if there is no choice.
    package var choices: [TemplateForm]? {
        if case .anyOf(let forms) = parts.pointee.kind { forms } else { nil }
    }

    /// Whether every tuple matches.
    package var matchesEverything: Bool {
        if case .anything = parts.pointee.kind { true } else { false }
    }

    /// The same form, but it matches only records, and at every depth only nested objects, that have no other names.
    func exactly() -> TemplateForm {
        var elements = TemplateBuilder(bytes: parts.pointee.elements.encoder.bytes)
        elements.usesPattern = usesPattern
        switch parts.pointee.kind {
        case .anything:
            return self
        case .fields:
            for node in parts.pointee.elements.nodes.array { elements.nodes.append(node.matchingExactly) }
            return TemplateForm(keeping: TemplateParts(elements, .fields))
        case .record(let entries, _):
            let entries = entries.map { TemplateEntry(name: $0.name, node: $0.node.matchingExactly) }
            return TemplateForm(keeping: TemplateParts(elements, .record(entries, exactly: true)))
        case .anyOf(let forms): return TemplateForm(anyOf: forms.map { $0.exactly() })
        }
    }
}

/// The parts that a form owns.
private final class KeptParts: Sendable {
    // The parts do not change.
    nonisolated(unsafe) let pointer: UnsafeMutablePointer<TemplateParts>

    init(_ parts: consuming TemplateParts) {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: parts)
        pointer.pointee.bind()
    }

    deinit {
        pointer.deinitialize(count: 1)
        pointer.deallocate()
    }
}
