// Sorting, and the algebra of sets. A user's comparison never runs while other writers wait, except in a transaction.

extension SharedOrderedSet {
    // MARK: Order

    /// How often a sort begins again because other processes have edited the set.
    private static var attempts: Int { 64 }

    /// Sorts the elements, or those in a range, as one change.
    ///
    /// The comparison runs on the elements of one moment, while no other writer waits. If another edit comes before the
    /// sort is done, the sort begins again. Elements that compare equal keep their order.
    ///
    /// - Parameters:
    ///   - range: The indices to sort, or `nil` for all.
    ///   - areInIncreasingOrder: Whether the first element comes before the second.
    /// - Throws: The errors of the comparison, after which nothing has changed; `invalidArgument` for a range beyond the
    ///   end; `holderBusy` if other edits kept coming; and the errors of ``append(_:)``.
    /// - Complexity: O(n log n).
    public func sort(
        _ range: Range<Int>? = nil,
        by areInIncreasingOrder: (Element, Element) throws -> Bool
    ) throws {
        try reorder("sort the elements") { elements in
            let range = try context.naming("sort the elements") { () throws(SpaceError) in
                try checked(range, of: elements.count)
            }
            let sorted = try range.sorted { left, right in
                if try areInIncreasingOrder(elements[left], elements[right]) { return true }
                return try !areInIncreasingOrder(elements[right], elements[left]) && left < right
            }
            return Array(0..<range.lowerBound) + sorted + Array(range.upperBound..<elements.count)
        }
    }

    /// Looks for the place of an element in a set that is sorted, or sorted in a range.
    ///
    /// The search reads one moment, and the comparison must not use the namespace. In a transaction, the place is valid until the next edit of the body:
    ///
    /// ```swift
    /// try party.transaction { t in
    ///     let scores = try t.orderedSet(scores)
    ///     try scores.insert(new, at: scores.binarySearch(for: new, by: >).index)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - element: The element; it need not be in the set.
    ///   - range: The indices that are sorted, or `nil` for all.
    ///   - areInIncreasingOrder: Whether the first element comes before the second: the order of the set.
    /// - Returns: The first index whose element does not come before the given one, where an insertion keeps the order,
    ///   and whether the element there is of the same rank.
    /// - Throws: The errors of the comparison, `invalidArgument` for a range beyond the end, and `badData`.
    /// - Complexity: O(log n) comparisons, and as many reads.
    public func binarySearch(
        for element: Element,
        in range: Range<Int>? = nil,
        by areInIncreasingOrder: (Element, Element) throws -> Bool
    ) throws -> (isPresent: Bool, index: Int) {
        var failure: (any Error)?
        let found = try context.naming("search the elements") { () throws(SpaceError) in
            try read { (list) throws(SpaceError) -> (Bool, Int) in
                let range = try checked(range, of: list.count)
                func isInOrder(_ index: Int, before: Bool) throws(SpaceError) -> Bool {
                    let other = try decode(list.element(at: index), at: index)
                    do {
                        return try before ? areInIncreasingOrder(other, element) : areInIncreasingOrder(element, other)
                    } catch {
                        failure = error
                        return false
                    }
                }
                var (low, high) = (range.lowerBound, range.upperBound)
                while low < high, failure == nil {
                    let middle = low + (high - low) / 2
                    if try isInOrder(middle, before: true) { low = middle + 1 } else { high = middle }
                }
                guard low < range.upperBound, failure == nil else { return (false, low) }
                return (try !isInOrder(low, before: false), low)
            }
        }
        if let failure { throw failure }
        return found
    }

    /// Shuffles the elements, as one change.
    ///
    /// - Throws: `holderBusy` if other edits kept coming; and the errors of ``append(_:)``.
    public func shuffle() throws {
        try reorder("shuffle the elements") { $0.indices.shuffled() }
    }

    /// Reverses the order of the elements, as one change.
    public func reverse() throws(SpaceError) {
        try context.naming("reverse the elements") { () throws(SpaceError) in
            try edit { (list) throws(SpaceError) in
                (list.count < 2 ? nil : .sort((0..<list.count).reversed()), ())
            }
        }
    }

    /// The range, or all indices if it is `nil`.
    private func checked(_ range: Range<Int>?, of count: Int) throws(SpaceError) -> Range<Int> {
        guard let range else { return 0..<count }
        guard range.lowerBound >= 0, range.upperBound <= count else {
            let reason = "the range \(range) is out of bounds: \(name.quotedForPeople) has \(count) elements"
            throw .misuse(reason, advice: "look again, since others may have edited it")
        }
        return range
    }

    private func reorder(_ operation: String, _ order: ([Element]) throws -> [Int]) throws {
        for _ in 0..<Self.attempts {
            let (elements, edits) = try context.naming(operation) { () throws(SpaceError) in
                let (bytes, edits) = try read { (list) throws(SpaceError) in
                    (try list.elements(0..<list.count), list.directory.edits)
                }
                var elements: [Element] = []
                for (index, bytes) in bytes.enumerated() { elements.append(try decode(bytes, at: index)) }
                return (elements, edits)
            }
            let order = try order(elements)
            if order == Array(elements.indices) { return }
            let isDone = try context.naming(operation) { () throws(SpaceError) in
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

    /// Removes the elements that are not in a sequence, as one change.
    ///
    /// - Returns: The number of elements removed.
    /// - Throws: The same errors as ``append(_:)``.
    @discardableResult
    public func formIntersection(_ elements: some Sequence<Element>) throws(SpaceError) -> Int {
        try context.naming("intersect with elements") { () throws(SpaceError) in
            let others = Set(try identities(of: elements))
            return try edit { (list) throws(SpaceError) in
                var unwanted: [Int] = []
                for (index, element) in try list.identities().enumerated() where !others.contains(element) {
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
        try context.naming("remove elements") { () throws(SpaceError) in
            let identities = try identities(of: elements)
            return try edit { (list) throws(SpaceError) in
                let unwanted = try list.present(identities)
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
        guard case .namespace(let namespace) = context else { return try exclude(elements) }
        try namespace.repeatableTransaction { try $0.orderedSet(self).exclude(elements) }
    }

    /// Carries out the two edits of a symmetric difference; must run in a transaction.
    private func exclude(_ elements: [Element]) throws(SpaceError) {
        try context.naming("exchange elements with others") { () throws(SpaceError) in
            let encoded = try encode(elements)
            let new = try read { (list) throws(SpaceError) in try list.absent(encoded) }
            try edit { (list) throws(SpaceError) in
                let unwanted = try list.present(encoded.map(\.identity))
                return (unwanted.isEmpty ? nil : .remove(unwanted), ())
            }
            try edit { (list) throws(SpaceError) in (new.isEmpty ? nil : .insert(new, at: list.count), ()) }
        }
    }

    /// Whether all elements of the set are in a sequence.
    public func isSubset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try context.naming("compare with elements") { () throws(SpaceError) in
            let others = Set(try identities(of: elements))
            return try read { (list) throws(SpaceError) in
                try list.identities().allSatisfy { others.contains($0) }
            }
        }
    }

    /// Whether all elements of a sequence are in the set.
    public func isSuperset(of elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try context.naming("compare with elements") { () throws(SpaceError) in
            let others = try identities(of: elements)
            return try read { (list) throws(SpaceError) in
                for element in others where try !list.contains(element) { return false }
                return true
            }
        }
    }

    /// Whether no element of a sequence is in the set.
    public func isDisjoint(with elements: some Sequence<Element>) throws(SpaceError) -> Bool {
        try context.naming("compare with elements") { () throws(SpaceError) in
            let others = try identities(of: elements)
            return try read { (list) throws(SpaceError) in try list.present(others).isEmpty }
        }
    }
}

extension SharedOrderedSet where Element: Comparable {
    /// Sorts the elements, or those in a range, in ascending order, as one change.
    ///
    /// - Throws: The same errors as ``sort(_:by:)``.
    /// - Complexity: O(n log n).
    public func sort(_ range: Range<Int>? = nil) throws { try sort(range, by: <) }
}

extension ElementList {
    /// The indices of those elements that are in the set, ascending.
    func present(_ identities: [[UInt8]]) throws(SpaceError) -> [Int] {
        // A few elements are looked up one by one; more are found in one pass over the set.
        if identities.count < directory.chunks.count / 2 + 8 {
            var indices: Set<Int> = []
            for identity in identities { if let index = try index(of: identity) { indices.insert(index) } }
            return indices.sorted()
        }
        let wanted = Set(identities)
        var indices: [Int] = []
        var index = 0
        try forEach(0..<count) { (row) throws(SpaceError) in
            if wanted.contains(Array(row.identity)) { indices.append(index) }
            index += 1
        }
        return indices
    }
}
