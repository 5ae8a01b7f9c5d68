import Glibc
import SpaceSystem
import TupleCoding

// Responding on one thread, which runs the handler itself: for commands.

extension Namespace {
    /// Answers requests of a name, one after the other, on the calling thread.
    ///
    /// The call ends when it is interrupted, or when the responder is replaced or removed. If it is gone because this machine
    /// has become another member of several, it is enrolled again. With `once`, the responder
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
        let key = key ?? "\(TupleUUID.random())"
        var position = try enrolResponder(name, key: key, isBase: base)
        var session = core.session.number
        // If the gate can't be acquired now, the responder is removed when this process ends.
        defer { try? core.responders.remove(position, of: name) }
        do {
            while true {
                guard let (request, argument) = try nextRequest(of: position, name, once: once, interruption) else {
                    guard core.liveness.hasEnded(memberOf: session) else { return }
                    position = try whenItMay(interruption) { () throws(SpaceError) in
                        try enrolResponder(name, key: key, isBase: base)
                    }
                    session = core.session.number
                    continue
                }
                let inHand = RequestInHand(
                    core: core,
                    asking: request.asking,
                    position: position,
                    key: key,
                    reached: request.reached
                )
                let reply = try body(argument, inHand).flatMap { value in
                    Result { () throws(TupleCodingError) in try value.encodedElement() }
                        .mapError { ResponderFailure($0) }
                }
                try whenItMay(interruption) { () throws(SpaceError) in try core.requests.answer(request, reply) }
                if once { return }
            }
        } catch let error as SpaceError {
            throw error.named("respond", self.name)
        }
    }

    /// Tries until it works, or fails for a reason that does not pass; `body` may be done twice.
    private func whenItMay<Result>(
        _ interruption: Interruption,
        _ body: () throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        while true {
            do throws(SpaceError) {
                return try body()
            } catch {
                guard error.mayPassIfRepeated else { throw error }
                Retry.rest(Limits.tick)
                if interruption.isTriggered { throw .cancelled }
            }
        }
    }

    /// Waits for a request and begins it; the result is `nil` if the responder was replaced or removed.
    private func nextRequest(
        of position: ResponderPosition,
        _ name: String,
        once: Bool,
        _ interruption: Interruption
    ) throws(SpaceError) -> (IncomingRequest, argument: Value)? {
        while true {
            let turn = try core.waits.block(
                Awaited.requests(of: core.session.number).interest,
                text: "requests",
                until: nil,
                interruption: interruption
            ) { () throws(SpaceError) in
                try lookForTurn(of: position, name).map { Found(result: $0, removed: nil) }
            }
            guard case .asked(let asking)? = turn else { return nil }
            let begun = try whenItMay(interruption) { () throws(SpaceError) in
                try core.requests.begin(asking, at: position)
            }
            guard let request = begun else { continue }
            if once { try retireAndPass(position, of: name, keeping: asking) }
            let argument = try coding { () throws(TupleCodingError) in
                try request.argument.withBytes { bytes throws(TupleCodingError) in try Value(encodedElement: bytes) }
            }
            return (request, argument)
        }
    }

    private func lookForTurn(of position: ResponderPosition, _ name: String) throws(SpaceError) -> ResponderTurn? {
        try core.read { snapshot throws(SpaceError) in
            let stack = try snapshot.responders(to: name)
            guard stack.rows.contains(where: { $0.position == position && !$0.isRetired }) else { return .ended }
            return try snapshot.askings(of: position, in: stack, name).first.map { .asked($0) }
        }
    }

    /// Takes a responder off the stack while it answers one request; its other requests go on to the next responder.
    private func retireAndPass(
        _ position: ResponderPosition,
        of name: String,
        keeping kept: Asking
    ) throws(SpaceError) {
        _ = try core.responders.retire(to: name) { $0.position == position }
        let others = try core.read { snapshot throws(SpaceError) in
            try snapshot.askings(of: position, in: try snapshot.responders(to: name), name)
        }
        for asking in others where asking.work != kept.work { try core.requests.pass(asking, from: position) }
    }
}

/// What a responding thread has to do next.
private enum ResponderTurn {
    case asked(Asking)
    /// Nothing more: the responder was replaced or removed.
    case ended
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
