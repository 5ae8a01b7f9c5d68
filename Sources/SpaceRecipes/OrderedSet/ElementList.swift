/// The elements of one ordered set, in one snapshot.
///
/// All elements here are bytes: two are the same if their keys' encodings are, or, in a set without keys, their own.
package struct ElementList {
    /// The greatest number of references in a chunk: with 12 bytes each, they fit a page.
    static let chunkSize = 256
    /// A chunk with fewer references is joined with a neighbour, if the two have at most `joinUpTo` together.
    static let joinBelow = 64
    static let joinUpTo = 192

    package let snapshot: Snapshot
    package let name: String
    package let object: UInt64
    package let directory: ElementDirectory

    package init(_ snapshot: Snapshot, name: String, object: UInt64) throws(SpaceError) {
        self.snapshot = snapshot
        self.name = name
        self.object = object
        guard let bytes = try snapshot.row(object, .directory), let directory = ElementDirectory(bytes) else {
            throw .damaged("the directory of \(name.quotedForPeople)")
        }
        self.directory = directory
    }

    package var count: Int { directory.count }

    // MARK: Positions

    func references(of chunk: ElementDirectory.Chunk) throws(SpaceError) -> [ElementReference] {
        guard let bytes = try snapshot.row(object, .chunk(chunk.id)),
            let references = [ElementReference](chunk: bytes, count: chunk.count)
        else { throw .damaged("a chunk of \(name.quotedForPeople)") }
        return references
    }

    package func reference(at index: Int) throws(SpaceError) -> ElementReference {
        let place = directory.place(of: index)
        let chunk = directory.chunks[place.chunk]
        guard let bytes = try snapshot.row(object, .chunk(chunk.id)),
            bytes.count == chunk.count * ElementReference.size
        else { throw .damaged("a chunk of \(name.quotedForPeople)") }
        let offset = place.offset * ElementReference.size
        return ElementReference(hash: bytes.little(offset), number: bytes.little(offset + 8))
    }

    package func row(_ reference: ElementReference) throws(SpaceError) -> ElementRow {
        guard let bytes = try snapshot.row(object, .element(reference)),
            let row = ElementRow(bytes, isKeyed: directory.isKeyed)
        else {
            throw .damaged("an element of \(name.quotedForPeople)")
        }
        return row
    }

    /// The encoding of the element at an index, copied out of the page.
    package func element(at index: Int) throws(SpaceError) -> [UInt8] { Array(try row(reference(at: index)).encoded) }

    /// The encodings of a range of elements.
    package func elements(_ range: Range<Int>) throws(SpaceError) -> [[UInt8]] {
        var elements: [[UInt8]] = []
        elements.reserveCapacity(range.count)
        try forEach(range) { (row) throws(SpaceError) in elements.append(Array(row.encoded)) }
        return elements
    }

    /// The identities of all elements: their keys' encodings, or their own.
    package func identities() throws(SpaceError) -> [[UInt8]] {
        var identities: [[UInt8]] = []
        identities.reserveCapacity(count)
        try forEach(0..<count) { (row) throws(SpaceError) in identities.append(Array(row.identity)) }
        return identities
    }

    /// Visits the rows of a range of elements; they are valid until the snapshot ends or the next change.
    package func forEach(
        _ range: Range<Int>,
        _ body: (ElementRow) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard !range.isEmpty else { return }
        var (position, offset) = directory.place(of: range.lowerBound)
        var left = range.count
        while left > 0 {
            let references = try references(of: directory.chunks[position]).dropFirst(offset).prefix(left)
            for reference in references { try body(try row(reference)) }
            left -= references.count
            (position, offset) = (position + 1, 0)
        }
    }

    // MARK: Finding

    /// The result of a search: an element's reference and chunk, or a free reference that it may get.
    enum Finding {
        case present(ElementReference, chunk: UInt32)
        case absent(ElementReference)
    }

    func find(_ identity: [UInt8]) throws(SpaceError) -> Finding {
        let hash = hash64(identity)
        var free: UInt32 = 0
        // The rows of queues come after those of sets in the table, and have other keys. Without the prefix, a search
        // that finds no row of this hash would walk through all of them.
        var rows = try snapshot.elements.scan(prefix: ElementKey.prefix(object, hash: hash))
        while let (key, bytes) = try rows.nextValid() {
            guard case .element(let reference) = key.row else { break }
            guard let row = ElementRow(bytes, isKeyed: directory.isKeyed) else {
                throw .damaged("an element of \(name.quotedForPeople)")
            }
            if row.identity.elementsEqual(identity) { return .present(reference, chunk: row.chunk) }
            if reference.number == free { free += 1 }
        }
        return .absent(ElementReference(hash: hash, number: free))
    }

    package func contains(_ identity: [UInt8]) throws(SpaceError) -> Bool {
        if case .present = try find(identity) { true } else { false }
    }

    /// The index of an element, or `nil` if it is not in the set.
    ///
    /// - Complexity: O(chunks), a few microseconds for 100,000 elements.
    package func index(of identity: [UInt8]) throws(SpaceError) -> Int? {
        guard case .present(let reference, let chunk) = try find(identity) else { return nil }
        var start = 0
        for (position, entry) in directory.chunks.enumerated() {
            if entry.id == chunk {
                guard let offset = try references(of: directory.chunks[position]).firstIndex(of: reference) else {
                    break
                }
                return start + offset
            }
            start += entry.count
        }
        throw .damaged("an element of \(name.quotedForPeople) is in no chunk")
    }
}

extension TransactionTables {
    /// The rows of ordered sets.
    package var elements: Table<ElementKey, UnsafeRawBufferPointer> { table(tables.elements) }
}

extension Snapshot {
    package func row(_ object: UInt64, _ row: ElementKey.Row) throws(SpaceError) -> UnsafeRawBufferPointer? {
        try elements.get(ElementKey(object, row))
    }

    /// The ordered set of a handle.
    ///
    /// An object's number is never reused: a new set under the same name has another number, and perhaps another type.
    package func elementList(_ name: String, _ number: UInt64) throws(SpaceError) -> ElementList {
        guard let object = try object(name), object.number == number else {
            throw .removed("the ordered set", name)
        }
        return try ElementList(self, name: name, object: number)
    }
}
