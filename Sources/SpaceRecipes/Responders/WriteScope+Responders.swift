import LMDB
import SpaceSystem
import TupleCoding

/// Responders and requests, stored as holds, which end with their session.
///
/// Guarantees: a request is with one responder at a time, and is never put to the same responder twice.
///
/// A request is one row, which belongs to the asking process and is dropped with its session. Which responder has the
/// request follows from that row and the stack (`ResponderStack.addressee`). When a responder dies, it leaves the
/// stack, and its unanswered requests thereby belong to the next responder, without a write. A responder that is taken
/// off the stack alive keeps its row, marked as retired, until the requests that it has begun are answered. When a
/// responder begins a request that has come down to it, it first writes its own position into the request's row, so
/// that a responder registered later cannot come between.
///
/// A request made with `next` is an inner request, within an outer one. If the responder that made it dies, the outer
/// request takes the inner one over, together with the responder that is answering it. If the inner request ends
/// otherwise, the outer one is from then on put to no responder that the inner one has reached: to none at or above the
/// position where the inner one was begun last, and, if the outer request is made anew because no responder is left, to
/// none in its list (`RequestRow.reached`). An inner request has no position until it is begun, so a responder that was
/// only next in turn does not count as reached.
extension WriteScope {
    // MARK: Responders

    /// Puts a responder on top of its name's stack, or, for a base handler, on top of the base handlers.
    ///
    /// An earlier responder with the same key is retired.
    func enrol(
        _ name: String,
        key: String,
        isBase: Bool,
        session: UInt64
    ) throws(SpaceError) -> ResponderPosition {
        try snapshot.checkIsForResponders(name)
        for row in try snapshot.responders(to: name).rows where row.key.isSame(as: key) && !row.isRetired {
            try retire(row, of: name)
        }
        let row = ResponderRow(
            ticket: nextTicket(),
            session: session,
            since: time,
            pid: process,
            isBase: isBase,
            key: key
        )
        counters.holds += 1
        try put(row, of: name)
        noteAwaited(.responders(to: Name(name)))
        return row.position
    }

    /// Takes a responder off the stack; it finishes the requests that it has begun.
    func retire(_ row: ResponderRow, of name: String) throws(SpaceError) {
        var row = row
        row.isRetired = true
        try put(row, of: name)
        noteAwaited(.requests(of: row.session))
    }

    /// Removes a responder for good: its requests belong to the next one.
    func removeResponder(_ position: ResponderPosition, of name: String) throws(SpaceError) {
        guard let hold = try removeHold(name, position.ticket) else { return }
        // The process's listener may have nothing left to listen for.
        if case .session(let session) = hold.holder { noteAwaited(.requests(of: session)) }
    }

    /// Wakes waiters after responders to a name have gone: the next responders of their requests, or the asking
    /// processes where none is left.
    func settleResponders(to name: String) throws(SpaceError) {
        let stack = try snapshot.responders(to: name)
        var awaited: Set<Awaited> = []
        try snapshot.forEachRequest { request throws(SpaceError) in
            guard request.isPending, request.name.isSame(as: name),
                !stack.rows.contains(where: { $0.position == request.at })
            else { return }
            awaited.insert(stack.addressee(of: request).map { .requests(of: $0.session) } ?? .reply(to: request.ticket))
        }
        for awaited in awaited { noteAwaited(awaited) }
    }

    // MARK: Asking

    /// Puts a request to the topmost responder below the request's limit.
    ///
    /// Returns the request's ticket, or `nil` if there is no responder; then nothing is written.
    package func ask(_ request: OutgoingRequest, session: UInt64) throws(SpaceError) -> UInt64? {
        let stack = try snapshot.responders(to: request.name)
        // If the handler asks within a request that has gone on to another responder, no process wants the reply any
        // more.
        if let within = request.within, try !isAnswering(within, at: request.below, stack) { return nil }
        guard let top = stack.top(below: request.below, except: request.reached) else { return nil }
        let ticket = nextTicket()
        counters.holds += 1
        // An inner request has reached a responder once it is begun, and not before.
        let isWithin = request.within != nil
        try put(
            RequestRow(
                ticket: ticket,
                session: session,
                since: time,
                at: isWithin ? .none : top.position,
                below: isWithin ? request.below : top.position,
                work: ticket,
                within: request.within?.work ?? 0,
                deadline: request.deadline ?? 0,
                pid: process,
                name: request.name,
                reached: stack.present(request.reached)
            )
        )
        try put(body: request.argument, of: ticket)
        noteAwaited(.requests(of: top.session))
        return ticket
    }

    /// Ends a request, answered or not, and returns how it stood; each asking process does this in the end.
    ///
    /// With `unlessPending`, a request that a responder is answering is left as it is.
    func takeBack(_ ticket: UInt64, unlessPending: Bool) throws(SpaceError) -> RequestStanding {
        guard let request = try snapshot.request(ticket) else { return .nobody(reached: []) }
        let standing = try snapshot.standing(of: request)
        if unlessPending, case .pending = standing { return standing }
        let stack = try snapshot.responders(to: request.name)
        if request.isPending, let addressee = stack.addressee(of: request) {
            noteAwaited(.requests(of: addressee.session))
        }
        try delete(request)
        if var outer = try outer(of: request) {
            outer.below = min(outer.below, request.below)
            outer.reached = stack.present(outer.reached + request.reached + [request.at])
            try put(outer)
        }
        return standing
    }

    /// Deletes the rest of a request whose session has ended; its row in `holds` is gone already.
    ///
    /// If it was made within an outer request, the outer one takes it over, together with the responder that is
    /// answering it. If `takesOver` is false, because the disk reserve has no space for that, the outer request fails.
    func dropRequest(_ request: RequestRow, takesOver: Bool) throws(SpaceError) {
        if var outer = try outer(of: request), try isStillWith(request.session, outer) {
            let body: [UInt8]
            if takesOver {
                outer.at = request.at
                outer.below = min(outer.below, request.below)
                outer.reached = try snapshot.responders(to: outer.name).present(outer.reached + request.reached)
                outer.work = request.work
                outer.state = request.state
                outer.answeredBy = request.answeredBy
                body = Array(try snapshot.body(of: request.ticket))
            } else {
                outer.state = .failed
                outer.answeredBy = request.pid
                body = ResponderFailure.notTakenOver.encoded
            }
            try put(outer)
            try put(body: body, of: outer.ticket)
            noteAwaited(.reply(to: outer.ticket))
        }
        try delete(request)
        // The responder that has the request stops. If an outer request took it over, that responder may not have begun
        // yet, and looks again.
        if request.isPending, let addressee = try snapshot.responders(to: request.name).addressee(of: request) {
            noteAwaited(.requests(of: addressee.session))
        }
    }

    private func isAnswering(
        _ asking: Asking,
        at position: ResponderPosition,
        _ stack: ResponderStack
    ) throws(SpaceError) -> Bool {
        guard let request = try snapshot.request(asking), request.isPending, request.at == position else {
            return false
        }
        return stack.rows.contains { $0.position == position }
    }

    /// Whether any of these responders has made a request with `next` in a request that it is answering.
    ///
    /// The outer request can take the inner one over only while these responders are on the stack.
    func haveAskedBelow(_ rows: [HoldRow]) throws(SpaceError) -> Bool {
        let positions = rows.compactMap { ResponderRow($0)?.position }
        guard !positions.isEmpty else { return false }
        var outers: [RequestRow] = []
        try snapshot.forEachRequest { request throws(SpaceError) in
            if let outer = try outer(of: request) { outers.append(outer) }
        }
        return outers.contains { positions.contains($0.at) }
    }

    /// The request within which another was made, if it is not answered yet.
    private func outer(of request: RequestRow) throws(SpaceError) -> RequestRow? {
        guard request.within != 0 else { return nil }
        let outer = try snapshot.request(Asking(ticket: request.within, work: request.within))
        return outer.flatMap { $0.isPending ? $0 : nil }
    }

    /// Whether a request is with no responder of another session.
    private func isStillWith(_ session: UInt64, _ request: RequestRow) throws(SpaceError) -> Bool {
        let holder = try snapshot.responders(to: request.name).rows.first { $0.position == request.at }
        return holder == nil || holder?.session == session
    }

    // MARK: Answering

    /// Begins a request: from now on it belongs to this responder, even if others register.
    ///
    /// Returns `false` if the request was taken back, or is with another responder.
    package func begin(_ asking: Asking, at position: ResponderPosition) throws(SpaceError) -> Bool {
        guard var request = try snapshot.request(asking, of: position) else { return false }
        request.at = position
        request.below = min(request.below, position)
        try put(request)
        return true
    }

    /// Passes a request that was not begun on to the next responder below.
    func pass(_ asking: Asking, from position: ResponderPosition) throws(SpaceError) {
        guard var request = try snapshot.request(asking, of: position) else { return }
        request.at = .none
        request.below = min(request.below, position)
        try put(request)
        let next = try snapshot.responders(to: request.name).addressee(of: request)
        noteAwaited(next.map { .requests(of: $0.session) } ?? .reply(to: request.ticket))
    }

    /// Stores the answer to a request, if the asking process still waits for it.
    package func answer(
        _ asking: Asking,
        at position: ResponderPosition,
        _ state: RequestRow.State,
        _ reply: [UInt8]
    ) throws(SpaceError) {
        guard var request = try snapshot.request(asking, of: position) else { return }
        request.state = state
        request.answeredBy = process
        try put(request)
        try put(body: reply, of: request.ticket)
        noteAwaited(.reply(to: request.ticket))
    }

    // MARK: Rows

    private func nextTicket() -> UInt64 {
        defer { counters.nextClaim += 1 }
        return counters.nextClaim
    }

    private func put(_ row: ResponderRow, of name: String) throws(SpaceError) {
        try put(hold(row.ticket, .responder, row.session, row.since, row.details), HoldKeys(name))
    }

    private func put(_ row: RequestRow) throws(SpaceError) {
        try put(
            hold(row.ticket, .request, row.session, row.since, row.details),
            HoldKeys(RequestRow.holdName)
        )
    }

    private func hold(
        _ ticket: UInt64,
        _ kind: SharedObjectKind,
        _ session: UInt64,
        _ since: Int64,
        _ details: Value
    ) -> HoldRow {
        HoldRow(
            ticket: ticket,
            HoldRequest(name: "", kind: kind, details: details),
            holder: .session(session),
            since: since,
            isHolding: true
        )
    }

    /// Deletes those rows of a request that are still there.
    private func delete(_ request: RequestRow) throws(SpaceError) {
        let wasThere = try lmdb { () throws(LMDBError) in
            _ = try RequestRow.bodyKey(request.ticket).withBytes { (key) throws(LMDBError) in
                try access.delete(tables.elements, key)
            }
            return try HoldKeys(RequestRow.holdName).key(request.ticket).withBytes { (key) throws(LMDBError) in
                try access.delete(tables.holds, key)
            }
        }
        if wasThere { counters.holds -= min(1, counters.holds) }
        noteUpkeep()
    }

    private func put(body: [UInt8], of ticket: UInt64) throws(SpaceError) {
        try lmdb { () throws(LMDBError) in
            try RequestRow.bodyKey(ticket).withBytes { (key) throws(LMDBError) in
                try body.withBytes { (body) throws(LMDBError) in try access.put(tables.elements, key, body) }
            }
        }
    }

    private func noteAwaited(_ awaited: Awaited) { noteMoved(hold: awaited.ticket) }
}
