import SpaceSystem
import TupleCoding

/// The wait of a process for its turn in the queue of a name: it ends when the process holds the name, or the time has
/// passed.
///
/// The result is `nil` if the time has passed; then, and if the wait ends with an error, the place in the queue is
/// given up. A wait whose time has passed from the start holds at once, or leaves no trace.
struct PlaceWait: Steps {
    let core: NamespaceCore
    let operation: String
    let request: PlaceRequest
    private let deadline: MonotonicInstant?
    private var place: Place?
    private var isServed = false

    init(_ core: NamespaceCore, _ operation: String, _ request: PlaceRequest, timeout: Duration?) {
        self.core = core
        self.operation = operation
        deadline = MonotonicInstant.deadline(after: timeout)
        var request = request
        if let deadline { request.ends = core.clock.time(after: deadline.remaining) }
        self.request = request
    }

    mutating func step() throws(SpaceError) -> Step<Place?> {
        if let place { return .done(try isServed ? place : core.endWaiting(place)) }
        let mayWait = deadline?.hasPassed != true
        guard let (place, isHolding) = try core.enter(request, waits: mayWait) else { return .done(nil) }
        if isHolding { return .done(place) }
        self.place = place
        return .sleep(Sleep(Interest(hold: place.ticket), text: place.text, until: deadline))
    }

    mutating func look() throws(SpaceError) -> Bool {
        isServed = try place.map { (place) throws(SpaceError) in try core.isServed(place) } ?? false
        return isServed
    }

    func giveUp() {
        if let place { core.endOrRemember(place) }
    }
}
