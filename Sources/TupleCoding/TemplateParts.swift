/// What a template consists of: not copied, because a copy costs more than an allocation.
@usableFromInline
package struct TemplateParts: ~Copyable {
    enum Kind: Sendable {
        case anything
        /// The fields are the elements' nodes.
        case fields
        case record([TemplateEntry], exactly: Bool)
        /// What one of these matches at least.
        case anyOf([TemplateForm])
    }

    /// The elements of a template of fields; of every template, the encoded names and actuals to which the extents of
    /// nodes refer.
    @usableFromInline package var elements: TemplateBuilder

    /// The bytes of the elements, which are in place.
    ///
    /// A copy of bytes that were just stored one by one would make the processor wait for them.
    private(set) var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    let kind: Kind
    @usableFromInline private(set) var shape = Shape.anything
    @usableFromInline private(set) var boundHash: UInt64 = 0

    init(_ elements: consuming TemplateBuilder, _ kind: Kind) {
        self.elements = elements
        self.kind = kind
    }

    // MARK: On the stack of a call

    /// Begins the parts of a template of fields; the fields are described next.
    @usableFromInline
    package static func begin(at pointer: UnsafeMutablePointer<TemplateParts>) {
        pointer.initialize(to: TemplateParts(TemplateBuilder(), .fields))
    }

    /// Completes the parts, once the fields are described.
    ///
    /// - Throws: Why they make no template.
    @usableFromInline
    package static func complete(at pointer: UnsafeMutablePointer<TemplateParts>) throws(TupleCodingError) {
        if pointer.pointee.elements.hasFailed, let failure = pointer.pointee.elements.failure { throw failure }
        pointer.pointee.bind()
    }

    /// Ends the parts.
    @usableFromInline
    package static func end(at pointer: UnsafeMutablePointer<TemplateParts>) { pointer.deinitialize(count: 1) }

    // MARK: What is bound

    /// Notes where the bytes are, and what they bind; from now on the parts do not move.
    mutating func bind() {
        bytes = elements.encoder.encoded.pinned
        switch kind {
        case .anything, .anyOf: break
        case .fields: (shape, boundHash) = elements.nodes.bound(in: bytes)
        case .record(let entries, _):
            var names: [String] = []
            for entry in entries {
                guard let extent = entry.boundExtent else { continue }
                var decoder = TupleDecoder(bytes.slice(entry.name))
                guard let name = try? decoder.decodeString() else { continue }
                names.append(name)
                boundHash &+= Hash64.mix(Hash64.hash(bytes.slice(extent)), Hash64.recordMark)
            }
            shape = .record(bound: names)
        }
    }
}
