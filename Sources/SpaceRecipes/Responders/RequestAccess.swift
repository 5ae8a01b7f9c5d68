/// What asking and responding processes do with requests: one transaction for each step.
package struct RequestAccess {
    let core: NamespaceCore

    // MARK: Asking

    package func hasResponder(to request: OutgoingRequest) throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in
            try snapshot.responders(to: request.name).top(below: request.below, except: request.reached) != nil
        }
    }

    /// Puts a request to the first responder; returns the request's ticket, or `nil` if there is no responder to ask.
    package func ask(_ request: OutgoingRequest) throws(SpaceError) -> UInt64? {
        // Look before writing: if there is no responder, the look needs no gate.
        guard try hasResponder(to: request) else {
            try core.read { snapshot throws(SpaceError) in try snapshot.checkIsForResponders(request.name) }
            return nil
        }
        core.claimants.announce()
        do throws(SpaceError) {
            return try core.write(.adding) { scope throws(SpaceError) in
                try scope.requests.ask(request, session: core.session.number)
            }
        } catch  where error.isOfStorage && request.argument.count <= Self.smallArgument {
            // A request is removed again, and requests are often the way to empty a full namespace. So a few small
            // requests may use the space that is kept back for removals.
            return try core.write(.removing) { scope throws(SpaceError) in
                var count = 0
                try scope.snapshot.forEachRequest { _ in count += 1 }
                guard count < Self.smallRequests else { throw error }
                return try scope.requests.ask(request, session: core.session.number)
            }
        }
    }

    /// How many bytes an argument, and how many requests at a time, may use of the space for removals (4 MiB).
    private static let (smallArgument, smallRequests) = (4096, 64)

    package func standing(of ticket: UInt64) throws(SpaceError) -> RequestStanding {
        try core.read { snapshot throws(SpaceError) in
            guard let request = try snapshot.request(ticket) else { return .nobody(reached: []) }
            return try snapshot.standing(of: request)
        }
    }

    /// Ends a request, and returns the state that it had.
    ///
    /// With `unlessPending`, a request that a responder is answering is left as it is.
    @discardableResult
    package func takeBack(
        _ ticket: UInt64,
        unlessPending: Bool = false,
        timeout: Duration? = nil
    ) throws(SpaceError) -> RequestStanding {
        try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            try scope.requests.takeBack(ticket, unlessPending: unlessPending)
        }
    }

    /// Ends a request whose reply is no longer wanted, now or as soon as possible.
    ///
    /// `patience` is the time to wait for the gate; `nil` stands for the space's time-out.
    package func endOrRemember(_ ticket: UInt64, patience: Duration? = nil) {
        core.letGo(patience: patience) { (core, patience) throws(SpaceError) in
            try core.requests.takeBack(ticket, timeout: patience)
        }
    }

    // MARK: Answering

    /// The request that a responder, perhaps of another process, has begun; `word` names it.
    package func request(atHand word: String) throws(SpaceError) -> IncomingRequest {
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        let reached = parts.dropFirst(3).compactMap { Int($0) }
        guard parts.count == 3 + reached.count, let ticket = UInt64(parts[0]), let work = UInt64(parts[1]),
            let raw = Int(parts[2])
        else {
            throw .misuse(
                "\(word.quotedForPeople) names no request",
                advice: "take the word that the responder was given"
            )
        }
        let (asking, position) = (Asking(ticket: ticket, work: work), ResponderPosition(raw: raw))
        let request = try core.read { snapshot throws(SpaceError) -> IncomingRequest? in
            guard let row = try snapshot.request(asking, of: position), row.at == position else { return nil }
            // The row has grown by the earlier requests of this handler; a handler may ask the next responder again.
            var known = row
            known.reached = reached.map { ResponderPosition(raw: $0) }
            return try snapshot.incoming(known, asking, at: position)
        }
        guard let request else {
            throw SpaceError(
                .noResponder,
                reason: "the request is answered already, or was taken back",
                advice: "end: no process waits for the reply"
            )
        }
        return request
    }

    /// Begins a request that was put to a responder of this process.
    ///
    /// Returns the request, or `nil` if it is not, or no longer, with this responder.
    package func begin(_ asking: Asking, at position: ResponderPosition) throws(SpaceError) -> IncomingRequest? {
        let found = try core.read { snapshot throws(SpaceError) -> (request: IncomingRequest, isAt: Bool)? in
            guard let row = try snapshot.request(asking, of: position) else { return nil }
            return (try snapshot.incoming(row, asking, at: position), row.at == position)
        }
        guard let found else { return nil }
        if found.isAt { return found.request }
        let hasBegun = try core.write(.removing) { scope throws(SpaceError) in
            try scope.requests.begin(asking, at: position)
        }
        return hasBegun ? found.request : nil
    }

    /// Whether a request is still to be answered by a responder.
    package func isLeft(_ asking: Asking, with position: ResponderPosition) throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in try snapshot.request(asking, of: position) != nil }
    }

    package func pass(_ asking: Asking, from position: ResponderPosition, timeout: Duration? = nil) throws(SpaceError) {
        try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            try scope.requests.pass(asking, from: position)
        }
    }

    /// Answers a request; if the reply can't be stored, the request fails with that reason.
    package func answer(_ request: IncomingRequest, _ reply: Result<[UInt8], ResponderFailure>) throws(SpaceError) {
        do throws(SpaceError) {
            switch reply {
            case .success(let value):
                guard value.count <= Limits.valueBytes else {
                    throw SpaceError(.tooLarge, reason: "it has \(value.count) bytes")
                }
                do throws(SpaceError) {
                    try store(value, for: request, .adding)
                } catch  where error.isOfStorage && value.count <= Self.smallArgument {
                    // The reply is removed with its request, and is stored in the place of its argument.
                    try store(value, for: request, .removing)
                }
            case .failure(let failure): try fail(request, failure)
            }
        } catch  where error.isOfStorage {
            try fail(request, ResponderFailure("its reply could not be stored: \(error.reason)"))
        }
    }

    private func store(_ reply: [UInt8], for request: IncomingRequest, _ purpose: WritePurpose) throws(SpaceError) {
        try core.write(purpose) { scope throws(SpaceError) in
            try scope.requests.answer(request.asking, at: request.position, .answered, reply)
        }
    }

    /// Stores a failure; this may use the disk reserve, so that the asking process learns of it even if the namespace
    /// is full.
    private func fail(_ request: IncomingRequest, _ failure: ResponderFailure) throws(SpaceError) {
        let message = failure.encoded
        try core.write(.removing) { scope throws(SpaceError) in
            try scope.requests.answer(request.asking, at: request.position, .failed, message)
        }
    }

    /// The time that is left to answer a request, or `nil` if it has no deadline.
    package func remaining(of request: IncomingRequest) -> Duration? {
        request.deadline == 0 ? nil : .milliseconds(max(0, request.deadline &- core.clock.milliseconds))
    }
}

extension NamespaceCore {
    /// What this process does with requests.
    package var requests: RequestAccess { RequestAccess(core: self) }
}

extension Snapshot {
    /// A request as the responder at a position gets it.
    fileprivate func incoming(
        _ row: RequestRow,
        _ asking: Asking,
        at position: ResponderPosition
    ) throws(SpaceError) -> IncomingRequest {
        IncomingRequest(
            asking: asking,
            position: position,
            name: row.name,
            argument: Array(try body(of: row.ticket)),
            deadline: row.deadline,
            reached: row.reached,
            pid: row.pid
        )
    }
}
