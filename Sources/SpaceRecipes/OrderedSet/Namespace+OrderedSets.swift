import TupleCoding

extension Namespace {
    /// The ordered set of a name, which is made if there is none.
    ///
    /// All processes have to mean the same type: the first one's is kept, and another is refused. Types are told apart by name alone,
    /// without the module's, which differs between programs that share a source file; where a type changes, give it a
    /// `schema` of your own with a version in it.
    ///
    /// - Parameters:
    ///   - name: 1 to ``Limits/objectNameBytes`` bytes of UTF-8.
    ///   - type: The type of the elements.
    ///   - schema: The type's name for all processes; `nil`: its name in Swift.
    /// - Returns: A handle, which keeps the namespace.
    /// - Throws: `typeMismatch` when the ordered set has elements of another type, or the name is that of another kind of object;
    ///   `invalidArgument` for a name that is none; `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
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

    /// Removes an ordered set, with all elements.
    ///
    /// Its handles, in all processes, throw `closed` from then on; observers are told that it is gone.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `typeMismatch` when the name is that of another kind of object; `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(n).
    @discardableResult
    public func removeOrderedSet(_ name: String) throws(SpaceError) -> Bool {
        let operation = "remove an ordered set"
        try checkObjectName(name, operation)
        let core = try usableCore(operation)
        return try core.write(operation, DiskReserve.Demand.none) { (scope) throws(SpaceError) in
            guard let object = try scope.snapshot.object(name, .orderedSet) else { return false }
            var demand = DiskReserve.Demand.removing(1, bytes: 1024)
            demand.elements = try scope.snapshot.elementRows(object.number)
            demand.bytes += 32 * demand.elements
            scope.demand = scope.demand + demand
            try core.engine.ensureRoom(scope.demand)
            try scope.removeOrderedSet(name, object.number)
            return true
        }
    }
}
