import ClusterStore
import SpaceEngine
import SpaceSystem

/// Members of a namespace, and their deaths.
///
/// A member takes part in a namespace when its replica works: it has the key `joined/<member>` then, on its lease, and
/// has entered by an entry. Its death is an entry, too, which ends what its sessions hold. The append of that entry
/// compares the absence of the key, so no living member is ended. The lowest of the members that have the key appends it:
/// a member that has not joined this namespace, or whose replica has stopped, would never do so.
extension LiveNamespace {
    /// Makes this machine's member one of the namespace, and ends those that have died.
    func takePlace(of replica: any Replica) async throws {
        let target = await appender.head
        while applied < target {
            try Task.checkCancellation()
            let seen = news.count
            if applied < target { await news.wait(after: seen) }
        }
        try await join()
        try await enter(replica)
        while true {
            try Task.checkCancellation()
            let seen = news.count
            try await endTheDead(in: replica)
            await news.wait(after: seen, until: .now.advanced(by: settings.lookInterval))
        }
    }

    private func join() async throws {
        hasJoined = true
        let me = identity
        do {
            let outcome = try await store.transact(
                StoreTransaction(
                    if: [.value(keys.id, NumberValue(keys.life.number).encoded)],
                    then: [.put(keys.key(.joined(me.number)), NumberValue(me.number).encoded, me.lease)]
                )
            )
            guard outcome.held else { throw Leaving.gone }
        } catch let error as StoreError {
            throw Leaving.again(error.told)
        }
    }

    private func enter(_ replica: any Replica) async throws {
        let member = ClusterMember(number: identity.number, machine: membership.machine)
        var pause = Pause(settings)
        while true {
            do {
                try await onThread { try replica.enter(member) }
                trouble = nil
                replica.publish(member: member.number)
                hasEntered = true
                news.nudge()
                return
            } catch let error as SpaceError {
                trouble = "the machine has not entered the namespace yet: \(error.reason)"
                try Task.checkCancellation()
                await pause.wait()
            }
        }
    }

    /// Waits until this machine takes part.
    ///
    /// - Returns: `false` if it did not until the moment, or has left the namespace.
    @discardableResult
    func waitUntilEntered(until deadline: MonotonicInstant) async -> Bool {
        while !hasEntered {
            let seen = news.count
            guard await !appender.isEnded, !deadline.hasPassed, !Task.isCancelled else { return false }
            await news.wait(after: seen, until: deadline)
        }
        return true
    }

    /// Waits until this machine takes part, and can write.
    ///
    /// - Returns: `done`, or why it can't.
    func arrive(until deadline: MonotonicInstant) async -> DaemonAnswer? {
        guard await waitUntilEntered(until: deadline) else { return nil }
        return await appender.waitWhileLate(until: deadline).map { .unavailable($0) } ?? .done
    }

    /// Ends what the dead processes of this machine held.
    func endDeadProcesses(of replica: any Replica) async throws {
        while true {
            try await Task.sleep(for: settings.deathInterval)
            // Without a member of its own, the machine can't tell its sessions from those of others.
            if hasEntered { try await onReplica { replica.endDeadProcesses() } }
        }
    }

    private func endTheDead(in replica: any Replica) async throws {
        let me = identity.number
        guard joined.keys.min() == me else { return }
        let members = try await onReplica { try replica.members() }
        for member in members where member.number != me && joined[member.number] == nil {
            // Refused if the member lives after all, or if the pen does not come; the next look tries again.
            try? await onThread { try replica.end(member.number) }
        }
    }
}
