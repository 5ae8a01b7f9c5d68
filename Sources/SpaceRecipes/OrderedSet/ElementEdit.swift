/// One edit of an ordered set, checked against its elements: it is carried out, journaled and reported in this form.
package indirect enum ElementEdit {
    /// Inserts elements at an index; none of them is in the set yet.
    case insert([ElementBytes], at: Int)
    /// Removes the elements at these indices, which are ascending.
    case remove([Int])
    /// Replaces an element; the new one is not elsewhere in the set.
    case replace(Int, with: ElementBytes)
    /// Moves the elements at these indices, in this order; `to` is the index of the first of them once all have been
    /// moved.
    case move([Int], to: Int)
    /// Exchanges the elements at two indices; the first index is the smaller.
    case exchange(Int, Int)
    /// Reorders all elements: the old index of each element, in the new order.
    case sort([Int])
    /// Several edits, one after the other, as one step: each is journaled for itself, and all have the same batch.
    ///
    /// Indices of elements to replace, remove or move are valid before the first edit; insertions come last.
    case several([ElementEdit])

    /// The same edit in its simplest form: one of several alone, and `nil` for none.
    package var simple: ElementEdit? {
        guard case .several(let edits) = self else { return self }
        return edits.count > 1 ? self : edits.first
    }

    /// The kind of change; several edits have the kind of the first.
    package var kind: ChangeKind {
        switch self {
        case .insert: .insert
        case .remove: .remove
        case .replace: .replace
        case .move: .move
        case .exchange: .exchange
        case .sort: .sort
        case .several(let edits): edits.first?.kind ?? .reset
        }
    }
}

extension ElementList {
    /// The size in bytes of the elements that an edit brings, replaces, removes or moves.
    package func size(of edit: ElementEdit) throws(SpaceError) -> Int {
        switch edit {
        case .insert(let elements, _): return elements.reduce(0) { $0 + $1.size + 64 }
        case .replace(let index, let new): return try row(reference(at: index)).bytes.count + new.size
        case .remove(let indices), .move(let indices, _): return try size(of: indices)
        case .exchange(let first, let second): return try size(of: [first, second])
        case .sort: return try size(of: nil)
        case .several(let edits):
            var sum = 0
            for edit in edits { sum += try size(of: edit) }
            return sum
        }
    }

    /// The size of some elements in bytes, or of all if `indices` is `nil`.
    private func size(of indices: [Int]?) throws(SpaceError) -> Int {
        var size = 0
        if let indices, indices.count < count / 4 {
            for index in indices { size += try row(reference(at: index)).bytes.count + 24 }
        } else {
            // The size of all elements is more than enough, and one pass is cheaper than many look-ups.
            try forEach(0..<count) { (row) throws(SpaceError) in size += row.bytes.count + 24 }
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
                element.encoded.withUnsafeBytes { encoder.append(element: $0) }
                if encoder.count > Limits.orderedSetChangeBytes { return nil }
            }
        case .remove(let indices):
            try append(indices)
        case .replace(let index, let new):
            encoder.encode(index)
            encoder.append(element: try row(reference(at: index)).encoded)
            new.encoded.withUnsafeBytes { encoder.append(element: $0) }
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
        case .several:
            // Each of them has a row of its own.
            return nil
        }
        return encoder.count > Limits.orderedSetChangeBytes ? nil : encoder.bytes
    }
}
