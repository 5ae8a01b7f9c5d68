/// What a template matches, without what becomes of a match; see ``Template``.
@usableFromInline
package struct TemplateForm: Sendable {
    package enum Kind: Sendable {
        case anything
        case fields([TemplateNode])
        case record([TemplateEntry], exactly: Bool)
        /// What one of these matches at least.
        case anyOf([TemplateForm])
    }

    /// The encoded names and actuals, to which the extents of the nodes refer.
    let bytes: [UInt8]
    let kind: Kind

    /// The set of bound fields.
    package let shape: Shape

    /// The hash of the bound fields, or 0 if none is bound; `EncodedTuple.hash(of:)` is equal for every tuple that
    /// matches.
    package let boundHash: UInt64

    /// Whether the template contains a regular expression, so that matching may take long.
    package let usesPattern: Bool

    init(bytes: [UInt8], kind: Kind, usesPattern: Bool) {
        self.bytes = bytes
        self.kind = kind
        self.usesPattern = usesPattern
        (shape, boundHash) = bytes.withUnsafeBytes { Self.bound(kind, in: $0) }
    }

    private static func bound(_ kind: Kind, in bytes: UnsafeRawBufferPointer) -> (Shape, UInt64) {
        var hash: UInt64 = 0
        switch kind {
        case .anything, .anyOf:
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

    /// The form that every tuple matches, including records.
    package static let any = TemplateForm(bytes: [], kind: .anything, usesPattern: false)

    /// The form that only one tuple matches.
    init(_ tuple: Tuple) {
        let kind = tuple.encoded.withUnsafeBytes { bytes -> Kind in
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
        self.init(bytes: tuple.encoded, kind: kind, usesPattern: false)
    }

    /// The form that matches what any of several matches.
    init(anyOf forms: [TemplateForm]) {
        self.init(bytes: [], kind: .anyOf(forms), usesPattern: forms.contains { $0.usesPattern })
    }

    /// The forms of which one has to match; `nil` if there is no choice.
    package var choices: [TemplateForm]? {
        if case .anyOf(let forms) = kind { forms } else { nil }
    }

    /// Whether every tuple matches.
    package var matchesEverything: Bool {
        if case .anything = kind { true } else { false }
    }

    /// The same form, but it matches only records, and at every depth only nested objects, that have no other names.
    func exactly() -> TemplateForm {
        switch kind {
        case .anything:
            self
        case .fields(let nodes):
            TemplateForm(bytes: bytes, kind: .fields(nodes.map(\.matchingExactly)), usesPattern: usesPattern)
        case .record(let entries, _):
            TemplateForm(
                bytes: bytes,
                kind: .record(
                    entries.map { TemplateEntry(name: $0.name, node: $0.node.matchingExactly) },
                    exactly: true
                ),
                usesPattern: usesPattern
            )
        case .anyOf(let forms): TemplateForm(anyOf: forms.map { $0.exactly() })
        }
    }
}
