import SpaceSystem
import TupleCoding

/// The wait of a process for its turn in the queue of a name: it ends when the process holds the name, or the time has
/// passed.
///
/// The result is `nil` if the time has passed; then, and if the wait ends with an error, the place in the queue is
/// given up. A wait whose time has passed from the start holds at once, or leaves no trace.
struct HoldWait: Steps {
    let core: NamespaceCore
    fileprivate let operation: String
    fileprivate let request: HoldRequest
    private let deadline: MonotonicInstant?
    private var place: HoldPlace?
    private var isServed = false

    init(_ core: NamespaceCore, _ operation: String, _ request: HoldRequest, timeout: Duration?) {
        self.core = core
        self.operation = operation
        self.request = request
        deadline = MonotonicInstant.deadline(after: timeout)
    }

    mutating func step() throws(SpaceError) -> Step<HoldPlace?> {
        if let place { return .done(try isServed ? place : core.endWaiting(place, operation)) }
        let mayWait = deadline?.hasPassed != true
        guard let (place, isHolding) = try core.enter(operation, request, waits: mayWait) else { return .done(nil) }
        if isHolding { return .done(place) }
        self.place = place
        return .sleep(Sleep(operation, Interest(hold: place.ticket), text: place.text, until: deadline))
    }

    mutating func look() throws(SpaceError) -> Bool {
        isServed = try place.map { (place) throws(SpaceError) in try core.isServed(place, operation) } ?? false
        return isServed
    }

    func giveUp() {
        if let place { core.endOrRemember(place) }
    }
}

/// The ways to acquire a hold, which a lock, a semaphore and an election share.
///
/// They differ only in their requests.
extension Namespace {
    /// Acquires a hold if that is possible now.
    func tryAcquire(_ request: HoldRequest) throws(SpaceError) -> Hold? {
        try acquiring(request, timeout: .zero).block().map { Hold($0, in: self) }
    }

    /// Acquires a hold, blocking the thread.
    ///
    /// If `timeout` is `nil`, only the interruption ends the wait. Throws `timedOut` if the time has passed.
    package func acquireBlocking(
        _ request: HoldRequest,
        timeout: Duration?,
        interruption: Interruption? = nil
    ) throws(SpaceError) -> Hold {
        let wait = try acquiring(request, timeout: timeout)
        return try hold(try wait.block(interruption: interruption), wait)
    }

    /// Acquires a hold, suspending the task; throws `timedOut` or `cancelled` if it ends without one.
    func acquireSuspending(_ request: HoldRequest, timeout: Duration?) async throws(SpaceError) -> Hold {
        let wait = try acquiring(request, timeout: timeout)
        if Task.isCancelled { throw core.cancelled(wait.operation) }
        return try hold(try await wait.suspend(), wait)
    }

    private func acquiring(_ request: HoldRequest, timeout: Duration?) throws(SpaceError) -> HoldWait {
        let operation = "acquire \(request.kind.phrase)"
        try checkObjectName(request.name, operation)
        return HoldWait(try usableCore(operation), operation, request, timeout: timeout)
    }

    private func hold(_ place: HoldPlace?, _ wait: HoldWait) throws(SpaceError) -> Hold {
        guard let place else { throw core.timedOut(wait.operation, wait.request) }
        return Hold(place, in: self)
    }
}
