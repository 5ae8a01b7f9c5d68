import TupleCoding

/// One edit of an ordered set, checked against its elements: it is carried out, journaled and reported in this form.
package enum ElementEdit {
    /// Inserts elements at an index; none of them is in the set yet.
    case insert([[UInt8]], at: Int)
    /// Removes the elements at these indices, which are ascending.
    case remove([Int])
    /// Replaces an element; the new one is not elsewhere in the set.
    case replace(Int, with: [UInt8])
    /// Moves the elements at these indices, in this order; `to` is the index of the first of them once all have been
    /// moved.
    case move([Int], to: Int)
    /// Exchanges the elements at two indices; the first index is the smaller.
    case exchange(Int, Int)
    /// Reorders all elements: the old index of each element, in the new order.
    case sort([Int])

    package var kind: Change.Kind {
        switch self {
        case .insert: .insert
        case .remove: .remove
        case .replace: .replace
        case .move: .move
        case .exchange: .exchange
        case .sort: .sort
        }
    }
}

extension ElementList {
    /// The disk space that an edit may need, including the old values that the journal keeps.
    package func demand(of edit: ElementEdit, isJournaling: Bool) throws(SpaceError) -> DiskReserve.Demand {
        // This counts the directory, and two chunks that are split or joined, with the rows of all their elements.
        let overhead = directory.size + 64 + 4 * 4096
        var demand = DiskReserve.Demand.adding(1, bytes: overhead)
        demand.elements = 4
        switch edit {
        case .insert(let elements, let index):
            let bytes = elements.reduce(0) { $0 + $1.count + 64 }
            let chunks = elements.count / (Self.chunkSize / 2) + 2
            demand.bytes += bytes + chunks * 4096
            demand.elements += elements.count + chunks
            if !hasRoom(for: elements.count, at: index) { demand.elements += Self.chunkSize }
        case .replace(let index, let new):
            demand.bytes += new.count
            if isJournaling { demand.removedBytes += try row(reference(at: index)).encoded.count }
        case .remove(let indices):
            demand = .removing(1, bytes: overhead)
            demand.elements = rows(movedAlong: indices)
            if isJournaling { demand.removedBytes = try size(of: indices) }
        case .move(let indices, let target):
            demand = .removing(1, bytes: overhead + indices.count / (Self.chunkSize / 2) * 4096)
            demand.elements = rows(movedAlong: indices)
            if indices.count > 1 || !hasRoom(for: 1, at: target) || !hasRoom(for: 1, at: target + 1) {
                demand.elements += Self.chunkSize + indices.count
            }
            // A row is always written as a whole.
            let size = try size(of: indices)
            demand.bytes += size
            if isJournaling { demand.removedBytes = size }
        case .exchange(let first, let second):
            demand = .removing(1, bytes: overhead)
            let size = try size(of: [first, second])
            demand.bytes += size
            if isJournaling { demand.removedBytes = size }
        case .sort:
            demand = .removing(1, bytes: overhead + directory.chunks.count * 4096)
            let size = try size(of: nil)
            demand.bytes += size
            demand.elements = count + directory.chunks.count + 1
        }
        // mdb.c, mdb_freelist_save: the list of pages that a transaction freed is one value, eight bytes for each page.
        demand.bytes += 32 * demand.elements
        return demand
    }

    /// Whether elements can be inserted at an index without splitting a chunk.
    func hasRoom(for elements: Int, at index: Int) -> Bool {
        let (position, offset) = directory.place(of: index)
        func room(_ position: Int) -> Bool {
            directory.chunks.indices.contains(position)
                && directory.chunks[position].count + elements <= Self.chunkSize
        }
        // At a chunk's border no chunk is split, however many elements are inserted.
        return offset == 0 || room(position)
    }

    /// The number of rows written when elements leave their chunks: their own, the chunks', and those of chunks that
    /// are joined.
    private func rows(movedAlong indices: [Int]) -> Int {
        guard indices.count <= 16 else {
            return indices.count + min(indices.count, directory.chunks.count) * (2 + Self.joinBelow) + 4
        }
        var rows = indices.count + 4
        for index in indices {
            let chunk = directory.chunks[directory.place(of: index).chunk]
            rows += 2 + (chunk.count - indices.count < Self.joinBelow ? Self.joinBelow : 0)
        }
        return rows
    }

    /// The size of some elements in bytes, or of all if `indices` is `nil`.
    private func size(of indices: [Int]?) throws(SpaceError) -> Int {
        var size = 0
        if let indices, indices.count < count / 4 {
            for index in indices { size += try row(reference(at: index)).bytes.count + 24 }
        } else {
            // The size of all elements is more than enough, and one pass is cheaper than many look-ups.
            try forEach(0..<count) { (bytes) throws(SpaceError) in size += bytes.count + 24 }
        }
        return size
    }

    // MARK: The journal's form

    /// Encodes an edit as its row in the journal: a tuple with the values before and after.
    ///
    ///     insert   index, elements
    ///     remove   number, indices, elements
    ///     replace  index, old, new
    ///     move     to, number, indices, elements
    ///     exchange number (2), indices, elements
    ///     sort     old indices, 4 bytes each, as bytes
    ///
    /// Returns `nil` if the row would be too long; then the change is reported as a reset.
    func journalForm(of edit: ElementEdit) throws(SpaceError) -> [UInt8]? {
        var encoder = TupleEncoder()
        /// The elements are read from pages, which the edit has not changed yet.
        func append(_ indices: [Int]) throws(SpaceError) {
            encoder.encode(indices.count)
            for index in indices { encoder.encode(index) }
            for index in indices {
                encoder.append(element: try row(reference(at: index)).encoded)
                if encoder.count > Limits.orderedSetChangeBytes { return }
            }
        }
        switch edit {
        case .insert(let elements, let index):
            encoder.encode(index)
            for element in elements {
                element.withUnsafeBytes { encoder.append(element: $0) }
                if encoder.count > Limits.orderedSetChangeBytes { return nil }
            }
        case .remove(let indices):
            try append(indices)
        case .replace(let index, let new):
            encoder.encode(index)
            encoder.append(element: try row(reference(at: index)).encoded)
            new.withUnsafeBytes { encoder.append(element: $0) }
        case .move(let indices, let target):
            encoder.encode(target)
            try append(indices)
        case .exchange(let first, let second):
            try append([first, second])
        case .sort(let order):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(order.count * 4)
            for index in order {
                withUnsafeBytes(of: UInt32(truncatingIfNeeded: index).littleEndian) { bytes.append(contentsOf: $0) }
            }
            bytes.withUnsafeBytes { encoder.encode(bytes: $0) }
        }
        return encoder.count > Limits.orderedSetChangeBytes ? nil : encoder.bytes
    }
}
