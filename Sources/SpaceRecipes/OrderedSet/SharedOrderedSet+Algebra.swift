import TupleCoding

// Sorting, and the algebra of sets. A user's comparison never runs while other writers wait, except in a transaction.

extension SharedOrderedSet {
    // MARK: Order

    /// How often a sort begins anew because other processes have edited the set meanwhile.
    private static var attempts: Int { 64 }

    /// Sorts the elements, as one change.
    ///
    /// The comparison runs on the elements of one moment, while no other writer waits. If another edit comes meanwhile,
    /// the sort begins anew. Elements that compare equal keep their order.
    ///
    /// - Parameter areInIncreasingOrder: Whether the first element comes before the second.
    /// - Throws: The errors of the comparison, after which nothing has changed; `holderBusy` if other edits kept
    ///   coming; and the errors of ``append(_:)``.
    /// - Complexity: O(n log n).
    public func sort(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws {
        try reorder("sort the elements") { elements in
            try elements.indices.sorted { left, right in
                if try areInIncreasingOrder(elements[left], elements[right]) { return true }
                return try !areInIncreasingOrder(elements[right], elements[left]) && left < right
            }
        }
    }

    /// Shuffles the elements, as one change.
    ///
    /// - Throws: `holderBusy` if other edits kept coming; and the errors of ``append(_:)``.
    public func shuffle() throws {
        try reorder("shuffle the elements") { $0.indices.shuffled() }
    }

    /// Reverses the order of the elements, as one change.
    public func reverse() throws(SpaceError) {
        try place.attempt("reverse the elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                (list.count < 2 ? nil : .sort((0..<list.count).reversed()), ())
            }
        }
    }

    private func reorder(_ operation: String, _ order: ([Element]) throws -> [Int]) throws {
        for _ in 0..<Self.attempts {
            let (elements, edits) = try place.attempt(operation) { () throws(SpaceError) in
                let (bytes, edits) = try read { (list) throws(SpaceError) in
                    (try list.elements(0..<list.count), list.directory.edits)
                }
                var elements: [Element] = []
                for (index, bytes) in bytes.enumerated() { elements.append(try decode(bytes, at: index)) }
                return (elements, edits)
            }
            let order = try order(elements)
            if order == Array(elements.indices) { return }
            let isDone = try place.attempt(operation) { () throws(SpaceError) in
                try edit { (list) throws(SpaceError) -> (ElementEdit?, Bool) in
                    list.directory.edits == edits ? (.sort(order), true) : (nil, false)
                }
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

    /// Appends the elements that are not in the set yet, as one change.
    ///
    /// - Returns: The number of elements appended.
    /// - Throws: The same errors as ``append(_:)``.
    @discardableResult
    public func formUnion(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try append(contentsOf: elements)
    }

    /// Removes the elements that are not in a sequence, as one change.
    ///
    /// - Returns: The number of elements removed.
    /// - Throws: The same errors as ``append(_:)``.
    @discardableResult
    public func formIntersection(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try place.attempt("intersect with elements") { () throws(SpaceError) in
            let others = Set(try encode(elements))
            return try edit { (list) throws(SpaceError) in
                var unwanted: [Int] = []
                for (index, element) in try list.elements(0..<list.count).enumerated() where !others.contains(element) {
                    unwanted.append(index)
                }
                return (unwanted.isEmpty ? nil : .remove(unwanted), unwanted.count)
            }
        }
    }

    /// Removes the elements of a sequence, as one change; elements that are not in the set are ignored.
    ///
    /// - Returns: The number of elements removed.
    /// - Throws: The same errors as ``append(_:)``.
    @discardableResult
    public func subtract(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try place.attempt("remove elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            return try edit { (list) throws(SpaceError) in
                let unwanted = try list.present(encoded)
                return (unwanted.isEmpty ? nil : .remove(unwanted), unwanted.count)
            }
        }
    }

    /// Removes the elements of a sequence that are in the set, and appends the others, as two changes of one
    /// transaction.
    ///
    /// - Throws: The errors of ``append(_:)`` and of ``Namespace/transaction(_:)``.
    public func formSymmetricDifference(_ elements: some Sequence<Element>) throws {
        let elements = Array(elements)
        guard case .namespace(let namespace) = place else { return try exclude(elements) }
        try namespace.transaction { try $0.orderedSet(self).exclude(elements) }
    }

    /// Carries out the two edits of a symmetric difference; must run in a transaction.
    private func exclude(_ elements: [Element]) throws(SpaceError) {
        try place.attempt("exchange elements with others") { () throws(SpaceError) in
            let encoded = try encode(elements)
            let new = try read { (list) throws(SpaceError) in try list.absent(encoded) }
            try edit { (list) throws(SpaceError) in
                let unwanted = try list.present(encoded)
                return (unwanted.isEmpty ? nil : .remove(unwanted), ())
            }
            try edit { (list) throws(SpaceError) in (new.isEmpty ? nil : .insert(new, at: list.count), ()) }
        }
    }

    /// Whether all elements of the set are in a sequence.
    public func isSubset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try place.attempt("compare with elements") { () throws(SpaceError) in
            let others = Set(try encode(elements))
            return try read { (list) throws(SpaceError) in
                try list.elements(0..<list.count).allSatisfy { others.contains($0) }
            }
        }
    }

    /// Whether all elements of a sequence are in the set.
    public func isSuperset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try place.attempt("compare with elements") { () throws(SpaceError) in
            let others = try encode(elements)
            return try read { (list) throws(SpaceError) in try list.absent(others).isEmpty }
        }
    }

    /// Whether no element of a sequence is in the set.
    public func isDisjoint(with elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try place.attempt("compare with elements") { () throws(SpaceError) in
            let others = try encode(elements)
            return try read { (list) throws(SpaceError) in try list.present(others).isEmpty }
        }
    }
}

extension SharedOrderedSet where Element: Comparable {
    /// Sorts the elements in ascending order, as one change.
    ///
    /// - Throws: The same errors as ``sort(by:)``.
    /// - Complexity: O(n log n).
    public func sort() throws { try sort(by: <) }
}

extension ElementList {
    /// The indices of those elements that are in the set, ascending.
    func present(_ elements: [[UInt8]]) throws(SpaceError) -> [Int] {
        // A few elements are looked up one by one; more are found in one pass over the set.
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
