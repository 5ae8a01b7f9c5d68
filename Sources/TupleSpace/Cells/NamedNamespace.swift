import SpaceSystem
public import TupleCoding

/// A namespace by its name, for one line: it is opened at its first use.
///
/// ```swift
/// try space["App"].set("k", 1)
/// let k: Int? = try space["App"].get("k")
/// let taken: Int? = try space["App"].take("k")
/// ```
///
/// Setting opens the namespace, and creates it if need be. From then on it is held: by this process until
/// ``Space/letGo(of:)`` or its end, or by the object that the subscript names, as long as that object lives. So what was
/// set does not go with a handle. Getting, taking and unsetting create and own nothing: they find nothing in a namespace
/// that isn't there, and those that wait wait for it too.
public struct NamedNamespace: CellStore {
    let space: Space
    let name: String
    let owner: (any AnyObject & Sendable)?

    /// How the verbs of cells reach them.
    public var cellAccess: CellAccess { CellAccess(place: .named(self)) }

    /// The namespace, which is opened; `nil` if it isn't there and is not to be created.
    func namespace(creates: Bool) throws(SpaceError) -> Namespace? {
        creates ? try opened() : try space.ifThere(name)
    }

    /// Opens the namespace, and creates it if it isn't there.
    public func opened() throws(SpaceError) -> Namespace {
        guard let owner else { return try space.held(name) }
        let namespace = try space.namespace(name)
        try namespace.addOwner(owner)
        return namespace
    }

    /// Takes a cell: unsets it, and returns the content that it had; `nil` if it was not set.
    public func take<Content: Decodable>(_ key: String, as type: Content.Type = Content.self) throws(SpaceError)
        -> Content?
    {
        try take(key: key, as: type)
    }

    /// Waits until a cell is set, and takes it.
    ///
    /// - Parameters:
    ///   - key: The cell's key.
    ///   - type: The type of its content.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The content; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled.
    public func take<Content: Decodable>(
        _ key: String,
        as type: Content.Type = Content.self,
        timeout: Duration?
    ) async throws(SpaceError) -> Content? {
        try await space.awaiting(name, timeout: timeout) { (namespace, rest) async throws(SpaceError) in
            try await namespace.take(key: key, as: type, timeout: rest)
        }
    }

    /// Waits until a cell is set; the same as ``Namespace/get(_:timeout:)-(_,Duration?)``.
    public func get(_ key: String, timeout: Duration?) async throws(SpaceError) -> Value? {
        try await space.awaiting(name, timeout: timeout) { (namespace, rest) async throws(SpaceError) in
            try await namespace.get(key, timeout: rest)
        }
    }

    /// Waits until a cell is set, and decodes its value; the same as ``Namespace/get(_:as:timeout:)-(_,_,Duration?)``.
    public func get<Content: Decodable>(
        _ key: String,
        as type: Content.Type = Content.self,
        timeout: Duration?
    ) async throws(SpaceError) -> Content? {
        try await space.awaiting(name, timeout: timeout) { (namespace, rest) async throws(SpaceError) in
            try await namespace.get(key, as: type, timeout: rest)
        }
    }
}

extension NamedNamespace: CustomStringConvertible {
    /// What it is, in one line: `namespace "App" in /run/user/1000/shared-space, opened at its first use`.
    public var description: String { "namespace \(name.quotedForPeople) in \(space.root), opened at its first use" }
}

extension Space {
    /// A namespace by its name, for one line; see ``NamedNamespace``.
    ///
    /// - Parameters:
    ///   - name: The namespace's name.
    ///   - owner: The object that holds the namespace as long as it lives; `nil`: this process holds it until
    ///     ``letGo(of:)``.
    public subscript(name: String, for owner: (any AnyObject & Sendable)? = nil) -> NamedNamespace {
        NamedNamespace(space: self, name: name, owner: owner)
    }
}
