import ClusterStore
package import SpaceMachines
import SpaceSystem

extension LiveNamespace {
    private nonisolated var ownerKey: OwnerKey {
        OwnerKey(
            store: store,
            keys: keys,
            member: membership.number,
            lease: membership.ownerLease,
            endedLives: endedLives
        )
    }

    /// Makes this machine an owner before one of its processes becomes one.
    package func own() async -> DaemonAnswer {
        do {
            guard let revision = try await ownerKey.put() else { return .gone }
            note(ownerKey: revision)
            return .done
        } catch .unknown(let why) {
            // A key without an owner goes after a while.
            return .unavailable("the store did not answer: \(why)")
        } catch {
            return .unavailable(error.told)
        }
    }

    /// Deletes the namespace on all machines.
    package func delete() async -> DaemonAnswer {
        do {
            return try await ownerKey.deleteNamespace() ? .done : .gone
        } catch .unknown(let why) {
            return .unknown("the store did not answer: \(why)")
        } catch {
            return .unavailable(error.told)
        }
    }

    private func note(ownerKey revision: Int64) {
        ownerRevision = max(ownerRevision ?? 0, revision)
        lastOwned = .now
    }

    /// Keeps this machine's key as long as a process owns the namespace, and deletes a namespace without owners.
    func keepOwners(of replica: any Replica) async throws {
        var unownedSince: MonotonicInstant?
        while true {
            try await Task.sleep(for: settings.ownerInterval)
            let isOwned = try await onReplica { try replica.hasLocalOwner() }
            do {
                if isOwned {
                    lastOwned = .now
                    // The key goes with the lease of an earlier member; its process owns the namespace still.
                    if ownerRevision == nil || owners[membership.number] == nil {
                        guard let revision = try await ownerKey.put() else { throw Leaving.gone }
                        note(ownerKey: revision)
                    }
                } else if let revision = ownerRevision, lastOwned.advanced(by: settings.leaveGrace).hasPassed {
                    try await ownerKey.delete(revision)
                    if ownerRevision == revision { ownerRevision = nil }
                }
                upkeepFailures.note(.keepOwners, nil)
                guard owners.isEmpty, ownerRevision == nil, !isOwned, !replica.isPersistent else {
                    unownedSince = nil
                    continue
                }
                let since = unownedSince ?? .now
                unownedSince = since
                // The lowest member is the first to try; the others do if it does not.
                let grace = joined.keys.min() == identity.number ? settings.ownerGrace : settings.ownerGrace * 2
                guard since.advanced(by: grace).hasPassed else { continue }
                let head = applied
                guard !replica.isPersistent else { continue }
                if try await ownerKey.deleteNamespace(ifUnownedAt: head) { throw Leaving.gone }
            } catch let error as StoreError {
                upkeepFailures.note(.keepOwners, error)
            }
        }
    }
}
