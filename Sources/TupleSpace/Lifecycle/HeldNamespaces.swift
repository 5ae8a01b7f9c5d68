import Synchronization

/// The namespaces that a space holds open for its one-liners, until the process exits or releases them.
///
/// A namespace that was only read is open without being owned: so it is not opened again for each line, and not kept
/// alive either.
package final class HeldNamespaces: Sendable {
    private let namespaces = Mutex<[Name: Namespace]>([:])

    /// The held namespace of a name; if there is none, or it must be owned and is not, the one that `open` opens.
    func namespace(
        _ name: String,
        owning: Bool,
        open: () throws(SpaceError) -> Namespace
    ) throws(SpaceError) -> Namespace {
        // Called before the lock is taken, because the lock may have been held at a fork.
        try SpaceError.naming(Opening.operation, on: name, LibraryUse.begin)
        if let held = held(name, owning: owning) { return held }
        let opened = try open()
        return namespaces.withLock { namespaces in
            if let held = namespaces[Name(name)], held.isAlive, held.isOwning || !owning { return held }
            namespaces[Name(name)] = opened
            return opened
        }
    }

    private func held(_ name: String, owning: Bool) -> Namespace? {
        namespaces.withLock { $0[Name(name)] }.flatMap { $0.isAlive && ($0.isOwning || !owning) ? $0 : nil }
    }

    func remove(_ name: String) -> Namespace? { namespaces.withLock { $0.removeValue(forKey: Name(name)) } }
}

extension Namespace {
    /// Whether the namespace still exists and this handle can be used.
    fileprivate var isAlive: Bool { (try? usableCore().checkUsable()) != nil }
}
