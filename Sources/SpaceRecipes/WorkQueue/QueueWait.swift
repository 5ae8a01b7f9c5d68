import SpaceSystem
import TupleCoding

/// A taker's wait: until it is served, the time has passed, or a delayed item is due, which it then sees to itself.
///
/// Used by one thread or task at a time.
final class QueueWait {
    static let operation = "take an item from a queue"

    enum Outcome { case served, sooner }

    let core: NamespaceCore
    let place: HoldPlace
    private let deadline: MonotonicInstant?
    private(set) var isOver: Bool
    private var isServed: Bool
    /// Whether it was served by others, and has not said yet that it knows.
    private var isUnseen = false

    /// Enters the queue of takers; `nil`: it would have had to wait, and may not.
    init?(_ core: NamespaceCore, _ request: HoldRequest, until deadline: MonotonicInstant?) throws(SpaceError) {
        self.core = core
        self.deadline = deadline
        let mayWait = deadline?.hasPassed != true
        // Who only looks writes nothing where there is nothing.
        if !mayWait, try !core.mayTakeItem(request.name) { return nil }
        guard let (place, isHolding) = try core.enter(Self.operation, request, waits: mayWait) else { return nil }
        self.place = place
        isServed = isHolding
        isOver = isHolding
    }

    /// When the next delayed item is ready.
    func nextDue() throws(SpaceError) -> Int64? {
        try core.read(Self.operation) { snapshot throws(SpaceError) in
            guard let object = try snapshot.object(place.name, .queue) else { return nil }
            return try snapshot.nextDelayed(QueueRows(number: object.number))
        }
    }

    /// How long to sleep: until the caller's time is over, or the next item is due, and where one is to be due no longer than a
    /// tick.
    ///
    /// For the sleep's clock stands still while the machine does, and the namespace's goes on, or is set: then the item is due
    /// before the sleep is over.
    func limit(_ due: Int64?) -> MonotonicInstant? {
        guard let due else { return deadline }
        let remaining = Duration.milliseconds(max(0, due &- core.clock.milliseconds))
        return min(deadline ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
    }

    private func isDue(_ due: Int64?) -> Bool { due.map { $0 <= core.clock.milliseconds } ?? false }

    /// Served; or an item was put that is due sooner than the one that the sleep was for.
    func look(_ due: Int64?) throws(SpaceError) -> Found<Outcome>? {
        guard let row = try core.hold(place) else { throw core.lost(place, Self.operation) }
        if row.isHolding { return Found(result: .served, removed: nil) }
        return try nextDue() ?? .max < due ?? .max ? Found(result: .sooner, removed: nil) : nil
    }

    /// `due`: What the sleep was for.
    func follow(_ outcome: Outcome?, _ due: Int64?) throws(SpaceError) {
        switch outcome {
        case .served?: (isServed, isUnseen, isOver) = (true, true, true)
        case .sooner?: break
        case nil where deadline?.hasPassed ?? false: isOver = true
        case nil where !isDue(due): break
        case nil:
            // Whoever comes first serves all who wait.
            try core.write(Self.operation, .removing(16, bytes: 4096)) { scope throws(SpaceError) in
                try scope.settle(place.name)
            }
        }
    }

    /// What is held; `nil`: the time has passed, and nothing was served meanwhile.
    func result() throws(SpaceError) -> HoldPlace? {
        guard isServed else { return try core.endWaiting(place, Self.operation) }
        if isUnseen { try core.see(place, Self.operation) }
        return place
    }
}
