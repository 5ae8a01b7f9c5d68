import ClusterStore
import SpaceEngine
import SpaceMachines
import SpaceSystem

/// Members of a namespace, and their deaths.
///
/// A member takes part in a namespace while its replica works. It then has the key `joined/<member>`, on its lease, and
/// the log has an entry for its beginning. The log also gets an entry for its death, which ends what its sessions hold.
/// The append of that entry compares the absence of the key, so no living member is ended. The lowest of the members
/// that have the key appends it: a member that has not joined this namespace, or whose replica has stopped, would never
/// do so.
///
/// A namespace's clock continues from the log's last entry, which may be old when a machine joins. So the lowest member
/// that takes part appends an entry with its clock when it sees the key of a new member, and the new member enters
/// behind that entry.
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
        try await hearTime(in: replica)
        try await enter(replica)
        while true {
            try Task.checkCancellation()
            let seen = news.count
            try await endTheDead(in: replica)
            try await tellTime(in: replica)
            await news.wait(after: seen, until: .now.advanced(by: settings.lookInterval))
        }
    }

    private func join() async throws {
        hasJoined = true
        let me = identity
        do {
            let outcome = try await store.transact(
                if: [keys.isSameLife],
                then: [.put(keys.key(.joined(me.number)), NumberValue(me.number).encoded, me.lease)]
            )
            guard outcome.held else { throw Leaving.gone }
        } catch let error as StoreError {
            throw Leaving.again(error.told)
        }
    }

    /// Waits for an entry of a machine that takes part; not for long, since that machine may be stopped.
    private func hearTime(in replica: any Replica) async throws {
        let (me, before) = (identity.number, applied)
        let end = MonotonicInstant.now.advanced(by: settings.lookInterval)
        let members = try await onReplica { try replica.members() }.map(\.number)
        // A member of the namespace has had the time since it entered.
        guard !members.contains(me) else { return }
        while applied == before, !end.hasPassed, members.contains(where: { joined[$0] != nil }) {
            try Task.checkCancellation()
            let seen = news.count
            if applied == before { await news.wait(after: seen, until: end) }
        }
    }

    /// Lets those that have joined since hear the time.
    private func tellTime(in replica: any Replica) async throws {
        let me = identity.number
        let waiting = Set(joined.keys).subtracting(toldTime)
        guard !waiting.isEmpty else { return }
        let members = Set(try await onReplica { try replica.members() }.map(\.number))
        guard members.intersection(joined.keys).min() == me else { return }
        if !waiting.isSubset(of: members) {
            guard await tried(.tellTime, { try await onThread { try replica.tellTime(as: me) } }) else { return }
        }
        toldTime = waiting.union(toldTime.intersection(joined.keys))
    }

    private func enter(_ replica: any Replica) async throws {
        let member = ClusterMember(number: identity.number, machine: membership.machine)
        var pause = Pause(settings)
        while true {
            do {
                try await onThread { [lostNumbers] in try replica.enter(member, from: lostNumbers) }
                lostNumbers = nil
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
            if hasEntered { await tried(.endDeadProcesses) { try await onThread { try replica.endDeadProcesses() } } }
        }
    }

    private func endTheDead(in replica: any Replica) async throws {
        let me = identity.number
        guard joined.keys.min() == me else { return }
        let members = try await onReplica { try replica.members() }
        let dead = members.map(\.number).filter { $0 != me && joined[$0] == nil }
        upkeepFailures.forgetMembers(but: dead)
        for number in dead {
            // Refused if the member lives after all, or if the pen does not come; the next look tries again.
            await tried(.endMember(number)) { try await onThread { try replica.end(number) } }
        }
    }

    /// Does a step of the upkeep that is tried again if it fails; returns whether it did not.
    @discardableResult
    func tried(_ step: UpkeepFailures.Step, _ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            upkeepFailures.note(step, nil)
            return true
        } catch {
            // `space machines` reports an error that comes from the other machines.
            if !Task.isCancelled, (error as? SpaceError)?.isOfOtherMembers != true { upkeepFailures.note(step, error) }
            return false
        }
    }
}
