import ClusterStore
import SpaceEngine
import SpaceMachines

/// Makes a namespace of this machine one of all machines.
///
/// Guarantees, against two machines that make the same name replicated at once, and against kills at any step: the store
/// has at most one life of a name, and a namespace of this root is either this root's alone, or its life is in the store,
/// or the next start of the daemon ends in one of the two.
///
/// 1. A mark is put on the disk (``FoundingMarks``), and the namespace becomes a replica.
/// 2. Its rows go into the store as the chunks of a base.
/// 3. One transaction puts the life, the head and the manifest, if the name has no life yet. The mark goes.
/// 4. If the name has another life, the namespace becomes this root's alone again.
struct Founder: Sendable {
    let store: any Store
    let keys: ClusterKeys
    let root: any ReplicaRoot
    let member: UInt32

    enum Failure: Error {
        case store(StoreError)
        case local(SpaceError)
        /// The name has another life.
        case taken
        case value(ValueError)

        var answer: DaemonAnswer {
            switch self {
            case .store(.unknown(let why)):
                .unknown("the store did not answer: \(why); the daemon tries again when it joins the next time")
            case .store(let error):
                .unavailable("\(error.told); the daemon tries again when it joins the next time")
            case .local(let error): .refused(error.reason)
            case .taken: .taken
            case .value(let error): .refused("the namespace's life in the store \(error.told)")
            }
        }
    }

    /// The life of a name that the store has, and the revision that it is known from.
    struct StoredLife {
        let life: NamespaceLife
        let revision: Int64
    }

    private var marks: FoundingMarks { FoundingMarks(root: root.path) }

    /// Makes a namespace replicated, on a thread that may wait; nothing happens if it is.
    ///
    /// - Returns: Its life.
    func found(_ name: NamespaceName) -> Result<StoredLife, Failure> {
        Result { () throws(Failure) in
            if let known = try life(of: name) {
                let replica = try local { () throws(SpaceError) in try root.replica(named: name.text) }
                defer { replica?.close() }
                guard replica?.life == known.life else { throw .taken }
                return known
            }
            let replica: any Replica
            do throws(SpaceError) {
                try marks.add(name)
                do throws(SpaceError) {
                    replica = try root.found(name.text).0
                } catch {
                    marks.remove(name)
                    throw error
                }
            } catch { throw .local(error) }
            return try publish(replica, name)
        }
    }

    private func local<R>(_ body: () throws(SpaceError) -> R) throws(Failure) -> R {
        do throws(SpaceError) { return try body() } catch { throw .local(error) }
    }

    /// Goes on where a killed daemon ended, on a thread that may wait.
    ///
    /// - Returns: `false` if there is nothing of this name that was being published.
    func mend(_ name: NamespaceName) throws -> Bool {
        guard try marks.contains(name) else { return false }
        guard let replica = try root.replica(named: name.text) else {
            marks.remove(name)
            return false
        }
        do {
            try publish(replica, name)
        } catch {
            // The namespace is this root's alone again then.
            guard case .taken = error else { throw error }
        }
        return true
    }

    @discardableResult
    private func publish(_ replica: any Replica, _ name: NamespaceName) throws(Failure) -> StoredLife {
        let keys = keys.namespace(name, replica.life)
        let position: ReplicaPosition
        let chunks: UInt32
        do {
            var count: UInt32 = 0
            position = try replica.forEachPart { rows in
                let value = ChunkValue(life: keys.life, number: count, rows: rows)
                let put = StoreOperation.put(keys.chunk(0, of: member, count), value.encoded, .none)
                try waiting { _ = try await store.transact(then: [put]) }
                count += 1
            }
            chunks = count
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as SpaceError {
            throw .local(error)
        } catch {
            throw .local(SpaceError(.inputOutput, reason: "\(error)"))
        }
        let manifest = ManifestValue(
            life: keys.life,
            number: 0,
            publisher: member,
            position: position,
            isPersistent: replica.isPersistent,
            header: replica.header,
            chunks: chunks
        )
        let publication = StoreTransaction(
            if: [.modified(keys.id, 0)],
            then: [
                .put(keys.id, NumberValue(keys.life.number).encoded, .none),
                .put(keys.key(.head), NumberValue(position.entry).encoded, .none),
                .put(keys.key(.manifest), manifest.encoded, .none),
            ]
        )
        var published: StoredLife?
        do {
            let outcome = try waiting { try await store.transact(publication) }
            if outcome.held { published = StoredLife(life: keys.life, revision: outcome.revision) }
        } catch {
            // It may have happened: the life tells.
            guard case StoreError.unknown = error, let found = try? life(of: name), found.life == keys.life else {
                throw .store(error as? StoreError ?? .unavailable("\(error)"))
            }
            published = found
        }
        if published == nil, let found = try life(of: name), found.life == keys.life { published = found }
        guard let published else {
            _ = try? waiting { try await store.transact(then: [.delete(keys.bases)]) }
            do throws(SpaceError) { try root.abandon(replica) } catch { throw .local(error) }
            marks.remove(name)
            throw .taken
        }
        marks.remove(name)
        return published
    }

    private func life(of name: NamespaceName) throws(Failure) -> StoredLife? {
        let key = keys.id(name)
        do {
            let row = try waiting { try await store.row(key) }
            guard let row else { return nil }
            let number = try NumberValue(decoding: row.value).number
            return StoredLife(life: NamespaceLife(number: number), revision: row.modified)
        } catch let error as ValueError {
            throw .value(error)
        } catch {
            throw .store(error as? StoreError ?? .unavailable("\(error)"))
        }
    }
}
