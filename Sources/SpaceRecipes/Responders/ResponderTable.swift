/// The rows of responders, each a place under the responder's name that ends with the responding session.
///
/// Guarantees: a responder begins nothing more once it has left the stack, and every request that it has not answered
/// then goes to the next responder (`RequestTable`).
///
///     none → ON THE STACK → RETIRED → none
///
///     event                         moved by                      from → to
///     enrol                         the responding process        none → ON THE STACK, above all but base handlers;
///                                                                 the earlier responder with its key → RETIRED
///     retire (removed, cancelled)   any process                   ON THE STACK → RETIRED
///     remove (nothing to answer)    the responding process        ON THE STACK, RETIRED → none
///     the session has ended         a process that looks          ON THE STACK, RETIRED → none
///
/// A change for watchers says when a responder comes onto the stack and when it leaves it (`ChangeKind.respond`), in the
/// same transaction.
///
/// A retired responder is asked nothing more, and keeps its row until the requests that it has begun are answered. Each
/// event is one transaction, so a kill leaves one of these states; the end of the killed process's session is the next
/// event.
package struct ResponderTable {
    let scope: WriteScope

    /// Puts a responder on top of its name's stack, or, for a base handler, on top of the base handlers.
    ///
    /// An earlier responder with the same key is retired.
    func enrol(
        _ name: String,
        key: String,
        isBase: Bool,
        session: UInt64
    ) throws(SpaceError) -> ResponderPosition {
        try scope.snapshot.checkIsForResponders(name)
        var isReplacing = false
        for row in try scope.snapshot.responders(to: name).rows where row.key.isSame(as: key) && !row.isRetired {
            try takeOffStack(row, of: name)
            isReplacing = true
        }
        let row = ResponderRow(
            ticket: scope.counters.nextNumber,
            session: session,
            since: scope.time,
            pid: scope.process,
            isBase: isBase,
            key: key
        )
        try scope.places.add(row.place, PlaceKeys(name))
        noteAwaited(.responders(to: Name(name)))
        try note(name, gone: isReplacing ? key : nil, come: key)
        return row.position
    }

    /// Takes a responder off the stack; it finishes the requests that it has begun.
    func retire(_ row: ResponderRow, of name: String) throws(SpaceError) {
        try takeOffStack(row, of: name)
        try note(name, gone: row.key, come: nil)
    }

    private func takeOffStack(_ row: ResponderRow, of name: String) throws(SpaceError) {
        var row = row
        row.isRetired = true
        try scope.places.put(row.place, PlaceKeys(name))
        noteAwaited(.requests(of: row.session))
        // What it has not begun may be with the next one now, even if its process is stopped.
        try ResponderRules().settle(name, in: scope)
    }

    /// Removes a responder completely: its requests belong to the next one.
    func remove(_ position: ResponderPosition, of name: String) throws(SpaceError) {
        try scope.places.remove(position.ticket, of: name, by: ResponderRules())
    }

    /// Notes for watchers that a responder has gone, has come, or has replaced another.
    fileprivate func note(_ name: String, gone: String?, come: String?) throws(SpaceError) {
        try scope.objects.note(.respond, object: name, old: gone.map { .string($0) }, new: come.map { .string($0) })
    }

    /// Has what waits for this look again after the commit.
    package func noteAwaited(_ awaited: Awaited) { scope.note(Interest(hold: awaited.ticket)) }
}

extension WriteScope {
    /// The responders of the namespace.
    package var responders: ResponderTable { ResponderTable(scope: self) }
}

/// The rules of responders.
struct ResponderRules: PlaceRules {
    /// Whether outer requests take over the requests that the responder has made with `next`, or fail for lack of disk
    /// space.
    var takesOver = true

    func hasEnded(_ row: PlaceRow, of name: String, in scope: WriteScope) throws(SpaceError) {
        guard let responder = ResponderRow(row) else { return }
        if !responder.isRetired { try scope.responders.note(name, gone: responder.key, come: nil) }
        for inner in try scope.snapshot.requests(madeBy: responder.position) {
            try scope.requests.endWithResponder(inner, at: responder.position, takesOver: takesOver)
        }
        // The process's listener may have nothing left to listen for.
        scope.responders.noteAwaited(.requests(of: responder.session))
    }

    /// Wakes the next responders of the requests that a responder has left, or the asking processes where no responder
    /// is left.
    func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {
        let stack = try scope.snapshot.responders(to: name)
        var awaited: Set<Awaited> = []
        try scope.snapshot.forEachRequest { request throws(SpaceError) in
            guard request.isPending, request.name.isSame(as: name), !stack.has(request.at) else { return }
            awaited.insert(stack.addressee(of: request).map { .requests(of: $0.session) } ?? .reply(to: request.ticket))
        }
        for awaited in awaited { scope.responders.noteAwaited(awaited) }
    }
}
