import TupleCoding

// Edits that name the elements they mean: an index that was read in one process is another element's when it is used.

extension SharedOrderedSet {
    /// Where something is to stand.
    private enum Side {
        case before, after
    }

    // MARK: Inserting

    /// Inserts an element before another, unless it is there.
    ///
    /// - Returns: Whether it came in, and its index.
    /// - Throws: `invalidArgument` when the other is not there, and as ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    @discardableResult
    public func insert(_ element: Element, before anchor: Element) throws(SpaceError) -> (inserted: Bool, index: Int) {
        try insert(element, .before, anchor)
    }

    /// Inserts an element after another, unless it is there.
    ///
    /// - Returns: Whether it came in, and its index.
    /// - Throws: `invalidArgument` when the other is not there, and as ``append(_:)``.
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
        let operation = "insert an element"
        let anchor = try encode(anchor, operation)
        return try insert(element, operation) { (list) throws(SpaceError) in
            try list.position(of: anchor, "the element to insert at") + (side == .after ? 1 : 0)
        }
    }

    // MARK: Moving

    /// Moves an element to stand right before another.
    ///
    /// - Throws: `invalidArgument` when either is not there, and as ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func move(_ element: Element, before anchor: Element) throws(SpaceError) {
        try move([element], .before, anchor)
    }

    /// Moves an element to stand right after another.
    ///
    /// - Throws: `invalidArgument` when either is not there, and as ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func move(_ element: Element, after anchor: Element) throws(SpaceError) {
        try move([element], .after, anchor)
    }

    /// Moves several elements, in the order given, to stand right before another, as one change.
    ///
    /// - Throws: `invalidArgument` when one is not there, or the other is among them; then nothing is moved.
    public func move(contentsOf elements: some Sequence<Element>, before anchor: Element) throws(SpaceError) {
        try move(Array(elements), .before, anchor)
    }

    /// Moves several elements, in the order given, to stand right after another, as one change.
    ///
    /// - Throws: `invalidArgument` when one is not there, or the other is among them; then nothing is moved.
    public func move(contentsOf elements: some Sequence<Element>, after anchor: Element) throws(SpaceError) {
        try move(Array(elements), .after, anchor)
    }

    private func move(_ elements: [Element], _ side: Side, _ anchor: Element) throws(SpaceError) {
        let operation = "move elements"
        let encoded = try encode(elements, operation)
        let anchor = try encode(anchor, operation)
        try edit(operation) { (list) throws(SpaceError) in
            let target = try list.position(of: anchor, "the element to move to")
            var indices: [Int] = []
            for element in encoded { indices.append(try list.position(of: element, "an element to be moved")) }
            // It stands where it stands.
            if indices == [target] { return (nil, ()) }
            guard Set(indices).count == indices.count, !indices.contains(target) else {
                throw list.refused("an element is named twice")
            }
            let others = target - indices.count { $0 < target } + (side == .after ? 1 : 0)
            return (try list.move(indices, to: others), ())
        }
    }

    // MARK: Replacing and exchanging

    /// Replaces an element by another, in its place.
    ///
    /// - Throws: `invalidArgument` when it is not there, or the new one is elsewhere; and as ``append(_:)``.
    /// - Complexity: O(√n), a few microseconds.
    public func replace(_ element: Element, with new: Element) throws(SpaceError) {
        let operation = "replace an element"
        let (old, new) = (try encode(element, operation), try encode(new, operation))
        try edit(operation) { (list) throws(SpaceError) in
            let index = try list.position(of: old, "the element to replace")
            return (try list.replacement(at: index, new).edit, ())
        }
    }

    /// Exchanges two elements.
    ///
    /// - Throws: `invalidArgument` when either is not there.
    /// - Complexity: O(√n), a few microseconds.
    public func exchange(_ first: Element, with second: Element) throws(SpaceError) {
        let operation = "exchange elements"
        let (first, second) = (try encode(first, operation), try encode(second, operation))
        try edit(operation) { (list) throws(SpaceError) in
            list.exchange(
                try list.position(of: first, "an element to exchange"),
                try list.position(of: second, "an element to exchange")
            )
        }
    }
}

extension ElementList {
    /// Throws: `invalidArgument` when the element is not there.
    package func position(of encoded: [UInt8], _ what: String) throws(SpaceError) -> Int {
        guard let index = try index(of: encoded) else { throw refused("\(what) is not in \(name.quotedForPeople)") }
        return index
    }
}
