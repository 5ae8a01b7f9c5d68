import SpaceSystem

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
        let requests = try RequestSource(to: name, key: key, base: base, in: self)
        // If the gate can't be acquired now, the responder is removed when this process ends.
        defer { requests.end() }
        do {
            while true {
                let turn = try whenItMay(interruption) { () throws(SpaceError) in
                    try requests.nextBlocking(timeout: nil, interruption: interruption)
                }
                guard case .request(let request) = turn else { return }
                if once { try requests.retireAndPass(keeping: request) }
                let reply = try body(try request.value(), requests.inHand(request))
                try whenItMay(interruption) { () throws(SpaceError) in try requests.answer(request, reply) }
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
}
