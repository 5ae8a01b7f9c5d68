public import OrderedCollections
import SpaceSystem

/// An ordered collection of unique elements that all processes share.
///
/// ```swift
/// let songs = try space.namespace("party").orderedSet("playlist", of: String.self)
/// try songs.append("Blue")
/// try songs.insert("Green", before: "Blue")
/// self.token = try songs.observe(options: .initial) { change in show(change) }
/// ```
///
/// Each call is one step: other processes see all of its changes or none. Several calls are one step in
/// ``Namespace/transaction(_:)``, with ``Transaction/orderedSet(_:)``. When a process uses an index that it has read,
/// the index may belong to another element, because other processes edit too. If that matters, name the element
/// instead: ``insert(_:before:after:)``, ``move(_:before:after:)``.
///
/// Two elements are the same if their encodings are: strings compare as UTF-8, and `-0.0` and `0.0` differ. In a set
/// that identifies its elements by key (``Namespace/orderedSet(_:of:id:schema:initial:)``), two elements are the same
/// if their keys are, and every call that names an element compares only its key. An element of a subclass of `Element`
/// is refused with `badData`, because it would be read back as an object of the base class. Each read may fail, as all
/// communication between processes may, so this type is not a `Sequence` or `Collection`: ``snapshot()`` gives one.
///
/// A handle is a value, and keeps its namespace open. After the set was removed, the handle throws `closed`, even if a
/// new set has the name.
public struct SharedOrderedSet<Element: Codable & Sendable>: StoredObject, StoredHandle {
    package let object: ObjectReference
    package let number: UInt64
    let identity: ElementIdentity<Element>

    package init(_ name: String, in context: ObjectContext, number: UInt64, identity: ElementIdentity<Element>) {
        object = ObjectReference(.orderedSet, name, in: context)
        self.number = number
        self.identity = identity
    }

    package var detail: String { " of \(Element.self)" }

    // MARK: Reading

    /// The number of elements.
    ///
    /// - Complexity: O(1).
    public var count: Int {
        get throws(SpaceError) {
            try context.naming("count the elements") { () throws(SpaceError) in try read { $0.count } }
        }
    }

    /// Whether there are no elements.
    public var isEmpty: Bool {
        get throws(SpaceError) { try count == 0 }
    }

    /// The element at an index.
    ///
    /// - Throws: `invalidArgument` for an index beyond the end, `badData` if the element does not decode as the type.
    /// - Complexity: O(√n), a few microseconds.
    public subscript(index: Int) -> Element {
        get throws(SpaceError) {
            try context.naming("read an element") { () throws(SpaceError) in
                let bytes = try read { (list) throws(SpaceError) in
                    try list.check(index, isInsertion: false)
                    return try list.element(at: index)
                }
                return try decode(bytes, at: index)
            }
        }
    }

    /// The first element, or `nil` if there is none.
    public var first: Element? {
        get throws(SpaceError) { try element { $0 > 0 ? 0 : nil } }
    }

    /// The last element, or `nil` if there is none.
    public var last: Element? {
        get throws(SpaceError) { try element { $0 > 0 ? $0 - 1 : nil } }
    }

    private func element(at index: (_ count: Int) -> Int?) throws(SpaceError) -> Element? {
        try context.naming("read an element") { () throws(SpaceError) in
            let found = try read { (list) throws(SpaceError) -> (Int, [UInt8])? in
                guard let index = index(list.count) else { return nil }
                return (index, try list.element(at: index))
            }
            return try found.map { (found) throws(SpaceError) in try decode(found.1, at: found.0) }
        }
    }

    /// The index of an element, or `nil` if it is not in the set.
    ///
    /// - Complexity: O(√n), a few microseconds.
    public func firstIndex(of element: Element) throws(SpaceError) -> Int? {
        try context.naming("look for an element") { () throws(SpaceError) in
            let identity = try identity(of: element)
            return try read { (list) throws(SpaceError) in try list.index(of: identity) }
        }
    }

    /// Whether an element is in the set.
    ///
    /// - Complexity: O(log n).
    public func contains(_ element: Element) throws(SpaceError) -> Bool {
        try context.naming("look for an element") { () throws(SpaceError) in
            let identity = try identity(of: element)
            return try read { (list) throws(SpaceError) in try list.contains(identity) }
        }
    }

    /// The elements, or those in a range of indices, of one moment.
    ///
    /// - Parameter range: The range; indices beyond the end are left out.
    /// - Returns: The elements, in order.
    /// - Throws: `badData` if an element does not decode as the type.
    /// - Complexity: O(√n + m).
    public func elements(in range: Range<Int> = 0..<Int.max) throws(SpaceError) -> [Element] {
        try context.naming("read the elements") { () throws(SpaceError) in try read(range).elements }
    }

    /// The elements at several indices, of one moment.
    ///
    /// - Parameter indices: The indices.
    /// - Returns: The elements, in the order of the indices.
    /// - Throws: `invalidArgument` for an index beyond the end, `badData` if an element does not decode as the type.
    /// - Complexity: O(m·√n).
    public func elements(at indices: some Sequence<Int>) throws(SpaceError) -> [Element] {
        let indices = Array(indices)
        return try context.naming("read elements") { () throws(SpaceError) in
            let found = try read { (list) throws(SpaceError) in
                var found: [[UInt8]] = []
                for index in indices {
                    try list.check(index, isInsertion: false)
                    found.append(try list.element(at: index))
                }
                return found
            }
            var elements: [Element] = []
            for (index, bytes) in zip(indices, found) { elements.append(try decode(bytes, at: index)) }
            return elements
        }
    }

    /// Calls `body` with each element, in order, all of one moment; each is decoded when the walk reaches it.
    ///
    /// The snapshot is held while `body` runs, which keeps writers from using freed pages again: it must not wait for others.
    package func forEachElement(_ body: (Element) throws -> Void) throws {
        var failure: (any Error)?
        try context.naming("read the elements") { () throws(SpaceError) in
            try read { (list) throws(SpaceError) in
                for start in stride(from: 0, to: list.count, by: Self.page) {
                    let page = try list.elements(start..<min(start + Self.page, list.count))
                    for (offset, bytes) in page.enumerated() {
                        let element = try decode(bytes, at: start + offset)
                        do { try body(element) } catch { failure = error }
                        if failure != nil { return }
                    }
                }
            }
        }
        if let failure { throw failure }
    }

    /// How many elements are copied at once.
    private static var page: Int { 200 }

    /// The elements in a range, with the number of the last change that they contain.
    package func read(_ range: Range<Int>) throws(SpaceError) -> (elements: [Element], sequence: UInt64) {
        let (bytes, sequence, start) = try read { (list) throws(SpaceError) in
            let range = range.clamped(to: 0..<list.count)
            return (try list.elements(range), try list.snapshot.counters().sequence, range.lowerBound)
        }
        var elements: [Element] = []
        elements.reserveCapacity(bytes.count)
        for (offset, bytes) in bytes.enumerated() { elements.append(try decode(bytes, at: start + offset)) }
        return (elements, sequence)
    }

    // MARK: Helpers

    package func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try core.write(.removing) { (scope) throws(SpaceError) in
            guard try scope.snapshot.object(name, .orderedSet)?.number == number else { return false }
            try scope.orderedSets.remove(name, number)
            return true
        }
    }

    /// The same set, read and edited elsewhere.
    func moved(to context: ObjectContext) -> SharedOrderedSet {
        SharedOrderedSet(name, in: context, number: number, identity: identity)
    }

    /// The set's name in errors.
    package var title: String { "the ordered set \(name.quotedForPeople)" }

    package func read<R>(_ body: (ElementList) throws(SpaceError) -> R) throws(SpaceError) -> R {
        switch context {
        case .namespace(let namespace):
            return try namespace.usableCore().read { (snapshot) throws(SpaceError) in
                try body(snapshot.elementList(name, number))
            }
        case .transaction(let state):
            try state.checkRunsHere(title)
            return try state.read { (scope) throws(SpaceError) in try body(scope.snapshot.elementList(name, number)) }
        }
    }

    package func edit<R>(
        _ plan: (ElementList) throws(SpaceError) -> (edit: ElementEdit?, result: R)
    ) throws(SpaceError) -> R {
        switch context {
        case .namespace(let namespace):
            return try namespace.usableCore().orderedSets.edit(name, number, plan)
        case .transaction(let state):
            try state.checkRunsHere(title)
            return try state.edit(name, number, plan)
        }
    }

    /// Encodes an element; an element that would not decode again is refused.
    func encode(_ element: Element) throws(SpaceError) -> ElementBytes {
        switch identity {
        case .value:
            return ElementBytes(try Value.elementToStay(element, "an element"))
        case .key(let key):
            return ElementBytes(try Value.elementToStay(element, "an element"), key: try key(element))
        case .givenKey:
            throw .mismatch(
                "\(name.quotedForPeople) identifies its elements by keys that only its own programs compute",
                advice: "add and replace elements in a program that opens it with their id"
            )
        }
    }

    /// The bytes by which the set finds an element.
    func identity(of element: Element) throws(SpaceError) -> [UInt8] {
        switch identity {
        case .value, .givenKey: try Value.elementToStay(element, "an element")
        case .key(let key): try key(element)
        }
    }

    func identities(of elements: some Sequence<Element>) throws(SpaceError) -> [[UInt8]] {
        var identities: [[UInt8]] = []
        for element in elements { identities.append(try identity(of: element)) }
        return identities
    }

    func encode(_ elements: some Sequence<Element>) throws(SpaceError) -> [ElementBytes] {
        var encoded: [ElementBytes] = []
        for element in elements { encoded.append(try encode(element)) }
        return encoded
    }

    package func decode(_ bytes: [UInt8], at index: Int) throws(SpaceError) -> Element {
        let value = try coding { () throws(TupleCodingError) in
            try bytes.withBytes { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
        }
        let remedy = "remove the element by its index"
        return try value.content("element \(index) of \(name.quotedForPeople)", orElse: remedy)
    }
}

extension SharedOrderedSet where Element: Hashable {
    /// The elements of one moment, as a Swift collection that later edits don't affect.
    ///
    /// Elements that are equal for Swift but not as bytes (`-0.0` and `0.0`) appear once.
    ///
    /// - Throws: `badData` if an element does not decode as the type.
    /// - Complexity: O(n).
    public func snapshot() throws(SpaceError) -> OrderedSet<Element> { OrderedSet(try elements()) }
}
