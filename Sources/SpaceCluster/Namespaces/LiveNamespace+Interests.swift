import ClusterStore
import SpaceEngine
import SpaceSystem

/// What this machine's processes wait to take.
///
/// The machine that writes such a tuple gives this one the pen with it (``Appender``). The key costs a transaction when it
/// changes, so an interest stays in it for a while: a worker that takes again and again waits for the same each time.
extension LiveNamespace {
    func publishInterests(of replica: any Replica) async throws {
        var lastSeen: [Interest: MonotonicInstant] = [:]
        var seen = waits.count
        while true {
            // Processes tell when they begin to wait. What they don't tell, and their end, is looked for.
            let isIdle = lastSeen.isEmpty && interests != nil
            await waits.wait(
                after: seen,
                until: .now.advanced(by: isIdle ? settings.lookInterval : settings.interestInterval)
            )
            try Task.checkCancellation()
            // A wait that begins from here on is looked for again.
            seen = waits.count
            guard hasEntered else { continue }
            let now = MonotonicInstant.now
            for interest in replica.takersInterests { lastSeen[interest] = now }
            lastSeen = lastSeen.filter { now < $0.value.advanced(by: settings.interestKeep) }
            // The latest, in one order: the same interests are the same value.
            let latest = lastSeen.sorted { ($1.value, $0.key.hash) < ($0.value, $1.key.hash) }.map(\.key)
            await publish(InterestsValue(latest.prefix(InterestsValue.most).sorted { $0.hash < $1.hash }))
        }
    }

    private func publish(_ value: InterestsValue) async {
        guard value != interests else { return }
        let key = keys.key(.interests(identity.number))
        let change: StoreOperation =
            value.interests.isEmpty ? .delete(.key(key)) : .put(key, value.encoded, identity.lease)
        // What fails now is tried again at the next look.
        interests = nil
        await tried(.publishInterests) {
            let outcome = try await store.transact(if: [keys.isSameLife], then: [change])
            if outcome.held { interests = value }
        }
    }
}
