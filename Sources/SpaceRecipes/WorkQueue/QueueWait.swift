import SpaceSystem
import TupleCoding

/// A taker's wait for an item: it ends when the taker is served or the time has passed.
///
/// If a delayed item becomes due during the wait, the waiting taker makes it ready itself. Only one thread or task uses
/// a wait at a time.
final class QueueWait {
    static let operation = "take an item from a queue"

    enum Outcome { case served, sooner }

    let core: NamespaceCore
    let place: HoldPlace
    private let deadline: MonotonicInstant?
    private(set) var isOver: Bool
    private var isServed: Bool
    /// Whether another process has served it, and it has not marked its item as delivered yet.
    private var isUnseen = false

    /// Enters the queue of takers; `nil` if the taker would have to wait and may not.
    init?(_ core: NamespaceCore, _ request: HoldRequest, until deadline: MonotonicInstant?) throws(SpaceError) {
        self.core = core
        self.deadline = deadline
        let mayWait = deadline?.hasPassed != true
        // A taker that only looks writes nothing if there is no item.
        if !mayWait, try !core.mayTakeItem(request.name) { return nil }
        guard let (place, isHolding) = try core.enter(Self.operation, request, waits: mayWait) else { return nil }
        self.place = place
        isServed = isHolding
        isOver = isHolding
    }

    /// The time when the next delayed item becomes ready.
    func nextDue() throws(SpaceError) -> Int64? {
        try core.read(Self.operation) { snapshot throws(SpaceError) in
            guard let object = try snapshot.object(place.name, .queue) else { return nil }
            return try snapshot.nextDelayed(QueueRows(number: object.number))
        }
    }

    /// The end of the next sleep: the caller's deadline or the time of the next delayed item, and with a delayed item
    /// at most one tick from now.
    ///
    /// The sleep's clock stands still while the machine sleeps. The namespace's clock goes on, or may be set, so the
    /// item can become due before the sleep ends.
    func limit(_ due: Int64?) -> MonotonicInstant? {
        guard let due else { return deadline }
        let remaining = Duration.milliseconds(max(0, due &- core.clock.milliseconds))
        return min(deadline ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
    }

    private func isDue(_ due: Int64?) -> Bool { due.map { $0 <= core.clock.milliseconds } ?? false }

    /// Looks whether the taker was served, or an item was put that is due sooner than the one the sleep is limited by.
    func look(_ due: Int64?) throws(SpaceError) -> Found<Outcome>? {
        guard let row = try core.hold(place) else { throw core.lost(place, Self.operation) }
        if row.isHolding { return Found(result: .served, removed: nil) }
        return try nextDue() ?? .max < due ?? .max ? Found(result: .sooner, removed: nil) : nil
    }

    /// Takes the next step after a sleep; `due` is the item's time by which the sleep was limited.
    func follow(_ outcome: Outcome?, _ due: Int64?) throws(SpaceError) {
        switch outcome {
        case .served?: (isServed, isUnseen, isOver) = (true, true, true)
        case .sooner?: break
        case nil where deadline?.hasPassed ?? false: isOver = true
        case nil where !isDue(due): break
        case nil:
            // The first taker to notice serves all waiting takers.
            try core.write(Self.operation, .removing(16, bytes: 4096)) { scope throws(SpaceError) in
                try scope.settle(place.name)
            }
        }
    }

    /// The place that holds an item, or `nil` if the time has passed and the taker was not served meanwhile.
    func result() throws(SpaceError) -> HoldPlace? {
        guard isServed else { return try core.endWaiting(place, Self.operation) }
        if isUnseen { try core.see(place, Self.operation) }
        return place
    }
}
