/// A namespace by its name, for one line: it is opened at its first use.
///
/// ```swift
/// try space["App"].write("resize", 42)
/// let job = try space["App"].takeIfExists("resize", any(Int.self))
/// try space["App"].set("k", 1)
/// let k: Int? = try space["App"].get("k")
/// ```
///
/// Writing a tuple and setting a cell open the namespace, and create it if need be. From then on the namespace is held
/// until ``letGo()``: by this process, or, in SharedSpaceObjects, by a given object, as long as the object lives. So
/// what was written does not end with a handle. Reading, taking and unsetting create and own nothing. In a namespace
/// that doesn't exist they find nothing, and waiting verbs wait for the namespace too. For all other verbs,
/// ``opened()`` is the namespace itself.
public struct NamedNamespace {
    let space: Space
    let name: String
    let owner: (any AnyObject & Sendable)?

    package init(_ name: String, in space: Space, owner: (any AnyObject & Sendable)? = nil) {
        self.space = space
        self.name = name
        self.owner = owner
    }

    /// The namespace, which is opened; `nil` if it isn't there and is not to be created.
    func namespace(creates: Bool) throws(SpaceError) -> Namespace? {
        creates ? try opened() : try space.ifThere(name)
    }

    /// Opens the namespace, creates it if it isn't there, and holds it as writing does.
    public func opened() throws(SpaceError) -> Namespace {
        guard let owner else { return try space.held(name) }
        let namespace = try space.namespace(name)
        try namespace.addOwner(object: owner)
        return namespace
    }

    /// Ends the hold that writing began: the hold of the object, if one was given, else the hold of this process.
    ///
    /// If the namespace has no other owner, it is deleted. If there is no such hold, nothing happens.
    ///
    /// - Throws: `holderStopped`, `holderBusy`: a lock of the namespace was not acquired in time.
    public func letGo() throws(SpaceError) {
        guard let owner else {
            try space.held.remove(name)?.leave()
            return
        }
        _ = try space.ifThere(name)?.removeOwner(object: owner)
    }
}

extension NamedNamespace: CustomStringConvertible {
    /// A description in one line: `namespace "App" in /dev/shm/shared-space-1000, opened at its first use`.
    public var description: String { "namespace \(name.quotedForPeople) in \(space.root), opened at its first use" }
}

extension Space {
    /// A namespace by its name, for one line; see ``NamedNamespace``.
    public subscript(name: String) -> NamedNamespace { NamedNamespace(name, in: self) }

    /// A namespace that is created if need be, and that this process owns from then on.
    func held(_ name: String) throws(SpaceError) -> Namespace {
        try held.namespace(name, owning: true) { () throws(SpaceError) in try namespace(name) }
    }

    /// A namespace that exists, without owning it; `nil` if there is none.
    func ifThere(_ name: String) throws(SpaceError) -> Namespace? {
        do throws(SpaceError) {
            return try held.namespace(name, owning: false) { () throws(SpaceError) in
                try existingNamespace(name, owning: false)
            }
        } catch  where error.code == .namespaceNotFound {
            return nil
        }
    }
}
