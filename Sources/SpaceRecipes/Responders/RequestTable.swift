/// The rows of requests, each a place under the empty name that ends with the asking session.
///
/// Guarantees: a request is with one responder at a time, and is never put to the same responder twice.
///
///     none → WITH(responder) ⇄ OPEN → ANSWERED, FAILED → none
///
/// - WITH: the responder at `at` has the request, and still has its row. Responders that register later do not come
///   between.
/// - OPEN: `at` is none, or that responder's row has gone. The topmost responder on the stack that is below `below`, and
///   not in `reached`, has the request; if there is none, the asking process ends it.
///
/// Which responder has a request follows from its row and the stack (`ResponderStack.addressee`). So the end of a
/// responder moves its requests without a write.
///
///     event                       moved by                      from → to
///     ask                         the asking process            none → WITH the topmost responder
///     ask with `next`             a responder, within a request none → OPEN, below that responder
///     begin                       the responder that has it     OPEN → WITH it; `below` falls to it
///     pass                        the responder that has it     WITH, OPEN → OPEN; `below` falls to that responder
///     answer                      the responder that has it     WITH → ANSWERED, FAILED
///     the responder's row goes    (no write)                    WITH → OPEN
///     the same, after `next`      the process that removes it   WITH → the state of the inner request
///     take back                   the asking process            any → none
///     the asking session has ended  a process that looks        any → none
///
/// `below` only falls and `reached` only grows, so no responder is asked twice. Each event is one transaction, so a kill
/// leaves one of these states; the end of the killed process's session is the next event.
///
/// A request made with `next` is an inner request, within the outer one that the responder is answering. If that
/// responder ends first, the transaction that removes it gives the outer request everything of the inner one: the
/// responder at work on it, its work number and its answer. If the inner request ends otherwise, the outer one is from
/// then on put to no responder that the inner one has reached: to none at or above the position where the inner one was
/// begun last, and, if the outer request is made again because no responder is left, to none in its list
/// (`RequestRow.reached`). An inner request has reached a responder once that one has begun it, so a responder that was
/// only next in turn does not count.
package struct RequestTable {
    let scope: WriteScope

    // MARK: The asking process

    /// Puts a request to the topmost responder below the request's limit.
    ///
    /// Returns the request's ticket, or `nil` if there is no responder; then nothing is written.
    package func ask(_ request: OutgoingRequest, session: UInt64) throws(SpaceError) -> UInt64? {
        let stack = try scope.snapshot.responders(to: request.name)
        // If the handler asks within a request that has passed to another responder, no process wants the reply any
        // more.
        if let within = request.within, try !isAnswering(within, at: request.below, stack) { return nil }
        guard let top = stack.top(below: request.below, except: request.reached) else { return nil }
        let ticket = scope.counters.nextNumber
        let isWithin = request.within != nil
        let row = RequestRow(
            ticket: ticket,
            session: session,
            since: scope.time,
            at: isWithin ? .none : top.position,
            below: isWithin ? request.below : top.position,
            work: ticket,
            within: request.within?.work ?? 0,
            deadline: request.deadline ?? 0,
            pid: scope.process,
            name: request.name,
            reached: stack.present(request.reached)
        )
        try scope.places.add(row.place, PlaceKeys(RequestRow.queueName))
        try put(body: request.argument, of: ticket)
        scope.responders.noteAwaited(.requests(of: top.session))
        return ticket
    }

    private func isAnswering(
        _ asking: Asking,
        at position: ResponderPosition,
        _ stack: ResponderStack
    ) throws(SpaceError) -> Bool {
        guard let request = try scope.snapshot.request(asking), request.isPending, request.at == position else {
            return false
        }
        return stack.has(position)
    }

    /// Ends a request, answered or not, and returns the state that it had; each asking process does this in the end.
    ///
    /// With `unlessPending`, a request that a responder is answering is left as it is.
    func takeBack(_ ticket: UInt64, unlessPending: Bool) throws(SpaceError) -> RequestStanding {
        guard let request = try scope.snapshot.request(ticket) else { return .nobody(reached: []) }
        let standing = try scope.snapshot.standing(of: request)
        if unlessPending, case .pending = standing { return standing }
        try remove(request)
        return standing
    }

    // MARK: The responder that has it

    /// Begins a request: from now on it belongs to this responder, even if others register.
    ///
    /// Returns `false` if the request was taken back, or is with another responder.
    package func begin(_ asking: Asking, at position: ResponderPosition) throws(SpaceError) -> Bool {
        guard var request = try scope.snapshot.request(asking, of: position) else { return false }
        request.at = position
        request.below = min(request.below, position)
        try put(request)
        return true
    }

    /// Passes a request that was not begun on to the next responder below.
    func pass(_ asking: Asking, from position: ResponderPosition) throws(SpaceError) {
        guard var request = try scope.snapshot.request(asking, of: position) else { return }
        request.at = .none
        request.below = min(request.below, position)
        try put(request)
        let next = try scope.snapshot.responders(to: request.name).addressee(of: request)
        scope.responders.noteAwaited(next.map { .requests(of: $0.session) } ?? .reply(to: request.ticket))
    }

    /// Stores the answer to a request, if the asking process still waits for it.
    package func answer(
        _ asking: Asking,
        at position: ResponderPosition,
        _ state: RequestRow.State,
        _ reply: [UInt8]
    ) throws(SpaceError) {
        guard let request = try scope.snapshot.request(asking, of: position) else { return }
        try store(request, state, by: scope.process, reply)
    }

    // MARK: The end of a responder

    /// Ends a request that a responder has made with `next`, after that responder's row has gone.
    ///
    /// The outer request takes it over. If `takesOver` is false, because the disk reserve has no space for that, the
    /// outer request fails.
    func endWithResponder(
        _ inner: RequestRow,
        at position: ResponderPosition,
        takesOver: Bool
    ) throws(SpaceError) {
        // If the responder has made two, the outer request takes over the first.
        guard var outer = try scope.snapshot.outer(of: inner), outer.at == position else { return }
        if takesOver {
            outer.at = inner.at
            outer.below = min(outer.below, inner.below)
            outer.reached = try scope.snapshot.responders(to: outer.name).present(outer.reached + inner.reached)
            outer.work = inner.work
            try store(outer, inner.state, by: inner.answeredBy, Array(try scope.snapshot.body(of: inner.ticket)))
        } else {
            try store(outer, .failed, by: inner.pid, ResponderFailure.notTakenOver.encoded)
        }
        try remove(inner)
    }

    // MARK: Rows

    fileprivate func put(_ row: RequestRow) throws(SpaceError) {
        try scope.places.put(row.place, PlaceKeys(RequestRow.queueName))
    }

    /// Stores a request's new state and its body, and wakes the asking process.
    private func store(
        _ request: RequestRow,
        _ state: RequestRow.State,
        by pid: Int32,
        _ reply: [UInt8]
    ) throws(SpaceError) {
        var request = request
        request.state = state
        request.answeredBy = pid
        try put(request)
        try put(body: reply, of: request.ticket)
        scope.responders.noteAwaited(.reply(to: request.ticket))
    }

    private func remove(_ request: RequestRow) throws(SpaceError) {
        try scope.places.remove(request.ticket, of: RequestRow.queueName, by: RequestRules())
    }

    private func put(body: [UInt8], of ticket: UInt64) throws(SpaceError) {
        try scope.requestBodies.put(RequestRow.bodyKey(ticket), body)
    }

    fileprivate func deleteBody(of ticket: UInt64) throws(SpaceError) {
        try scope.requestBodies.delete(RequestRow.bodyKey(ticket))
    }
}

extension WriteScope {
    /// The requests of the namespace.
    package var requests: RequestTable { RequestTable(scope: self) }
}

/// The rules of requests.
struct RequestRules: PlaceRules {
    func hasEnded(_ row: PlaceRow, of name: String, in scope: WriteScope) throws(SpaceError) {
        guard let request = RequestRow(row) else { return }
        try scope.requests.deleteBody(of: request.ticket)
        // This also happens if the process that made an inner request has died and the responder lives: a command's
        // child.
        if var outer = try scope.snapshot.outer(of: request) {
            outer.below = min(outer.below, request.below)
            outer.reached = try scope.snapshot.responders(to: request.name)
                .present(outer.reached + request.reached + [request.at])
            try scope.requests.put(outer)
        }
        // The responder that has the request stops. If an outer request took it over, that responder may not have begun
        // yet, and looks again.
        if request.isPending, let addressee = try scope.snapshot.responders(to: request.name).addressee(of: request) {
            scope.responders.noteAwaited(.requests(of: addressee.session))
        }
    }

    func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {}
}
