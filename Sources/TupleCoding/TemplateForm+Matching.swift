// Matching runs on encoded bytes, under the gate and on pages of the database. It allocates only to search a string
// with a regular expression, and it reads only within bounds. Malformed bytes don't match.

extension TemplateForm {
    /// Whether the tuple matches.
    package func matches(_ tuple: EncodedTuple) -> Bool {
        switch parts.pointee.kind {
        case .anything:
            return tuple.isWellFormed
        case .fields:
            return parts.pointee.elements.nodes.match(tuple, own: parts.pointee.bytes)
        case .record(let entries, let exactly):
            guard tuple.isRecord else { return false }
            return TemplateNode.matchObject(entries, exactly: exactly, tuple.bytes, from: 0, own: parts.pointee.bytes)
                == tuple.bytes.count
        case .anyOf(let forms):
            return forms.contains { $0.matches(tuple) }
        }
    }

    /// Does the same with a tuple that may have a long field.
    ///
    /// The result is a field that was searched for its end, or no field; `nil` if the tuple doesn't match.
    package func match(_ tuple: EncodedTuple) -> LongField? {
        guard !tuple.isRecord else { return matches(tuple) ? LongField() : nil }
        switch parts.pointee.kind {
        case .anything:
            return tuple.bytes.longFieldOfAll
        case .fields:
            var long = LongField()
            var index = 0
            for position in 0..<parts.pointee.elements.nodes.count {
                let node = parts.pointee.elements.nodes[position]
                if case .formal(let type) = node, let found = tuple.bytes.longField(from: index, of: type) {
                    (long, index) = (found, found.end)
                    continue
                }
                guard let end = node.match(tuple.bytes, from: index, nested: false, own: parts.pointee.bytes) else {
                    return nil
                }
                index = end
            }
            return index == tuple.bytes.count ? long : nil
        case .record:
            return nil
        case .anyOf(let forms):
            for form in forms {
                if let long = form.match(tuple) { return long }
            }
            return nil
        }
    }

    /// A regular expression whose search in a tuple was given up since the last call, because it took too many steps.
    package func takeGivenUpPattern() -> Pattern? {
        guard usesPattern else { return nil }
        switch parts.pointee.kind {
        case .anything: return nil
        case .fields: return parts.pointee.elements.nodes.array.compactMap { $0.takeGivenUpPattern() }.first
        case .record(let entries, _): return entries.compactMap { $0.node.takeGivenUpPattern() }.first
        case .anyOf(let forms): return forms.compactMap { $0.takeGivenUpPattern() }.first
        }
    }

    /// The hash of the first bound name and value, or `nil` if no name is bound or the template has no names.
    package var firstPairHash: UInt64? {
        guard case .record(let entries, _) = parts.pointee.kind,
            let extent = entries.lazy.compactMap(\.boundExtent).first
        else {
            return nil
        }
        return Hash64.mix(Hash64.hash(parts.pointee.bytes.slice(extent)), Hash64.recordMark)
    }
}

extension TemplateNode {
    fileprivate func takeGivenUpPattern() -> Pattern? {
        switch self {
        case .pattern(let pattern): pattern.takeGivenUp() ? pattern : nil
        case .array(let elements, _): elements.compactMap { $0.takeGivenUpPattern() }.first
        case .object(let entries, _, _): entries.compactMap { $0.node.takeGivenUpPattern() }.first
        default: nil
        }
    }

    /// The end of the element that begins at `start`, or `nil` if the element doesn't match.
    ///
    /// `own`: The template's bytes. The recursion is as deep as the template, so `TupleLimits.maximumDepth` bounds
    /// it.
    @inline(__always)
    func match(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        nested: Bool,
        own: UnsafeRawBufferPointer
    ) -> Int? {
        switch self {
        case .actual(let extent):
            guard bytes.hasBytes(own.slice(extent), at: start) else { return nil }
            let end = start &+ extent.count
            // The encoded "ab" with its terminator is a prefix of the encoded "ab\0c", where an escape after the 00
            // makes it content.
            return end < bytes.count && bytes[end] == TypeCode.escape ? nil : end
        case .formal(let type):
            return type.match(bytes, from: start, nested: nested)
        default:
            return matchOther(bytes, from: start, nested: nested, own: own)
        }
    }

    /// Does the same for what is neither an actual nor a formal.
    private func matchOther(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        nested: Bool,
        own: UnsafeRawBufferPointer
    ) -> Int? {
        switch self {
        case .actual, .formal:
            return match(bytes, from: start, nested: nested, own: own)
        case .range(let range):
            return range.match(bytes, from: start)
        case .pattern(let pattern):
            guard start < bytes.count, bytes[start] == TypeCode.string,
                let end = bytes.escapedEnd(from: start &+ 1)
            else { return nil }
            var decoder = TupleDecoder(bytes.slice(start..<end))
            guard let string = try? decoder.decodeString(), pattern.isFound(in: string) else { return nil }
            return end
        case .rest:
            var index = start
            while index < bytes.count, !(nested && bytes.isContainerEnd(at: index)) {
                guard let end = FieldType.any.match(bytes, from: index, nested: nested) else { return nil }
                index = end
            }
            return index
        case .array(let elements, _):
            guard start < bytes.count, bytes[start] == TypeCode.array else { return nil }
            var index = start &+ 1
            for element in elements {
                if case .rest = element {
                    guard let end = element.match(bytes, from: index, nested: true, own: own) else { return nil }
                    index = end
                    continue
                }
                guard !bytes.isContainerEnd(at: index),
                    let end = element.match(bytes, from: index, nested: true, own: own)
                else { return nil }
                index = end
            }
            return bytes.isContainerEnd(at: index) ? index &+ 1 : nil
        case .object(let entries, _, let exactly):
            return Self.matchObject(entries, exactly: exactly, bytes, from: start, own: own)
        }
    }

    /// Matches an object like `match`; both lists of names are sorted, so one pass finds all.
    fileprivate static func matchObject(
        _ entries: [TemplateEntry],
        exactly: Bool,
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        own: UnsafeRawBufferPointer
    ) -> Int? {
        var next = 0
        let end = bytes.forEachPair(from: start) { name, value in
            guard next < entries.count, entries[next].name.count == name.count,
                bytes.hasBytes(own.slice(entries[next].name), at: name.lowerBound)
            else { return !exactly }
            let matched = entries[next].node.match(bytes, from: value.lowerBound, nested: true, own: own)
            next += 1
            return matched == value.upperBound
        }
        return next == entries.count ? end : nil
    }
}
