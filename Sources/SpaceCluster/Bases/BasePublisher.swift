import ClusterStore
import SpaceEngine

/// Makes a base of a namespace, and trims the log behind it.
///
/// Guarantees, against publishers that were stopped for longer than their lease, and against a store that was set back
/// (tools/model/basing.pml): the manifest names a whole base, and the log goes on from it without a hole.
///
/// 1. The publisher takes the lock `basing`, a key on its lease. The lock's revision is the base's number, so no two bases
///    have a chunk's key in common.
/// 2. It deletes the chunks that no manifest names: earlier bases, and what publishers left that were killed. The one that
///    the manifest names stays for those who read it.
/// 3. It puts the chunks, and then the manifest. Each of these transactions compares the lock's revision, and the manifest's
///    also its own earlier one, and the log's entry of the base's number: that entry is another one after a restore.
/// 4. It deletes the entries up to the base before, so that a replica that was away for a while needs no base.
struct BasePublisher: Sendable {
    let store: any Store
    let keys: NamespaceKeys
    let member: Appender.Identity

    enum Failure: Error {
        case store(StoreError)
        /// Another publisher has the lock, or has taken it.
        case lost
        case value(ValueError)
    }

    /// The most operations of a transaction; etcd's limit is 128.
    private static let mostOperations = 100

    /// Makes a base, on a thread that may wait.
    ///
    /// - Returns: The manifest, or `nil` if another publisher is at work.
    func publish(_ replica: any Replica) throws -> ManifestValue? {
        guard let lock = try waiting({ try await takeLock() }) else { return nil }
        defer { try? waiting { try await giveLock(lock) } }
        let old = try waiting { try await readManifest() }
        try waiting { try await clean(lock, old) }
        var chunks: UInt32 = 0
        let position = try replica.forEachPart { rows in
            let number = chunks
            try waiting { try await put(rows, number, lock) }
            chunks += 1
        }
        if let old, old.value.position.entry >= position.entry { return nil }
        let manifest = ManifestValue(
            life: keys.life,
            number: UInt64(lock),
            publisher: member.number,
            position: position,
            // As of this entry or a later one, which a replica of this base applies, and which says it again.
            isPersistent: replica.isPersistent,
            header: replica.header,
            chunks: chunks
        )
        try waiting { try await put(manifest, replica, lock, old?.row) }
        if let old { try waiting { try await trim(through: old.value.position.entry, lock) } }
        return manifest
    }

    // MARK: The lock

    private var lockKey: String { keys.key(.basing) }

    private func takeLock() async throws(Failure) -> Int64? {
        let outcome = try await transact(
            if: [.modified(lockKey, 0)],
            then: [.put(lockKey, NumberValue(member.number).encoded, member.lease)]
        )
        return outcome.held ? outcome.revision : nil
    }

    private func giveLock(_ lock: Int64) async throws(Failure) {
        _ = try await transact(if: [.modified(lockKey, lock)], then: [.delete(.key(lockKey))])
    }

    // MARK: Steps

    private func readManifest() async throws(Failure) -> (value: ManifestValue, row: StoreRow)? {
        guard let row = try await row(keys.key(.manifest)) else { return nil }
        do { return (try ManifestValue(decoding: row.value, of: keys.life), row) } catch { throw .value(error) }
    }

    private func clean(_ lock: Int64, _ manifest: (value: ManifestValue, row: StoreRow)?) async throws(Failure) {
        while true {
            let reading: StoreReading
            do { reading = try await store.read(keys.bases, limit: 1000, keysOnly: true) } catch { throw .store(error) }
            var orphans: Set<StoreRange> = []
            var hasOthers = false
            for row in reading.rows {
                guard let (number, publisher) = keys.chunks(ofKey: row.key) else { continue }
                if number == manifest?.value.number, publisher == manifest?.value.publisher {
                    hasOthers = true
                } else {
                    orphans.insert(keys.chunks(number, of: publisher))
                }
            }
            for range in orphans {
                let outcome = try await transact(
                    if: [.modified(lockKey, lock), .modified(keys.key(.manifest), manifest?.row.modified ?? 0)],
                    then: [.delete(range)]
                )
                guard outcome.held else { throw .lost }
            }
            // The manifest's own chunks may fill the reading; numbers grow, so others stand before them.
            guard reading.hasMore, !orphans.isEmpty, !hasOthers else { return }
        }
    }

    private func put(_ rows: [UInt8], _ number: UInt32, _ lock: Int64) async throws(Failure) {
        let chunk = ChunkValue(life: keys.life, number: number, rows: rows)
        let outcome = try await transact(
            if: [.modified(lockKey, lock)],
            then: [.put(keys.chunk(UInt64(lock), of: member.number, number), chunk.encoded, .none)]
        )
        guard outcome.held else { throw .lost }
    }

    private func put(
        _ manifest: ManifestValue,
        _ replica: any Replica,
        _ lock: Int64,
        _ old: StoreRow?
    ) async throws(Failure) {
        let key = keys.key(.log(manifest.position.entry))
        guard let row = try await row(key),
            let value = try? LogValue(decoding: row.value, of: keys.life),
            replica.links(of: value.entry)?.behind == manifest.position.link
        else { throw .lost }
        let outcome = try await transact(
            if: [
                .modified(lockKey, lock), .modified(keys.key(.manifest), old?.modified ?? 0),
                .modified(key, row.modified), keys.isSameLife,
            ],
            then: [.put(keys.key(.manifest), manifest.encoded, .none)]
        )
        guard outcome.held else { throw .lost }
    }

    private func trim(through entry: UInt64, _ lock: Int64) async throws(Failure) {
        var ranges = keys.log(through: entry)[...]
        while !ranges.isEmpty {
            let outcome = try await transact(
                if: [.modified(lockKey, lock)],
                then: ranges.prefix(Self.mostOperations).map { .delete($0) }
            )
            guard outcome.held else { throw .lost }
            ranges = ranges.dropFirst(Self.mostOperations)
        }
    }

    // MARK: Calls

    private func transact(
        if compares: [StoreCompare],
        then operations: [StoreOperation]
    ) async throws(Failure) -> StoreOutcome {
        do { return try await store.transact(if: compares, then: operations) } catch { throw .store(error) }
    }

    private func row(_ key: String) async throws(Failure) -> StoreRow? {
        do { return try await store.row(key) } catch { throw .store(error) }
    }
}
