import TupleCoding

extension Namespace {
    /// The ordered set with a name; it is made if there is none.
    ///
    /// All processes must use the same type of elements: the first one's type is kept, and any other is refused. Types
    /// are compared by their names alone, without the name of the module, which differs between programs that share a
    /// source file. If a type changes, give it a `schema` of your own with a version in it.
    ///
    /// - Parameters:
    ///   - name: 1 to ``Limits/objectNameBytes`` bytes of UTF-8.
    ///   - type: The type of the elements.
    ///   - schema: The type's name for all processes, or `nil` for its name in Swift.
    /// - Returns: A handle, which keeps the namespace open.
    /// - Throws: `typeMismatch` if the ordered set has elements of another type, or the name belongs to another kind of
    ///   object; `invalidArgument` for a name that is not allowed; `storageFull`, `limitReached`, `holderStopped`,
    ///   `holderBusy`, `namespaceDeleted`.
    public func orderedSet<Element: Codable & Sendable>(
        _ name: String,
        of type: Element.Type = Element.self,
        schema: String? = nil
    ) throws(SpaceError) -> SharedOrderedSet<Element> {
        let number = try collection(.orderedSet, name, elementType: schema ?? "\(Element.self)") {
            (scope, details) throws(SpaceError) in
            try scope.makeOrderedSet(name, details: details)
        }
        return SharedOrderedSet(place: .namespace(self), name: name, number: number)
    }

    /// Removes an ordered set, with all its elements.
    ///
    /// From then on its handles throw `closed`, in all processes; its observers get a last change.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object; `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
    /// - Complexity: O(n).
    @discardableResult
    public func removeOrderedSet(_ name: String) throws(SpaceError) -> Bool {
        try attempt("remove an ordered set") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            return try core.write(.removing) { (scope) throws(SpaceError) in
                guard let object = try scope.snapshot.object(name, .orderedSet) else { return false }
                try scope.removeOrderedSet(name, object.number)
                return true
            }
        }
    }
}
