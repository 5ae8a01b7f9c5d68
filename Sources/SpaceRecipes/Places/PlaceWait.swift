import SpaceSystem

/// The wait of a process for its turn in the queue of a name: it ends when the process holds the name, or the time has
/// passed.
///
/// If the time has passed, the result is the hold that the process waited for. Then, and if the wait ends with an
/// error, the place in the queue is given up. A wait with a time-out of zero holds at once, or leaves no trace.
struct PlaceWait: Steps {
    let core: NamespaceCore
    let operation: String
    let request: PlaceRequest
    private let deadline: MonotonicInstant?
    private var place: Place?
    private var entry = QueueEntry()
    /// The session's number when it entered the queue.
    private var session: UInt64 = 0
    private var isServed = false
    private var isGone = false

    init(_ core: NamespaceCore, _ operation: String, _ request: PlaceRequest, timeout: Duration?) {
        self.core = core
        self.operation = operation
        deadline = MonotonicInstant.deadline(after: timeout)
        var request = request
        if let deadline { request.ends = core.clock.time(after: deadline.remaining) }
        request.own = OwnHolds.tickets(of: request.name, in: core, isLimited: timeout != nil)
        self.request = request
    }

    mutating func step() throws(SpaceError) -> Step<PlaceAnswer> {
        guard let place, !isGone else { return try enter() }
        if isServed { return .done(.entered(place, isHolding: true)) }
        let answer = try core.places.unlessMemberEnded(of: session) { () throws(SpaceError) in
            try core.places.endWaiting(place)
        }
        return .done(answer ?? .refused(by: nil))
    }

    private mutating func enter() throws(SpaceError) -> Step<PlaceAnswer> {
        switch try entry.attempt(request, in: core, until: deadline, hasLostPlace: isGone) {
        case .later(let sleep): return .sleep(sleep)
        case .answered(.entered(let place, isHolding: false)):
            (self.place, session, isGone) = (place, core.session.number, false)
            return .sleep(Sleep(Interest(hold: place.ticket), text: place.text, until: deadline))
        case .answered(let answer): return .done(answer)
        }
    }

    mutating func look() throws(SpaceError) -> Bool {
        guard let place, !isGone else { return false }
        let answer = try core.places.unlessMemberEnded(of: session) { () throws(SpaceError) in
            try core.places.isServed(place)
        }
        isServed = answer ?? false
        isGone = answer == nil
        return isServed || isGone
    }

    func giveUp() {
        if let place, !isGone { core.places.endOrRemember(place) }
        if let place = entry.uncertain { core.places.endOrRemember(place) }
    }
}
