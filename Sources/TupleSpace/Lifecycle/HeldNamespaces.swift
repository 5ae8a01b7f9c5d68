import Synchronization
import TupleCoding

/// The namespaces that a space holds open for its one-liners, until the process exits or releases them.
package final class HeldNamespaces: Sendable {
    private let namespaces = Mutex<[Name: Namespace]>([:])

    func namespace(_ name: String, open: () throws(SpaceError) -> Namespace) throws(SpaceError) -> Namespace {
        // Called before the lock is taken, because the lock may have been held at a fork.
        try SpaceError.attempt(Opening.operation, on: name, LibraryUse.begin)
        if let held = namespaces.withLock({ $0[Name(name)] }), held.isAlive { return held }
        let opened = try open()
        return namespaces.withLock { namespaces in
            if let held = namespaces[Name(name)], held.isAlive { return held }
            namespaces[Name(name)] = opened
            return opened
        }
    }

    /// A namespace that is held already and still exists; `nil` if there is none.
    func held(_ name: String) -> Namespace? {
        namespaces.withLock { $0[Name(name)] }.flatMap { $0.isAlive ? $0 : nil }
    }

    func remove(_ name: String) -> Namespace? { namespaces.withLock { $0.removeValue(forKey: Name(name)) } }
}
