import SpaceSystem
import TupleCoding

// Responding on one thread, which runs the handler itself: for commands.

extension Namespace {
    /// Answers requests of a name, one after the other, on the calling thread.
    ///
    /// The call ends when it is interrupted, or when the responder is replaced or removed. With `once`, the responder
    /// leaves the stack when it begins its first request, and the call ends when that request is answered. `body`
    /// answers an argument. If `body` throws, the call ends with that error, and the request goes to the next
    /// responder. At the interruption the call throws `cancelled`.
    package func respondBlocking(
        to name: String,
        key: String?,
        base: Bool,
        once: Bool,
        interruption: Interruption,
        _ body: (Value, RequestInHand) throws -> Result<Value, ResponderFailure>
    ) throws {
        let operation = "respond"
        try checkObjectName(name, operation)
        let key = key ?? "\(TupleUUID.random())"
        try checkObjectName(key, operation)
        let core = try usableCore(operation)
        let position = try core.enrolResponder(name, key: key, isBase: base)
        // If the gate cannot be had now, the responder is removed when this process ends.
        defer { try? core.removeResponder(position, of: name) }
        while true {
            let turn = try core.block(
                operation,
                Awaited.requests(of: core.session.number).interest,
                text: "requests",
                until: nil,
                interruption: interruption
            ) { () throws(SpaceError) in
                try core.lookForTurn(of: position, name).map { Found(result: $0, removed: nil) }
            }
            guard case .asked(let asking)? = turn else { return }
            guard let request = try core.begin(asking, at: position) else { continue }
            if once { try core.retireAndPass(position, of: name, keeping: asking) }
            let argument: Value
            do throws(TupleCodingError) {
                argument = try request.argument.withBytes { bytes throws(TupleCodingError) in
                    try Value(encodedElement: bytes)
                }
            } catch {
                throw SpaceError(error, operation, namespace: self.name)
            }
            let inHand = RequestInHand(core: core, asking: asking, position: position)
            let reply = try body(argument, inHand).flatMap { value in
                Result { () throws(TupleCodingError) in try value.encodedElement() }.mapError { ResponderFailure($0) }
            }
            try core.answer(request, reply)
            if once { return }
        }
    }
}

/// What a responding thread has to do next.
private enum ResponderTurn {
    case asked(Asking)
    /// Nothing more: the responder was replaced or removed.
    case ended
}

extension NamespaceCore {
    fileprivate func lookForTurn(of position: ResponderPosition, _ name: String) throws(SpaceError) -> ResponderTurn? {
        try read("respond") { snapshot throws(SpaceError) in
            let stack = try snapshot.responders(to: name)
            guard stack.rows.contains(where: { $0.position == position && !$0.isRetired }) else { return .ended }
            return try snapshot.askings(of: position, in: stack, name).first.map { .asked($0) }
        }
    }

    /// Takes a responder off the stack while it answers one request; its other requests go on to the next responder.
    fileprivate func retireAndPass(
        _ position: ResponderPosition,
        of name: String,
        keeping kept: Asking
    ) throws(SpaceError) {
        _ = try retireResponders(to: name) { $0.position == position }
        let others = try read("respond") { snapshot throws(SpaceError) in
            try snapshot.askings(of: position, in: try snapshot.responders(to: name), name)
        }
        for asking in others where asking.work != kept.work { try pass(asking, from: position) }
    }
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
