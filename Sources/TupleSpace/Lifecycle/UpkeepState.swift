import SpaceSystem
import Synchronization

/// What this process keeps for the upkeep of a namespace.
final class UpkeepState: Sendable {
    /// What this process knows of the one that ticks for the namespace.
    let ticker = Mutex(KnownTicker())
    /// The time at which this process last looked after its own part, in monotonic nanoseconds.
    let lastLook = Atomic<Int64>(0)
    /// How often a nudge found a waiter's tuple, or a tick returned a dead claimer's tuples, because a wake-up was lost.
    ///
    /// A wake-up is lost only if a process is killed.
    let lateFinds = Atomic<Int>(0)
    /// The time, in monotonic nanoseconds, after which a look that finds nothing checks again whether holders of
    /// claims live.
    let nextAsking = Atomic<Int64>(0)
    /// Whether the other processes know that this session claims.
    let isClaimant = Atomic<Bool>(false)

    private static let mostPromises = 256
    /// The tuples that were found granted, to whom, and until when they are left.
    private let promises = Mutex([UInt64: (promise: WaitSlots.Promise, end: MonotonicInstant)]())

    /// Whether a taker leaves a tuple to an older one.
    ///
    /// The slots are searched once for each grant of a tuple, and not for each taker that sees it; `isNew` is set then.
    func leaves(_ id: UInt64, to ticket: UInt64, _ slots: WaitSlots, _ isNew: inout Bool) -> Bool {
        promises.withLock { promises in
            if let (promise, end) = promises[id], slots.stands(promise, of: id) {
                return promise.ticket < ticket && !end.hasPassed
            }
            guard let promise = slots.promise(of: id) else {
                promises[id] = nil
                return false
            }
            if promises.count >= Self.mostPromises {
                promises = promises.filter { slots.stands($0.value.promise, of: $0.key) }
            }
            promises[id] = (promise, .now.advanced(by: GrantPatience.duration))
            isNew = true
            return promise.ticket < ticket
        }
    }
}
