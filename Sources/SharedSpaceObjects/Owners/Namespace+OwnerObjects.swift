// Objects that keep a namespace alive.

extension Namespace {
    /// Makes an object an owner: the namespace stays as long as the object lives, or until ``removeOwner(_:)``.
    ///
    /// The object is not retained, and need not have a handle. Swift on Linux does not report the end of an object,
    /// so the library notices it at the next tick (250 ms).
    public func addOwner(_ object: any AnyObject & Sendable) throws(SpaceError) { try addOwner(object: object) }

    /// The objects of this process that are owners, in no order.
    public var ownerObjects: [any AnyObject & Sendable] { core.owners.all }

    /// Undoes ``addOwner(_:)``.
    ///
    /// If that was the last owner, the namespace is deleted.
    ///
    /// - Returns: Whether the object was an owner.
    @discardableResult
    public func removeOwner(_ object: any AnyObject & Sendable) throws(SpaceError) -> Bool {
        try removeOwner(object: object)
    }
}

extension Space {
    /// A namespace by its name, for one line, that an object holds; see ``NamedNamespace``.
    ///
    /// - Parameters:
    ///   - name: The namespace's name.
    ///   - owner: The object that holds the namespace, as long as the object lives, from the first write on.
    public subscript(name: String, for owner: any AnyObject & Sendable) -> NamedNamespace {
        NamedNamespace(name, in: self, owner: owner)
    }
}
