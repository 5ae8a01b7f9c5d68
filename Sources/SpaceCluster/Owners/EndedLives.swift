import ClusterStore
import SpaceEngine
import SpaceSystem
import Synchronization

/// The lives of namespaces that have ended, and what becomes of their replicas here.
///
/// The transaction that deletes a namespace puts the key `gone/…` of its life. A life that the store has neither now nor
/// among these was not deleted: the store was emptied or set back, and this machine's replica may be the last copy. So only
/// a replica whose life is known to have ended is removed; any other is set aside.
final class EndedLives: Sendable {
    /// How long the store knows of a deletion: a machine that was away for longer sets its replica aside.
    private static let memory = Duration.seconds(30 * 86_400)
    /// How long the deletions of a member share a lease, so that leases are few.
    private static let sharing = Duration.seconds(86_400)

    private let store: any Store
    private let keys: ClusterKeys
    private let state = Mutex(State())

    private struct State {
        var lease: (lease: StoreLease, end: MonotonicInstant)?
        /// Why replicas were set aside, by the path of each.
        var reasons: [String: String] = [:]
    }

    init(store: any Store, keys: ClusterKeys) {
        self.store = store
        self.keys = keys
    }

    /// Why replicas were set aside, by the path of each, as far as this session has done it.
    var reasons: [String: String] { state.withLock { $0.reasons } }

    /// Notes why a replica was set aside.
    func noteAside(_ place: String, because reason: String) { state.withLock { $0.reasons[place] = reason } }

    /// What a transaction that deletes a namespace puts.
    func note(_ keys: NamespaceKeys) async throws(StoreError) -> StoreOperation {
        .put(keys.gone, NumberValue(keys.life.number).encoded, try await lease())
    }

    private func lease() async throws(StoreError) -> StoreLease {
        if let (lease, end) = state.withLock({ $0.lease }), !end.hasPassed { return lease }
        let time = Self.memory + Self.sharing
        let lease = try await store.makeLease(seconds: Int(time.components.seconds))
        state.withLock { $0.lease = (lease, MonotonicInstant.now.advanced(by: Self.sharing)) }
        return lease
    }

    /// Makes another lease for the next deletion: a store that was set back may not have this one.
    func forgetLease() { state.withLock { $0.lease = nil } }

    /// Removes a replica whose life the store no longer has, or sets it aside.
    ///
    /// - Throws: `StoreError` if the store does not answer, and errors of the replica; nothing has happened then.
    func end(_ replica: any Replica) async throws {
        let isDeleted: Bool
        do {
            let name = try NamespaceName(replica.name)
            let key = keys.namespace(name, replica.life).gone
            let row = try await store.row(key)
            // A key that another program has put tells nothing.
            isDeleted = row?.number == replica.life.number
        } catch {
            replica.close()
            throw error
        }
        let name = replica.name
        let place = try await onThread { () throws -> String? in
            guard isDeleted else { return try replica.setAside() }
            try replica.remove()
            return nil
        }
        guard let place else { return }
        noteAside(place, because: "the store has lost the namespace \(name)")
    }
}
