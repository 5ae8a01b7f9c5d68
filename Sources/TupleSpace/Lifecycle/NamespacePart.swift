/// A feature's state for an open namespace, and its work when a handle, this process or another holder ends.
///
/// The features stand above the namespace, so the namespace knows them only by this protocol. A space is made with
/// the types of all features, and every namespace that it opens gets one object of each type. Every requirement but
/// `init` does nothing by default.
package protocol NamespacePart: AnyObject, Sendable {
    init()

    /// Ends what was begun with a handle that this process leaves.
    func end(handle: ObjectIdentifier, of core: NamespaceCore)

    /// Ends everything that this process has, before its last handle is left.
    func endAll(of core: NamespaceCore)

    /// Looks for news: the namespace's change signal was heard.
    func hear(_ core: NamespaceCore)

    /// Looks for news whose signal was lost: once a second, and once per tick as long as it needs ticks.
    func tick(_ core: NamespaceCore)

    /// Does the feature's part of what one process does for all: called at each tick of the process that ticks for the
    /// namespace.
    func tickForAll(_ core: NamespaceCore)

    /// Whether something failed that the next tick tries again.
    var needsTicks: Bool { get }

    /// Adds the holders of the feature's holds.
    ///
    /// - Parameters:
    ///   - name: The name that they hold or wait for; `nil` for all names.
    ///   - snapshot: The snapshot to read.
    ///   - holders: The set that receives the holders.
    /// - Throws: What reading throws.
    func addHolders(at name: String?, in snapshot: Snapshot, to holders: inout Set<ClaimHolder>) throws(SpaceError)

    /// Ends the holds of holders that have ended.
    ///
    /// - Parameters:
    ///   - core: The namespace.
    ///   - timeout: The time to wait for the gate; `nil` for the space's time-out.
    ///   - hasEnded: Whether the holder of a hold with a number has ended, or this hold of it.
    /// - Throws: An error of content if a hold could not be ended; all others were ended.
    func drop(
        of core: NamespaceCore,
        timeout: Duration?,
        where hasEnded: (ClaimHolder, _ number: UInt64) -> Bool
    ) throws(SpaceError)

    /// Drops what sessions have registered, as far as that can be done now.
    ///
    /// - Parameters:
    ///   - which: Whose registrations.
    ///   - core: The namespace.
    ///   - timeout: The time to wait for the gate; `nil` for the space's time-out.
    func dropRegistrations(of which: Registrants, of core: NamespaceCore, timeout: Duration?)
}

/// Whose registrations are dropped.
package enum Registrants {
    case theDead
    /// This process, which leaves.
    case thisProcess
    /// All sessions: after a reboot none in a row lives any more, and session numbers start again.
    case all
}

extension NamespaceCore {
    /// Drops what sessions have registered.
    package func dropRegistrations(of which: Registrants, timeout: Duration? = nil) {
        for part in parts.all { part.dropRegistrations(of: which, of: self, timeout: timeout) }
    }
}

extension NamespacePart {
    package func end(handle: ObjectIdentifier, of core: NamespaceCore) {}
    package func endAll(of core: NamespaceCore) {}
    package func hear(_ core: NamespaceCore) {}
    package func tick(_ core: NamespaceCore) {}
    package func tickForAll(_ core: NamespaceCore) {}
    package var needsTicks: Bool { false }

    package func addHolders(
        at name: String?,
        in snapshot: Snapshot,
        to holders: inout Set<ClaimHolder>
    ) throws(SpaceError) {}

    package func drop(
        of core: NamespaceCore,
        timeout: Duration?,
        where hasEnded: (ClaimHolder, _ number: UInt64) -> Bool
    ) throws(SpaceError) {}

    package func dropRegistrations(of which: Registrants, of core: NamespaceCore, timeout: Duration?) {}
}

/// The objects that the features keep for one open namespace.
package struct NamespaceParts: Sendable {
    /// The parts, in the order in which the space was given their types.
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
