import TupleCoding

// Edits that name elements instead of indices: an index that one process has read may be another element's when it is
// used.

extension SharedOrderedSet {
    /// The side of the anchor on which elements are to stand.
    private enum Side {
        case before, after
    }

    // MARK: Inserting

    /// Inserts an element before another, unless it is in the set already.
    ///
    /// - Returns: Whether it was inserted, and its index.
    /// - Throws: `invalidArgument` if the other element is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func insert(_ element: Element, before anchor: Element) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try insert(element, .before, anchor)
    }

    /// Inserts an element after another, unless it is in the set already.
    ///
    /// - Returns: Whether it was inserted, and its index.
    /// - Throws: `invalidArgument` if the other element is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func insert(_ element: Element, after anchor: Element) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try insert(element, .after, anchor)
    }

    private func insert(
        _ element: Element,
        _ side: Side,
        _ anchor: Element
    ) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try place.attempt("insert an element") { () throws(SpaceError) in
            let anchor = try encode(anchor)
            return try insert(element) { (list) throws(SpaceError) in
                try list.position(of: anchor, "the element to insert at") + (side == .after ? 1 : 0)
            }
        }
    }

    // MARK: Moving

    /// Moves an element so that it stands right before another.
    ///
    /// - Throws: `invalidArgument` if either is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func move(_ element: Element, before anchor: Element) throws(SpaceError) {
        try move([element], .before, anchor)
    }

    /// Moves an element so that it stands right after another.
    ///
    /// - Throws: `invalidArgument` if either is not in the set, and the errors of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func move(_ element: Element, after anchor: Element) throws(SpaceError) {
        try move([element], .after, anchor)
    }

    /// Moves several elements, in the given order, so that they stand right before another, as one change.
    ///
    /// - Throws: `invalidArgument` if one of them is not in the set, or the other is among them; then nothing is moved.
    public func move(contentsOf elements: some Sequence<Element>, before anchor: Element) throws(SpaceError) {
        try move(Array(elements), .before, anchor)
    }

    /// Moves several elements, in the given order, so that they stand right after another, as one change.
    ///
    /// - Throws: `invalidArgument` if one of them is not in the set, or the other is among them; then nothing is moved.
    public func move(contentsOf elements: some Sequence<Element>, after anchor: Element) throws(SpaceError) {
        try move(Array(elements), .after, anchor)
    }

    private func move(_ elements: [Element], _ side: Side, _ anchor: Element) throws(SpaceError) {
        try place.attempt("move elements") { () throws(SpaceError) in
            let encoded = try encode(elements)
            let anchor = try encode(anchor)
            try edit { (list) throws(SpaceError) in
                let target = try list.position(of: anchor, "the element to move to")
                var indices: [Int] = []
                for element in encoded { indices.append(try list.position(of: element, "an element to be moved")) }
                // An element that is moved next to itself stays where it is.
                if indices == [target] { return (nil, ()) }
                guard Set(indices).count == indices.count, !indices.contains(target) else {
                    throw list.refused("an element is named twice")
                }
                let others = target - indices.count { $0 < target } + (side == .after ? 1 : 0)
                return (try list.move(indices, to: others), ())
            }
        }
    }

    // MARK: Replacing and exchanging

    /// Replaces an element with another, in its place.
    ///
    /// - Throws: `invalidArgument` if it is not in the set, or the new one is already elsewhere in it; and the errors
    ///   of ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func replace(_ element: Element, with new: Element) throws(SpaceError) {
        try place.attempt("replace an element") { () throws(SpaceError) in
            let (old, new) = (try encode(element), try encode(new))
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
        try place.attempt("exchange elements") { () throws(SpaceError) in
            let (first, second) = (try encode(first), try encode(second))
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
    package func position(of encoded: [UInt8], _ what: String) throws(SpaceError) -> Int {
        guard let index = try index(of: encoded) else { throw refused("\(what) is not in \(name.quotedForPeople)") }
        return index
    }
}
