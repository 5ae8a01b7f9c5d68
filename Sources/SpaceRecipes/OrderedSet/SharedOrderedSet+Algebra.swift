import TupleCoding

// Sorting, and the algebra of sets. A user's comparison never runs while others are kept from writing.

extension SharedOrderedSet {
    // MARK: Order

    /// How often a sort begins anew when others have edited meanwhile.
    private static var attempts: Int { 64 }

    /// Sorts the elements, as one change.
    ///
    /// The comparison runs on the elements of one moment, with nobody kept waiting; if others have edited meanwhile, it begins anew.
    /// Elements that compare equal keep their order.
    ///
    /// - Parameter areInIncreasingOrder: Whether the first comes before the second.
    /// - Throws: What the comparison throws, after which nothing has changed; `holderBusy` when others kept editing; and as
    ///   ``append(_:)``.
    /// - Complexity: O(n log n).
    public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws {
        try reorder("sort the elements") { elements in
            try elements.indices.sorted { left, right in
                if try areInIncreasingOrder(elements[left], elements[right]) { return true }
                return try !areInIncreasingOrder(elements[right], elements[left]) && left < right
            }
        }
    }

    /// Brings the elements into a random order, as one change.
    ///
    /// - Throws: `holderBusy` when others kept editing; and as ``append(_:)``.
    public func shuffle() throws {
        try reorder("shuffle the elements") { $0.indices.shuffled() }
    }

    /// Reverses the order of the elements, as one change.
    public func reverse() throws(SpaceError) {
        try edit("reverse the elements") { (list) throws(SpaceError) in
            (list.count < 2 ? nil : .sort((0..<list.count).reversed()), ())
        }
    }

    private func reorder(_ operation: String, _ order: ([Element]) throws -> [Int]) throws {
        for _ in 0..<Self.attempts {
            let (bytes, edits) = try read(operation) { (list) throws(SpaceError) in
                (try list.elements(0..<list.count), list.directory.edits)
            }
            var elements: [Element] = []
            for (index, bytes) in bytes.enumerated() { elements.append(try decode(bytes, at: index, operation)) }
            let order = try order(elements)
            if order == Array(elements.indices) { return }
            let isDone = try edit(operation) { (list) throws(SpaceError) -> (ElementEdit?, Bool) in
                list.directory.edits == edits ? (.sort(order), true) : (nil, false)
            }
            if isDone { return }
        }
        throw SpaceError(
            .holderBusy,
            operation,
            namespace: namespace.name,
            reason: "others kept editing \(name.quotedForPeople) while its new order was being found",
            advice: "try again, or sort in a transaction, which keeps them out"
        )
    }

    // MARK: Sets

    /// Appends the elements that are not there yet, as one change.
    ///
    /// - Returns: How many came in.
    /// - Throws: As ``append(_:)``.
    @discardableResult
    public func formUnion(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try append(contentsOf: elements)
    }

    /// Removes the elements that are not among others, as one change.
    ///
    /// - Returns: How many were removed.
    /// - Throws: As ``append(_:)``.
    @discardableResult
    public func formIntersection(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        let operation = "intersect with elements"
        let others = Set(try encode(elements, operation))
        return try edit(operation) { (list) throws(SpaceError) in
            var unwanted: [Int] = []
            for (index, element) in try list.elements(0..<list.count).enumerated() where !others.contains(element) {
                unwanted.append(index)
            }
            return (unwanted.isEmpty ? nil : .remove(unwanted), unwanted.count)
        }
    }

    /// Removes elements, as one change; those that are not there are left out.
    ///
    /// - Returns: How many were removed.
    /// - Throws: As ``append(_:)``.
    @discardableResult
    public func subtract(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        let operation = "remove elements"
        let encoded = try encode(elements, operation)
        return try edit(operation) { (list) throws(SpaceError) in
            let unwanted = try list.present(encoded)
            return (unwanted.isEmpty ? nil : .remove(unwanted), unwanted.count)
        }
    }

    /// Removes the elements that are among others, and appends those others that were not there, as two changes of one
    /// transaction.
    ///
    /// - Throws: As ``append(_:)``, and as ``Namespace/transaction(_:)``.
    public func formSymmetricDifference(_ elements: some Sequence<Element>) throws {
        let elements = Array(elements)
        guard case .namespace(let namespace) = place else { return try exclude(elements) }
        try namespace.transaction { try $0.orderedSet(self).exclude(elements) }
    }

    /// In a transaction, since it is two edits.
    private func exclude(_ elements: [Element]) throws(SpaceError) {
        let operation = "exchange elements with others"
        let encoded = try encode(elements, operation)
        let new = try read(operation) { (list) throws(SpaceError) in try list.absent(encoded) }
        try edit(operation) { (list) throws(SpaceError) in
            let unwanted = try list.present(encoded)
            return (unwanted.isEmpty ? nil : .remove(unwanted), ())
        }
        try edit(operation) { (list) throws(SpaceError) in (new.isEmpty ? nil : .insert(new, at: list.count), ()) }
    }

    /// Whether all elements are among others.
    public func isSubset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        let operation = "compare with elements"
        let others = Set(try encode(elements, operation))
        return try read(operation) { (list) throws(SpaceError) in
            try list.elements(0..<list.count).allSatisfy { others.contains($0) }
        }
    }

    /// Whether others are all there.
    public func isSuperset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        let operation = "compare with elements"
        let others = try encode(elements, operation)
        return try read(operation) { (list) throws(SpaceError) in try list.absent(others).isEmpty }
    }

    /// Whether none of others is there.
    public func isDisjoint(with elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        let operation = "compare with elements"
        let others = try encode(elements, operation)
        return try read(operation) { (list) throws(SpaceError) in try list.present(others).isEmpty }
    }
}

extension SharedOrderedSet where Element: Comparable {
    /// Sorts the elements in their own order, as one change.
    ///
    /// - Throws: As ``sort(by:)``.
    /// - Complexity: O(n log n).
    public func sort() throws { try sort(by: <) }
}

extension ElementList {
    /// The indices of those that are there, ascending.
    func present(_ elements: [[UInt8]]) throws(SpaceError) -> [Int] {
        // One by one while they are few; else in one pass.
        if elements.count < directory.chunks.count / 2 + 8 {
            var indices: Set<Int> = []
            for element in elements { if let index = try index(of: element) { indices.insert(index) } }
            return indices.sorted()
        }
        let wanted = Set(elements)
        var indices: [Int] = []
        var index = 0
        try forEach(0..<count) { (bytes) throws(SpaceError) in
            if wanted.contains(Array(bytes)) { indices.append(index) }
            index += 1
        }
        return indices
    }
}
