/// What a feature keeps for an open namespace, and what it does when a handle, this process or another holder ends.
///
/// The features stand above the namespace, so it knows them by this protocol alone. A space is made with the types of all
/// features, and every namespace that it opens gets one object of each. Every requirement but `init` does nothing unless the
/// feature says otherwise.
package protocol NamespacePart: AnyObject, Sendable {
    init()

    /// Ends what was begun with a handle that this process leaves.
    func end(handle: ObjectIdentifier, of core: NamespaceCore)

    /// Ends what this process has, before its last handle is left.
    func endAll(of core: NamespaceCore)

    /// Looks for news: the namespace's change signal was heard.
    func hear(_ core: NamespaceCore)

    /// Looks for news that no signal told of, once a tick.
    func tick(_ core: NamespaceCore)

    /// Adds the holders of what the feature hands out.
    ///
    /// - Parameters:
    ///   - name: The name at which they hold or wait; `nil`: all.
    ///   - snapshot: Where to look.
    ///   - holders: Gets the holders.
    /// - Throws: What reading throws.
    func addHolders(at name: String?, in snapshot: Snapshot, to holders: inout Set<ClaimHolder>) throws(SpaceError)

    /// Ends what holders have that have ended.
    ///
    /// - Parameters:
    ///   - core: The namespace.
    ///   - timeout: For the gate; `nil`: the space's.
    ///   - hasEnded: Whether a holder has ended.
    /// - Throws: An error of content when something could not be ended; the rest was.
    func drop(of core: NamespaceCore, timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError)
}

extension NamespacePart {
    package func end(handle: ObjectIdentifier, of core: NamespaceCore) {}
    package func endAll(of core: NamespaceCore) {}
    package func hear(_ core: NamespaceCore) {}
    package func tick(_ core: NamespaceCore) {}

    package func addHolders(
        at name: String?,
        in snapshot: Snapshot,
        to holders: inout Set<ClaimHolder>
    ) throws(SpaceError) {}

    package func drop(
        of core: NamespaceCore,
        timeout: Duration?,
        where hasEnded: (ClaimHolder) -> Bool
    ) throws(SpaceError) {}
}

/// The features' parts of one open namespace.
package struct NamespaceParts: Sendable {
    /// In the order in which the space was given them.
    package let all: [any NamespacePart]

    package init(_ kinds: [any NamespacePart.Type]) { all = kinds.map { $0.init() } }

    /// The part of a feature that the space was made with.
    package subscript<Part: NamespacePart>(_: Part.Type) -> Part {
        for part in all {
            if let part = part as? Part { return part }
        }
        preconditionFailure("\(Part.self) is used in a space that was made without it")
    }
}
