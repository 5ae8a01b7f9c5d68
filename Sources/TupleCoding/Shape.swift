/// The set of a template's fields that are bound, that is, actuals that match by equality of bytes; an index serves one
/// shape.
@usableFromInline
package enum Shape: Sendable, Hashable {
    /// Any tuple, record or not.
    case anything
    /// Tuples of `arity` fields; the set bits of `bound` are the bound positions, which are below 64.
    case fields(arity: Int, bound: UInt64)
    /// Records; `bound` are the bound names, unique and sorted by their UTF-8.
    case record(bound: [String])

    /// The number of positions that can be bound; fields at later positions are never bound.
    package static let maximumBoundPositions = 64
}

extension Shape {
    /// Names compare as bytes, like everything in the encoding.
    @usableFromInline
    package static func == (left: Shape, right: Shape) -> Bool {
        switch (left, right) {
        case (.anything, .anything): true
        case (.fields(let left, let leftBound), .fields(let right, let rightBound)):
            left == right && leftBound == rightBound
        case (.record(let left), .record(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.compareUTF8($1) == 0 }
        default: false
        }
    }

    /// Feeds the same bytes that equality compares.
    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .anything: hasher.combine(0)
        case .fields(let arity, let bound):
            hasher.combine(1)
            hasher.combine(arity)
            hasher.combine(bound)
        case .record(let bound):
            hasher.combine(2)
            for name in bound { hasher.combine(Value.string(name)) }
        }
    }
}

// MARK: The row in the table of shapes

extension Shape {
    private static let anythingTag: UInt8 = 0
    private static let fieldsTag: UInt8 = 1
    private static let recordTag: UInt8 = 2

    /// The shape as bytes.
    ///
    /// The first byte is a tag. Then follow the arity and the bound positions as big-endian 64-bit words, or the bound
    /// names as encoded strings.
    package func encoded() -> [UInt8] {
        var encoder = TupleEncoder()
        switch self {
        case .anything:
            encoder.encoded.append(Self.anythingTag)
        case .fields(let arity, let bound):
            encoder.encoded.append(Self.fieldsTag)
            encoder.appendBigEndian(UInt64(arity.magnitude))
            encoder.appendBigEndian(bound)
        case .record(let bound):
            encoder.encoded.append(Self.recordTag)
            for name in bound { encoder.encode(name) }
        }
        return encoder.bytes
    }

    /// Reads bytes that `encoded()` wrote; `nil` for all other bytes.
    package init?(encoded bytes: UnsafeRawBufferPointer) {
        guard let tag = bytes.first else { return nil }
        switch tag {
        case Self.anythingTag:
            guard bytes.count == 1 else { return nil }
            self = .anything
        case Self.fieldsTag:
            guard bytes.count == 17 else { return nil }
            let arity = bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self).bigEndian
            let bound = bytes.loadUnaligned(fromByteOffset: 9, as: UInt64.self).bigEndian
            guard let arity = Int(exactly: arity),
                arity >= Self.maximumBoundPositions || bound >> UInt64(arity) == 0
            else { return nil }
            self = .fields(arity: arity, bound: bound)
        case Self.recordTag:
            var decoder = TupleDecoder(bytes.slice(1..<bytes.count))
            var names: [String] = []
            while !decoder.isAtEnd {
                guard let name = try? decoder.decodeString() else { return nil }
                if let last = names.last, last.compareUTF8(name) >= 0 { return nil }
                names.append(name)
            }
            self = .record(bound: names)
        default:
            return nil
        }
    }
}

// MARK: For people

extension Shape: CustomStringConvertible {
    /// `(=, ?, =)` for bound and free fields, `{kind=}` for bound names, `?` for anything.
    @usableFromInline
    package var description: String {
        switch self {
        case .anything:
            return "?"
        case .fields(let arity, let bound):
            let shown = min(arity, Self.maximumBoundPositions)
            var marks = (0..<shown).map { bound & 1 << UInt64($0) != 0 ? "=" : "?" }
            if shown < arity { marks.append("… \(arity) fields") }
            return "(" + marks.joined(separator: ", ") + ")"
        case .record(let bound):
            return "{" + bound.map { Self.shown($0) + "=" }.joined(separator: ", ") + "}"
        }
    }

    /// The name; unless it is plain, it is escaped and in quotation marks.
    private static func shown(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.utf8.allSatisfy {
                $0.isOfWord || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 >= 0x80
            }
        return isPlain ? name : Value.string(name).json
    }
}
