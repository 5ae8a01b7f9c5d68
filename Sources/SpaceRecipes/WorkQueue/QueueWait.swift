import SpaceSystem
import TupleCoding

/// A taker's wait for an item: it ends when the taker is served or the time has passed.
///
/// The result is the place that holds the item, or `nil` if the time has passed. If a delayed item becomes due during
/// the wait, the waiting taker makes it ready itself. If the wait ends with an error, an item that the taker was given
/// returns, and that does not count as a delivery.
struct QueueWait: Steps {
    static let operation = "take an item from a queue"

    private enum News { case served, sooner }

    let core: NamespaceCore
    var operation: String { Self.operation }
    private let name: String
    private let deadline: MonotonicInstant?
    private var place: Place?
    /// When the next delayed item becomes ready, by which the present sleep is limited.
    private var due: Int64?
    private var news: News?

    init(_ core: NamespaceCore, _ name: String, timeout: Duration?) {
        self.core = core
        self.name = name
        deadline = MonotonicInstant.deadline(after: timeout)
    }

    mutating func step() throws(SpaceError) -> Step<Place?> {
        guard let place else { return try enter() }
        switch news {
        case .served?:
            try core.see(place)
            return .done(place)
        case .sooner?: break
        case nil where deadline?.hasPassed ?? false: return .done(try core.endWaiting(place))
        case nil:
            guard let due, due <= core.clock.milliseconds else { break }
            // The first taker to notice serves all waiting takers.
            try core.write(.removing) { scope throws(SpaceError) in
                try scope.serveTakers(of: name)
            }
        }
        return try sleep(place)
    }

    private mutating func enter() throws(SpaceError) -> Step<Place?> {
        let mayWait = deadline?.hasPassed != true
        // A taker that only looks writes nothing if there is no item.
        if !mayWait, try !core.mayTakeItem(name) { return .done(nil) }
        let request = PlaceRequest(name: name, kind: .queue, rules: TakerRules())
        guard let (place, isHolding) = try core.enter(request, waits: mayWait) else {
            return .done(nil)
        }
        self.place = place
        return isHolding ? .done(place) : try sleep(place)
    }

    /// Sleeps until the caller's deadline or the time of the next delayed item, and with a delayed item for one tick at
    /// most.
    ///
    /// The sleep's clock stands still while the machine sleeps. The namespace's clock goes on, or may be set, so the
    /// item can become due before the sleep ends.
    private mutating func sleep(_ place: Place) throws(SpaceError) -> Step<Place?> {
        due = try nextDue()
        var end = deadline
        if let due {
            let remaining = Duration.milliseconds(max(0, due &- core.clock.milliseconds))
            end = min(end ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
        }
        return .sleep(Sleep(Interest(hold: place.ticket), text: place.text, until: end))
    }

    /// Looks whether the taker was served, or an item was put that is due sooner than the one the sleep is limited by.
    mutating func look() throws(SpaceError) -> Bool {
        news = nil
        guard let place else { return false }
        if try core.isServed(place) {
            news = .served
        } else if try nextDue() ?? .max < due ?? .max {
            news = .sooner
        }
        return news != nil
    }

    func giveUp() {
        if let place { core.endOrRemember(place.unseen) }
    }

    /// The time when the next delayed item becomes ready.
    private func nextDue() throws(SpaceError) -> Int64? {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, _) = try snapshot.queue(name) else { return nil }
            return try snapshot.nextDelayed(rows)
        }
    }
}
