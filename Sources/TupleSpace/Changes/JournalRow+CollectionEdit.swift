extension JournalRow {
    /// For a cell, the name of the dictionary that it may be an entry of; `nil` if it can be in none.
    ///
    /// The name is the text before the key's first slash: no dictionary's name contains a slash.
    package var dictionary: Slice<UnsafeRawBufferPointer>? {
        name.firstIndex(of: UInt8(ascii: "/")).map { name[..<$0] }
    }

    /// Decodes the row's edit of an ordered set; `nil` if it was reset or removed.
    ///
    /// Every count is bounded by the row's own length, because an index takes at least one byte.
    func collectionEdit() throws(TupleCodingError) -> CollectionEdit<Value>? {
        guard let bytes = new else {
            guard kind == .reset || kind == .discard else { throw malformed("it has no edit") }
            return nil
        }
        var decoder = TupleDecoder(bytes)
        func values(_ count: Int) throws(TupleCodingError) -> [Value] {
            var values: [Value] = []
            for _ in 0..<count { values.append(try decoder.decodeValue()) }
            return values
        }
        func indices() throws(TupleCodingError) -> [Int] {
            let count = try decoder.decodeInt()
            guard (0...bytes.count).contains(count) else { throw malformed("\(count) indices") }
            var indices: [Int] = []
            for _ in 0..<count { indices.append(try decoder.decodeInt()) }
            return indices
        }
        let edit: CollectionEdit<Value>
        switch kind {
        case .insert:
            let index = try decoder.decodeInt()
            var elements: [Value] = []
            while !decoder.isAtEnd { elements.append(try decoder.decodeValue()) }
            edit = .insert(elements, at: index)
        case .remove:
            let indices = try indices()
            edit = .remove(try values(indices.count), at: indices)
        case .replace:
            let index = try decoder.decodeInt()
            edit = .replace(try decoder.decodeValue(), with: try decoder.decodeValue(), at: index)
        case .move:
            let target = try decoder.decodeInt()
            let indices = try indices()
            edit = .move(try values(indices.count), from: indices, to: target)
        case .exchange:
            let indices = try indices()
            let elements = try values(indices.count)
            guard indices.count == 2 else { throw malformed("\(indices.count) elements") }
            edit = .exchange(elements[0], elements[1], at: indices[0], indices[1])
        case .sort:
            let order = try decoder.decodeBytes()
            guard order.count % 4 == 0 else { throw malformed("an order of \(order.count) bytes") }
            edit = .sort(
                order.withUnsafeBytes { order in
                    stride(from: 0, to: order.count, by: 4).map { Int(order.little($0, UInt32.self)) }
                }
            )
        default:
            throw malformed("an edit that is none")
        }
        try decoder.finish()
        return edit
    }
}
