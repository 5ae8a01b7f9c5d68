// Edits that name elements instead of indices: an index that one process has read may be another element's when it is
// used.

extension SharedOrderedSet {
    // MARK: Inserting

    /// Inserts an element before or after another one, unless the element is in the set already.
    ///
    /// Without another element, it is appended.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - next: The element before which to put it, or `nil`.
    ///   - previous: The element after which to put it, or `nil`; at most one of the two may be given.
    /// - Returns: Whether it was inserted, and its index.
    /// - Throws: `invalidArgument` if the other element is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func insert(
        _ element: Element,
        before next: Element? = nil,
        after previous: Element? = nil
    ) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try context.naming("insert an element") { () throws(SpaceError) in
            let anchor = try anchor(next, previous)
            return try insert(element) { (list) throws(SpaceError) in
                try anchor.place(in: list, "the element to insert at") ?? list.count
            }
        }
    }

    /// The element next to which others are to stand, and on which side of it.
    private struct Anchor {
        var identity: [UInt8]?
        var isAfter = false

        /// The index before which elements are to stand, or `nil` for the end of the set.
        func place(in list: ElementList, _ what: String) throws(SpaceError) -> Int? {
            guard let identity else { return nil }
            return try list.position(of: identity, what) + (isAfter ? 1 : 0)
        }
    }

    private func anchor(_ next: Element?, _ previous: Element?) throws(SpaceError) -> Anchor {
        switch (next, previous) {
        case (nil, nil): return Anchor()
        case (let next?, nil): return Anchor(identity: try identity(of: next))
        case (nil, let previous?): return Anchor(identity: try identity(of: previous), isAfter: true)
        case (_?, _?):
            throw .misuse("an element to stand before and one to stand after are given", advice: "give one of them")
        }
    }

    // MARK: Moving

    /// Moves an element right before or after another one; without another one, to the end.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - next: The element before which to put it, or `nil`.
    ///   - previous: The element after which to put it, or `nil`; at most one of the two may be given.
    /// - Throws: `invalidArgument` if either is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func move(
        _ element: Element,
        before next: Element? = nil,
        after previous: Element? = nil
    ) throws(SpaceError) {
        try move(contentsOf: CollectionOfOne(element), before: next, after: previous)
    }

    /// Moves several elements, in the given order, right before or after another one, as one change; without another
    /// one, to the end.
    ///
    /// - Throws: `invalidArgument` if one of them is not in the set, or the other is among them; then nothing is moved.
    public func move(
        contentsOf elements: some Sequence<Element>,
        before next: Element? = nil,
        after previous: Element? = nil
    ) throws(SpaceError) {
        try context.naming("move elements") { () throws(SpaceError) in
            let identities = try identities(of: elements)
            let anchor = try anchor(next, previous)
            try edit { (list) throws(SpaceError) in
                let target = try anchor.identity.map { (anchor) throws(SpaceError) in
                    try list.position(of: anchor, "the element to move to")
                }
                var indices: [Int] = []
                for identity in identities { indices.append(try list.position(of: identity, "an element to be moved")) }
                // An element that is moved next to itself stays where it is.
                if let target, indices == [target] { return (nil, ()) }
                guard Set(indices).count == indices.count, !indices.contains(where: { $0 == target }) else {
                    throw list.refused("an element is named twice")
                }
                guard let target else { return (try list.move(indices, to: list.count - indices.count), ()) }
                let others = target - indices.count { $0 < target } + (anchor.isAfter ? 1 : 0)
                return (try list.move(indices, to: others), ())
            }
        }
    }

    // MARK: Replacing and exchanging

    /// Replaces an element with another, in its place.
    ///
    /// - Throws: `invalidArgument` if the old element is not in the set, or the new one is already elsewhere in it; and
    ///   the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func replace(_ element: Element, with new: Element) throws(SpaceError) {
        try context.naming("replace an element") { () throws(SpaceError) in
            let (old, new) = (try identity(of: element), try encode(new))
            try edit { (list) throws(SpaceError) in
                let index = try list.position(of: old, "the element to replace")
                return (try list.replacement(at: index, new).edit, ())
            }
        }
    }

    /// Exchanges two elements.
    ///
    /// - Throws: `invalidArgument` if either is not in the set.
    /// - Complexity: O(√n), a few microseconds.
    public func exchange(_ first: Element, with second: Element) throws(SpaceError) {
        try context.naming("exchange elements") { () throws(SpaceError) in
            let (first, second) = (try identity(of: first), try identity(of: second))
            try edit { (list) throws(SpaceError) in
                list.exchange(
                    try list.position(of: first, "an element to exchange"),
                    try list.position(of: second, "an element to exchange")
                )
            }
        }
    }
}

extension ElementList {
    /// The index of an element; throws `invalidArgument` if it is not in the set.
    package func position(of identity: [UInt8], _ what: String) throws(SpaceError) -> Int {
        guard let index = try index(of: identity) else { throw refused("\(what) is not in \(name.quotedForPeople)") }
        return index
    }
}
