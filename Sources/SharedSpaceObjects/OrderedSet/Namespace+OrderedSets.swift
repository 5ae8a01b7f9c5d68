extension Namespace {
    /// The ordered set with a name; it is made if there is none.
    ///
    /// All processes must use the same type of elements: the first one's type is kept, and any other is refused. Types
    /// are compared by their names alone, without the name of the module, which differs between programs that share a
    /// source file. If a type changes, give it a `schema` of your own with a version in it.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes of UTF-8.
    ///   - type: The type of the elements.
    ///   - schema: The type's name for all processes, or `nil` for its name in Swift.
    ///   - elements: The elements with which it is made, in the same step; an ordered set that is there keeps its own.
    /// - Returns: A handle, which keeps the namespace open.
    /// - Throws: `typeMismatch` if the ordered set has elements of another type or identifies them by key, or the name
    ///   belongs to another kind of object; `invalidArgument` for a name that is not allowed; `badData` for an initial
    ///   element that would not decode again; `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
    public func orderedSet<Element: Codable & Sendable>(
        _ name: String,
        of type: Element.Type = Element.self,
        schema: String? = nil,
        initial elements: [Element] = []
    ) throws(SpaceError) -> SharedOrderedSet<Element> {
        try orderedSet(name, CollectionDetails(elementType: schema ?? "\(Element.self)"), .value, initial: elements)
    }

    /// The ordered set with a name whose elements are identified by a key; it is made if there is none.
    ///
    /// ```swift
    /// let friends = try party.orderedSet("friends", of: Friend.self, id: \.id)
    /// try friends.append(Friend(id: 1, name: "Ada"))
    /// try friends.append(Friend(id: 1, name: "Ada L."))    // replaces the first, in its place
    /// ```
    ///
    /// No two elements have the same key. If an element is added and another one has its key, the new element replaces
    /// the old one in its place, and observers get a `replace` edit. Two keys are the same if their encodings are
    /// equal. All processes must use the same type of keys, and compute keys in the same way. Each element's row has
    /// the key, so the shell can edit such sets too.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes of UTF-8.
    ///   - type: The type of the elements.
    ///   - id: The key of an element.
    ///   - schema: The name of the elements' type for all processes, or `nil` for its name in Swift.
    ///   - elements: The elements with which it is made, in the same step; an ordered set that is there keeps its own.
    /// - Returns: A handle, which keeps the namespace open.
    /// - Throws: `typeMismatch` if the ordered set has elements or keys of another type or identifies its elements by
    ///   their values; and the errors of ``orderedSet(_:of:schema:initial:)``.
    public func orderedSet<Element: Codable & Sendable, ID: Codable & Sendable>(
        _ name: String,
        of type: Element.Type = Element.self,
        id: @escaping @Sendable (Element) -> ID,
        schema: String? = nil,
        initial elements: [Element] = []
    ) throws(SpaceError) -> SharedOrderedSet<Element> {
        let details = CollectionDetails(elementType: schema ?? "\(Element.self)", keyType: "\(ID.self)")
        let identity = ElementIdentity<Element>.key { (element) throws(SpaceError) in
            try Value.elementToStay(id(element), "a key")
        }
        return try orderedSet(name, details, identity, initial: elements)
    }

    private func orderedSet<Element: Codable & Sendable>(
        _ name: String,
        _ details: CollectionDetails,
        _ identity: ElementIdentity<Element>,
        initial elements: [Element]
    ) throws(SpaceError) -> SharedOrderedSet<Element> {
        func handle(_ number: UInt64) -> SharedOrderedSet<Element> {
            SharedOrderedSet(name, in: .namespace(self), number: number, identity: identity)
        }
        let number = try collection(.orderedSet, name, details) { (scope, details) throws(SpaceError) in
            // The handle is only used to encode: the set is not there yet.
            let elements = try handle(0).encode(elements)
            let number = try scope.orderedSets.make(name, details: details)
            try scope.orderedSets.fill(name, number, with: elements)
            return number
        }
        return handle(number)
    }

    /// The ordered set with a name, whatever its elements are, or `nil` if there is none; a set with keys is given keys
    /// instead of elements.
    package func anyOrderedSet(
        _ name: String
    ) throws(SpaceError) -> (set: SharedOrderedSet<Value>, details: CollectionDetails)? {
        try attempt("open \(SharedObjectKind.orderedSet.phrase)") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            let found = try core.read { (snapshot) throws(SpaceError) in try snapshot.object(name, .orderedSet) }
            guard let found else { return nil }
            guard let details = CollectionDetails(found.details) else {
                throw .damaged("the object \(name.quotedForPeople)")
            }
            let identity: ElementIdentity<Value> = details.keyType == nil ? .value : .givenKey
            return (SharedOrderedSet(name, in: .namespace(self), number: found.number, identity: identity), details)
        }
    }
}
