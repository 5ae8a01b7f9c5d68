import SpaceSystem
import Synchronization

/// A responder whose requests its user asks for, one by one, and answers in any order: for commands and other languages.
///
/// If this responder or its process ends, a request that was given out and not answered goes to the next responder.
package final class RequestSource: Sendable {
    package enum Turn: Sendable {
        case request(IncomingRequest)
        /// The time has passed.
        case late
        /// The responder was replaced or removed.
        case ended
    }

    fileprivate struct State {
        var position: ResponderPosition
        /// The session that the position belongs to.
        var session: UInt64
        /// The requests that were given out and not answered, by the numbers of their work.
        var inHand: [UInt64: IncomingRequest] = [:]
        /// The numbers of those that a thread is about to give out.
        var beginning: Set<UInt64> = []

        func isFree(_ asking: Asking) -> Bool { inHand[asking.work] == nil && !beginning.contains(asking.work) }
    }

    package let namespace: Namespace
    package let name: String
    package let key: String
    private let isBase: Bool
    fileprivate let state: Mutex<State>
    /// Held while the responder is registered again.
    private let enrolment = Mutex<Void>(())
    fileprivate var core: NamespaceCore { namespace.core }

    /// Registers the responder.
    ///
    /// - Parameters:
    ///   - name: What it responds to.
    ///   - key: Its key; `nil` for a new UUID. A responder with the same key is replaced.
    ///   - base: Whether it is a base handler: it answers only while there is no other kind of responder.
    ///   - namespace: The namespace.
    /// - Throws: `tooLarge` for a name that is not allowed, `typeMismatch`, and what every write throws.
    package init(to name: String, key: String?, base: Bool, in namespace: Namespace) throws(SpaceError) {
        self.namespace = namespace
        self.name = name
        self.key = key ?? "\(TupleUUID.random())"
        isBase = base
        let position = try namespace.enrolResponder(name, key: self.key, isBase: base)
        state = Mutex(State(position: position, session: namespace.core.session.number))
    }

    /// Waits for the next request, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait early.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Turn {
        try RequestWait(self, timeout).block(interruption: interruption)
    }

    /// Waits for the next request, suspending the task; if `timeout` is `nil`, without a limit.
    package func next(timeout: Duration?) async throws(SpaceError) -> Turn {
        try await RequestWait(self, timeout).suspend()
    }

    /// The request with a number that was given out and not answered.
    package func request(_ number: UInt64) -> IncomingRequest? { state.withLock { $0.inHand[number] } }

    /// Takes back a request that was given out; it comes next, even for a wait that has already begun.
    package func giveBack(_ request: IncomingRequest) {
        let session = state.withLock { state in
            state.inHand[request.asking.work] = nil
            return state.session
        }
        // The waits of this responder look again. If they can't be woken, they look with the next change.
        try? core.write(.removing) { (scope) throws(SpaceError) in
            scope.responders.noteAwaited(.requests(of: session))
            scope.noteUpkeep()
        }
    }

    /// Answers a request.
    package func answer(
        _ request: IncomingRequest,
        _ reply: Result<Value, ResponderFailure>
    ) throws(SpaceError) {
        let bytes = reply.flatMap { value in
            Result { () throws(TupleCodingError) in try value.encodedElement() }.mapError { ResponderFailure($0) }
        }
        try core.requests.answer(request, bytes)
        state.withLock { _ = $0.inHand.removeValue(forKey: request.asking.work) }
    }

    package func inHand(_ request: IncomingRequest) -> RequestInHand {
        RequestInHand(
            core: core,
            asking: request.asking,
            position: request.position,
            key: key,
            reached: request.reached
        )
    }

    /// Takes the responder off the stack, now or as soon as no process is in the way; what was given out and not answered
    /// goes to the next responder.
    package func end() {
        let position = state.withLock { $0.position }
        core.letGo { [name] (core, patience) throws(SpaceError) in
            try core.responders.remove(position, of: name, timeout: patience)
        }
    }

    /// Takes the responder off the stack while it answers one request; its other requests go on to the next responder.
    func retireAndPass(keeping kept: IncomingRequest) throws(SpaceError) {
        let position = state.withLock { $0.position }
        _ = try core.responders.retire(to: name) { $0.position == position }
        let others = try core.read { snapshot throws(SpaceError) in
            try snapshot.askings(of: position, in: try snapshot.responders(to: name), name)
        }
        for asking in others where asking.work != kept.asking.work { try core.requests.pass(asking, from: position) }
    }

    fileprivate func lookForTurn() throws(SpaceError) -> RequestWait.Seen? {
        let state = state.withLock { $0 }
        let position = state.position
        return try core.read { snapshot throws(SpaceError) in
            let stack = try snapshot.responders(to: name)
            guard stack.rows.contains(where: { $0.position == position && !$0.isRetired }) else { return .ended }
            return try snapshot.askings(of: position, in: stack, name).first { state.isFree($0) }.map { .asked($0) }
        }
    }

    /// Registers the responder again if it is gone because this machine, one of several, has become another member.
    fileprivate func enrolAgain() throws(SpaceError) -> Bool {
        // If two threads each registered a responder, the second would replace the first.
        try enrolment.withLock { (_) throws(SpaceError) in
            guard core.liveness.hasEnded(memberOf: state.withLock({ $0.session })) else { return false }
            let position = try namespace.enrolResponder(name, key: key, isBase: isBase)
            state.withLock { $0 = State(position: position, session: core.session.number) }
            return true
        }
    }

    /// Gives out a request; `nil` if another thread is about to do so, or it is not asked any more.
    fileprivate func begin(_ asking: Asking) throws(SpaceError) -> IncomingRequest? {
        let position: ResponderPosition? = state.withLock { state in
            guard state.isFree(asking) else { return nil }
            state.beginning.insert(asking.work)
            return state.position
        }
        guard let position else { return nil }
        var request: IncomingRequest?
        defer {
            state.withLock { state in
                state.beginning.remove(asking.work)
                state.inHand[asking.work] = request
            }
        }
        request = try core.requests.begin(asking, at: position)
        return request
    }
}

extension IncomingRequest {
    /// The argument.
    package func value() throws(SpaceError) -> Value {
        try coding { () throws(TupleCodingError) in
            try argument.withBytes { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
        }
    }
}

/// A wait for a request.
private struct RequestWait: Steps {
    /// What a look shows that the responder has to do next.
    enum Seen {
        case asked(Asking)
        case ended
    }

    private let source: RequestSource
    private let deadline: MonotonicInstant?
    let core: NamespaceCore
    let operation = "respond"

    init(_ source: RequestSource, _ timeout: Duration?) {
        self.source = source
        core = source.core
        deadline = MonotonicInstant.deadline(after: timeout)
    }

    mutating func step() throws(SpaceError) -> Step<RequestSource.Turn> {
        try core.checkUsable()
        while let seen = try source.lookForTurn() {
            switch seen {
            case .asked(let asking):
                if let request = try source.begin(asking) { return .done(.request(request)) }
            case .ended:
                guard try source.enrolAgain() else { return .done(.ended) }
            }
        }
        if deadline?.hasPassed ?? false { return .done(.late) }
        let session = source.state.withLock { $0.session }
        return .sleep(Sleep(Awaited.requests(of: session).interest, text: "requests", until: deadline))
    }

    func look() throws(SpaceError) -> Bool { try source.lookForTurn() != nil }
}

extension Snapshot {
    /// The requests that a responder is asked and has not answered, in order.
    fileprivate func askings(
        of position: ResponderPosition,
        in stack: ResponderStack,
        _ name: String
    ) throws(SpaceError) -> [Asking] {
        var askings: [Asking] = []
        try forEachRequest { request throws(SpaceError) in
            guard request.isPending, request.name.isSame(as: name), stack.addressee(of: request)?.position == position
            else {
                return
            }
            askings.append(Asking(ticket: request.ticket, work: request.work))
        }
        return askings
    }
}
