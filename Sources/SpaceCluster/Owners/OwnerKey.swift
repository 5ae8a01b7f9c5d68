import ClusterStore
import SpaceEngine

/// The key `owners/<member>` of this machine for one namespace, and the deletion of a namespace without owners.
///
/// Guarantees (tools/model/owning.pml): a namespace with a living owner is never deleted. A process owns the namespace only
/// after the key was put in a transaction that compares the namespace's life. The key's own revision is compared when it
/// is deleted, so a request that arrives late deletes no newer one. The deletion compares that no such key exists, the
/// life, and the head: an entry that makes the namespace persistent changes the head.
struct OwnerKey: Sendable {
    let store: any Store
    let keys: NamespaceKeys
    /// The machine's member and its longer lease.
    let member: UInt32
    let lease: StoreLease
    let endedLives: EndedLives

    private var key: String { keys.key(.owner(member)) }

    /// Puts the key.
    ///
    /// - Returns: Its revision, or `nil` if the namespace's life has ended.
    func put() async throws(StoreError) -> Int64? {
        let outcome = try await store.transact(
            if: [keys.isSameLife],
            then: [.put(key, NumberValue(member).encoded, lease)]
        )
        return outcome.held ? outcome.revision : nil
    }

    /// Deletes the key if it still has a revision.
    func delete(_ revision: Int64) async throws(StoreError) {
        _ = try await store.transact(if: [.modified(key, revision)], then: [.delete(.key(key))])
    }

    /// Deletes the namespace, if it has no owner on any machine and the log ends with this entry.
    ///
    /// - Returns: Whether it was deleted.
    func deleteNamespace(ifUnownedAt head: UInt64) async throws(StoreError) -> Bool {
        try await deleteNamespace(if: [
            .absent(keys.owners), .value(keys.key(.head), NumberValue(head).encoded),
        ])
    }

    /// Deletes the namespace, also if it has owners.
    ///
    /// A full store takes no new key, and a deletion makes room: it goes without the note then, and the other machines set
    /// their replicas aside.
    ///
    /// - Returns: `false` if its life had ended.
    func deleteNamespace(if compares: [StoreCompare] = []) async throws(StoreError) -> Bool {
        do {
            return try await delete(if: compares, [try await endedLives.note(keys)])
        } catch .refused {
            endedLives.forgetLease()
            return try await delete(if: compares, [])
        }
    }

    private func delete(if compares: [StoreCompare], _ note: [StoreOperation]) async throws(StoreError) -> Bool {
        try await store.transact(
            if: [keys.isSameLife] + compares,
            then: note + [.delete(.key(keys.id)), .delete(keys.all), .delete(keys.bases)]
        ).held
    }
}
