// Edits by index. An edit that is not allowed is refused before anything changes: each call is done as a whole or not
// at all.

extension SharedOrderedSet {
    // MARK: Inserting

    /// Appends an element, unless it is in the set already.
    ///
    /// In a set that identifies its elements by key, an element with the same key is replaced in its place.
    ///
    /// - Returns: Whether it was appended, and its index.
    /// - Throws: `badData` if the element would not decode again; `tooLarge`, `limitReached`, `storageFull`,
    ///   `holderStopped`, `holderBusy`, `namespaceDeleted`, `closed`.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func append(_ element: Element) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try context.naming("append an element") { () throws(SpaceError) in try insert(element) { $0.count } }
    }

    /// Appends the elements that are not in the set yet, in their order, as one change.
    ///
    /// - Returns: The number of elements appended.
    /// - Throws: The same errors as ``append(_:)``.
    /// - Complexity: O(m log n).
    @discardableResult
    public func append(contentsOf elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try context.naming("append elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            return try edit { (list) throws(SpaceError) in
                let (edit, count) = try list.insertion(of: encoded, at: list.count)
                return (edit, count)
            }
        }
    }

    /// Inserts an element at an index, unless it is in the set already.
    ///
    /// - Returns: Whether it was inserted, and its index.
    /// - Throws: `invalidArgument` for an index beyond the end, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func insert(_ element: Element, at index: Int) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try context.naming("insert an element") { () throws(SpaceError) in
            try insert(element) { (list) throws(SpaceError) in
                try list.check(index, isInsertion: true)
                return index
            }
        }
    }

    /// Inserts elements, each at an index of its own, as one step.
    ///
    /// The indices count after the insertion: if `x` and `y` are inserted at 0 and 2 of a b, the result is x a y b.
    /// Observers get the edits one after the other, with one ``CollectionChange/batch``.
    ///
    /// - Parameters:
    ///   - elements: The elements, as many as there are indices.
    ///   - indices: The indices, in the order of the elements.
    /// - Throws: `invalidArgument` for another number of indices, for an index beyond the end or given twice, and if an
    ///   element is given twice or is in the set already; then nothing is inserted. And the errors of ``append(_:)``.
    /// - Complexity: O(m·√n).
    public func insert(
        contentsOf elements: some Sequence<Element>,
        at indices: some Sequence<Int>
    ) throws(SpaceError) {
        let indices = Array(indices)
        try context.naming("insert elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            try edit { (list) throws(SpaceError) in
                try list.checkNew(encoded, replacing: [])
                return (try list.insertions(of: encoded, at: indices, count: list.count), ())
            }
        }
    }

    /// Inserts the elements that are not in the set yet, in their order, as one change.
    ///
    /// - Returns: The number of elements inserted.
    /// - Throws: The same errors as ``insert(_:at:)``.
    /// - Complexity: O(√n + m log n).
    @discardableResult
    public func insert(contentsOf elements: some Sequence<Element>, at index: Int) throws(SpaceError) -> Int {
        try context.naming("insert elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            return try edit { (list) throws(SpaceError) in
                try list.check(index, isInsertion: true)
                let (edit, count) = try list.insertion(of: encoded, at: index)
                return (edit, count)
            }
        }
    }

    package func insert(
        _ element: Element,
        at position: (ElementList) throws(SpaceError) -> Int
    ) throws(SpaceError) -> (inserted: Bool, index: Int) {
        let encoded = try encode(element)
        return try edit { (list) throws(SpaceError) in
            let index = try position(list)
            if let present = try list.index(of: encoded.identity) {
                // An element with the same key is updated in its place.
                return (try list.replacement(at: present, encoded).edit, (false, present))
            }
            return (.insert([encoded], at: index), (true, index))
        }
    }

    // MARK: Removing

    /// Removes the element at an index.
    ///
    /// - Returns: The element.
    /// - Throws: `invalidArgument` for an index beyond the end, and the errors of ``append(_:)``; `badData` if the
    ///   element does not decode as the type, after it was removed.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func remove(at index: Int) throws(SpaceError) -> Element {
        try context.naming("remove an element") { () throws(SpaceError) in
            let removed = try edit { (list) throws(SpaceError) in
                try list.check(index, isInsertion: false)
                return (.remove([index]), try list.element(at: index))
            }
            return try decode(removed, at: index)
        }
    }

    /// Removes the elements at several indices, as one change.
    ///
    /// - Throws: `invalidArgument` if one is beyond the end; then nothing is removed.
    public func remove(at indices: some Sequence<Int>) throws(SpaceError) {
        let indices = Set(indices).sorted()
        try context.naming("remove elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                for index in indices { try list.check(index, isInsertion: false) }
                return (indices.isEmpty ? nil : .remove(indices), ())
            }
        }
    }

    /// Removes an element.
    ///
    /// - Returns: The index that it had, or `nil` if it was not in the set.
    /// - Throws: The same errors as ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func remove(_ element: Element) throws(SpaceError) -> Int? {
        try context.naming("remove an element") { () throws(SpaceError) in
            let identity = try identity(of: element)
            return try edit { (list) throws(SpaceError) in
                let index = try list.index(of: identity)
                return (index.map { .remove([$0]) }, index)
            }
        }
    }

    /// Removes and returns the first element, or returns `nil` if there is none.
    @discardableResult
    public func removeFirst() throws(SpaceError) -> Element? { try remove { $0 > 0 ? 0 : nil } }

    /// Removes and returns the last element, or returns `nil` if there is none.
    @discardableResult
    public func removeLast() throws(SpaceError) -> Element? { try remove { $0 > 0 ? $0 - 1 : nil } }

    private func remove(at index: (_ count: Int) -> Int?) throws(SpaceError) -> Element? {
        try context.naming("remove an element") { () throws(SpaceError) in
            let removed = try edit {
                (list) throws(SpaceError) -> (ElementEdit?, (index: Int, bytes: [UInt8])?) in
                guard let index = index(list.count) else { return (nil, nil) }
                return (.remove([index]), (index, try list.element(at: index)))
            }
            return try removed.map { (removed) throws(SpaceError) in try decode(removed.bytes, at: removed.index)
            }
        }
    }

    /// Removes all elements, as one change; the ordered set itself stays.
    public func removeAll() throws(SpaceError) {
        try context.naming("remove all elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                (list.count == 0 ? nil : .remove(Array(0..<list.count)), ())
            }
        }
    }

    /// Removes the elements for which a condition holds, as one change.
    ///
    /// The condition runs on the elements of one moment, while no other writer waits. The elements for which it is true
    /// are removed if they are still in the set.
    ///
    /// - Returns: The number of elements removed.
    /// - Throws: The errors of the condition, after which nothing has changed, and the errors of ``append(_:)``.
    @discardableResult
    public func removeAll(where condition: (Element) throws -> Bool) throws -> Int {
        let unwanted = try elements().filter(condition)
        return try subtract(unwanted)
    }

    // MARK: Replacing and moving

    /// Replaces the element at an index; at the end of the set, appends the new one.
    ///
    /// If the new element equals the old one, nothing happens.
    ///
    /// - Returns: The element that was there; for an appended element, that element.
    /// - Throws: `invalidArgument` for an index beyond the end, or if the new element is already elsewhere in the set;
    ///   and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func replace(at index: Int, with element: Element) throws(SpaceError) -> Element {
        try context.naming("replace an element") { () throws(SpaceError) in
            let encoded = try encode(element)
            let old = try edit { (list) throws(SpaceError) in
                try list.check(index, isInsertion: true)
                if index == list.count {
                    try list.checkNew([encoded], replacing: [])
                    return (.insert([encoded], at: index), encoded.encoded)
                }
                return try list.replacement(at: index, encoded)
            }
            return try decode(old, at: index)
        }
    }

    /// Replaces the elements at several indices, as one step.
    ///
    /// Observers get the edits one after the other, with one ``CollectionChange/batch``.
    ///
    /// - Parameters:
    ///   - indices: The indices.
    ///   - elements: The new elements, as many as there are indices, in their order.
    /// - Throws: `invalidArgument` for an index beyond the end or given twice, for another number of elements, and if a
    ///   new element is given twice or is in the set at an index that is not replaced; then nothing is changed. And the
    ///   errors of ``append(_:)``.
    /// - Complexity: O(m·√n).
    public func replace(at indices: some Sequence<Int>, with elements: some Sequence<Element>) throws(SpaceError) {
        let indices = Array(indices)
        try context.naming("replace elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            try edit { (list) throws(SpaceError) in (try list.replacement(at: indices, encoded), ()) }
        }
    }

    /// Replaces the elements in a range by others, of any number, as one step.
    ///
    /// Observers get a removal and an insertion, with one ``CollectionChange/batch``.
    ///
    /// - Parameters:
    ///   - range: The indices of the elements to replace; an empty range at the end appends.
    ///   - elements: The new elements.
    /// - Throws: `invalidArgument` for a range beyond the end, and if a new element is given twice or is in the set
    ///   outside of the range; then nothing is changed. And the errors of ``append(_:)``.
    /// - Complexity: O(m·√n).
    public func replaceSubrange(_ range: Range<Int>, with elements: some Sequence<Element>) throws(SpaceError) {
        try context.naming("replace elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            try edit { (list) throws(SpaceError) in
                for bound in [range.lowerBound, range.upperBound] { try list.check(bound, isInsertion: true) }
                try list.checkNew(encoded, replacing: Set(range))
                let edits = [
                    range.isEmpty ? nil : ElementEdit.remove(Array(range)),
                    encoded.isEmpty ? nil : .insert(encoded, at: range.lowerBound),
                ]
                return (ElementEdit.several(edits.compactMap(\.self)).simple, ())
            }
        }
    }

    /// Moves the element at an index to another index.
    ///
    /// - Throws: `invalidArgument` if there is no element at the index, or none could stand at the target.
    /// - Complexity: O(√n), a few microseconds.
    public func move(from index: Int, to target: Int) throws(SpaceError) {
        try move(fromOffsets: CollectionOfOne(index), to: target)
    }

    /// Moves several elements together, as one change.
    ///
    /// They are removed and inserted again, in their old order, so that the first of them is at `target`: if the
    /// elements at 0 and 2 of a b c d are moved to 2, the result is b d a c.
    ///
    /// - Parameters:
    ///   - indices: The indices of the elements to move.
    ///   - target: The index of the first of them afterwards; at most the number of the other elements.
    /// - Throws: `invalidArgument` for an index without an element or an impossible target; then nothing is moved.
    /// - Complexity: O(√n + m).
    public func move(fromOffsets indices: some Sequence<Int>, to target: Int) throws(SpaceError) {
        let indices = Set(indices).sorted()
        try context.naming("move elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                for index in indices { try list.check(index, isInsertion: false) }
                return (try list.move(indices, to: target), ())
            }
        }
    }

    /// Moves several elements together, as one change, with the meaning that `move(fromOffsets:toOffset:)` has in
    /// SwiftUI.
    ///
    /// They are moved before the element that is at `destination` before the move: if the element at 0 of a b c d is
    /// moved to 2, the result is b a c d.
    ///
    /// - Parameters:
    ///   - indices: The indices of the elements to move.
    ///   - destination: An index before the move; the number of elements stands for the end.
    /// - Throws: `invalidArgument` for an index without an element or a destination beyond the end; then nothing is
    ///   moved.
    /// - Complexity: O(√n + m).
    public func move(fromOffsets indices: some Sequence<Int>, toOffset destination: Int) throws(SpaceError) {
        let indices = Set(indices).sorted()
        try context.naming("move elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                for index in indices { try list.check(index, isInsertion: false) }
                try list.check(destination, isInsertion: true)
                return (try list.move(indices, to: destination - indices.count { $0 < destination }), ())
            }
        }
    }

    /// Exchanges the elements at two indices.
    ///
    /// - Throws: `invalidArgument` for an index beyond the end.
    /// - Complexity: O(√n), a few microseconds.
    public func swapAt(_ first: Int, _ second: Int) throws(SpaceError) {
        try context.naming("exchange elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                for index in [first, second] { try list.check(index, isInsertion: false) }
                return list.exchange(first, second)
            }
        }
    }
}
