import SpaceSystem

/// A taker's wait for an item: it ends when the taker is served or the time has passed.
///
/// The result is the place that holds the item, or `nil` if the time has passed. If something becomes due during the
/// wait, the waiting taker settles the queue itself. If the wait ends with an error, an item that the taker was given
/// returns, and that does not count as a delivery.
struct QueueWait: Steps {
    static let operation = "take an item from a queue"

    private enum News { case served, due, gone }

    let core: NamespaceCore
    var operation: String { Self.operation }
    private let name: String
    private let deadline: MonotonicInstant?
    private let itemDeadline: Duration?
    private var place: Place?
    private var entry = QueueEntry()
    /// The session's number when it entered the queue.
    private var session: UInt64 = 0
    /// The next time at which takers can get more (`Snapshot.nextDue`); it limits the present sleep.
    private var due: Int64?
    private var news: News?

    init(_ core: NamespaceCore, _ name: String, until deadline: MonotonicInstant?, itemDeadline: Duration?) {
        self.core = core
        self.name = name
        self.itemDeadline = itemDeadline
        self.deadline = deadline
    }

    mutating func step() throws(SpaceError) -> Step<Place?> {
        guard let place else { return try enter() }
        switch news {
        case .served?:
            guard try unlessGone({ () throws(SpaceError) in try core.places.see(place) }) != nil else {
                news = .gone
                return try enter()
            }
            return .done(place)
        case .gone?: return try enter()
        case .due?, nil: break
        }
        if try isDue() {
            // The first taker to notice settles the queue for all.
            guard try core.queues.settle(name) else {
                if deadline?.hasPassed ?? false { return try endWaiting(place) }
                due = core.clock.time(after: Limits.tick)
                return sleep(place)
            }
            if try look(), news != .due { return try step() }
        }
        if deadline?.hasPassed ?? false { return try endWaiting(place) }
        due = try nextDue()
        return sleep(place)
    }

    private mutating func endWaiting(_ place: Place) throws(SpaceError) -> Step<Place?> {
        .done(try unlessGone { () throws(SpaceError) in try core.places.endWaiting(place) }?.entered?.0)
    }

    static func request(_ name: String, _ deadline: Duration?, _ clock: NamespaceClock) -> PlaceRequest {
        var request = PlaceRequest(name: name, kind: .queue, rules: TakerRules())
        if let deadline {
            request.details = .array([.int(max(1, Int(clock.time(after: deadline) &- clock.milliseconds)))])
        }
        return request
    }

    private mutating func enter() throws(SpaceError) -> Step<Place?> {
        // A taker that only looks writes nothing if there is no item.
        if !entry.hasFailed, deadline?.hasPassed ?? false, try !core.queues.mayTakeItem(name) { return .done(nil) }
        let request = Self.request(name, itemDeadline, core.clock)
        switch try entry.attempt(request, in: core, until: deadline, hasLostPlace: news == .gone) {
        case .answered(.refused): return .done(nil)
        case .later(let sleep): return .sleep(sleep)
        case .answered(.entered(let place, let isHolding)):
            (self.place, session, news) = (place, core.session.number, nil)
            if isHolding { return .done(place) }
            due = try nextDue()
            return sleep(place)
        }
    }

    /// Sleeps until the caller's deadline or the time at which there may be more to take.
    private func sleep(_ place: Place) -> Step<Place?> {
        .sleep(Sleep(Interest(hold: place.ticket), text: place.text, until: core.queues.sleepEnd(deadline, due: due)))
    }

    /// Checks whether the taker was served, or whether there will be more to take before the end of the sleep.
    mutating func look() throws(SpaceError) -> Bool {
        // The next step enters again.
        if news == .gone { return false }
        news = nil
        guard let place else { return false }
        guard let isServed = try unlessGone({ () throws(SpaceError) in try core.places.isServed(place) }) else {
            news = .gone
            return true
        }
        if isServed {
            news = .served
        } else if try nextDue() ?? .max < due ?? .max {
            news = .due
        }
        return news != nil
    }

    /// The result of `body`; `nil` if the taker got an item that was gone before it looked, or if this machine's member
    /// has ended.
    ///
    /// Such an item is gone because its time to run was over, or because another process has cancelled it.
    private func unlessGone<Result>(_ body: () throws(SpaceError) -> Result) throws(SpaceError) -> Result? {
        try core.places.unlessMemberEnded(of: session) { () throws(SpaceError) -> Result? in
            do throws(SpaceError) {
                return try body()
            } catch {
                guard error.code == .holdLost else { throw error }
                return nil
            }
        } ?? nil
    }

    func giveUp() {
        if let place, news != .gone { core.places.endOrRemember(place.unseen) }
        if let place = entry.uncertain { core.places.endOrRemember(place.unseen) }
    }

    private func isDue() throws(SpaceError) -> Bool { try nextDue() ?? .max <= core.clock.milliseconds }

    /// The time when takers can next get more.
    private func nextDue() throws(SpaceError) -> Int64? {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return nil }
            return try snapshot.nextDue(rows, settings)
        }
    }
}
