/// The elements of a template of fields: those of most templates need no allocation.
///
/// A copy would copy each element by itself, which costs more than an allocation.
struct TemplateNodes: ~Copyable, Sendable {
    /// How many elements lie in place.
    private static let placeCount = 4

    private var place = InlineArray<4, TemplateNode>(repeating: .rest)

    /// The elements behind those in place.
    private var others: [TemplateNode] = []

    private(set) var count = 0

    @inline(__always)
    init() {}

    init(_ nodes: [TemplateNode]) {
        for node in nodes { append(node) }
    }

    @inline(__always)
    subscript(position: Int) -> TemplateNode {
        // The subscript of the array itself copies all elements first.
        position < Self.placeCount ? place.span[position] : others[position - Self.placeCount]
    }

    @inline(__always)
    mutating func append(_ node: consuming TemplateNode) {
        if count < Self.placeCount { place[count] = node } else { others.append(node) }
        count += 1
    }

    /// The elements, copied.
    var array: [TemplateNode] { (0..<count).map { self[$0] } }
}

extension TemplateNodes {
    /// The shape of a template of these fields, and the hash of those that are bound, whose bytes are among `own`.
    func bound(in own: UnsafeRawBufferPointer) -> (Shape, UInt64) {
        var hash: UInt64 = 0
        var mask: UInt64 = 0
        for position in 0..<count {
            switch self[position] {
            case .actual(let extent) where position < Shape.maximumBoundPositions:
                mask |= 1 << UInt64(position)
                hash &+= Hash64.mix(Hash64.hash(own.slice(extent)), UInt64(position))
            // Tuples of any length from the one before the rest can match, and no index has all of them.
            case .rest: return (.anything, 0)
            default: break
            }
        }
        return (.fields(arity: count, bound: mask), hash)
    }

    /// Whether a tuple has fields that these match, and no others; `own`: The template's bytes.
    @inline(__always)
    func match(_ tuple: EncodedTuple, own: UnsafeRawBufferPointer) -> Bool {
        guard !tuple.isRecord else { return false }
        var index = 0
        for position in 0..<count {
            guard let end = self[position].match(tuple.bytes, from: index, nested: false, own: own) else {
                return false
            }
            index = end
        }
        return index == tuple.bytes.count
    }
}
