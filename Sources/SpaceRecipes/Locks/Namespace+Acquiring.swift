/// The ways to acquire a hold, which a lock, a semaphore and an election share.
///
/// They differ only in their requests.
extension Namespace {
    /// Acquires a hold if that is possible now.
    func tryAcquire(_ request: PlaceRequest) throws(SpaceError) -> Hold? {
        let place = try attempt(request.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: request.name)
            return try core.places.enter(request, waits: false)?.0
        }
        guard let place else { return nil }
        return Hold(place, in: self)
    }

    /// Acquires a hold, blocking the thread; `nil` if the time has passed.
    func acquireBlocking(
        _ request: PlaceRequest,
        timeout: Duration?,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) throws(SpaceError) -> Hold? {
        hold(try acquiring(request, timeout: timeout).block().entered?.0, onLoss)
    }

    fileprivate func holdOrTell(_ answer: PlaceAnswer, after wait: PlaceWait) throws(SpaceError) -> Hold {
        switch answer {
        case .entered(let place, _): return Hold(place, in: self)
        case .refused(let hold): throw core.places.timedOut(wait.request, by: hold).named(wait.operation, name)
        }
    }

    /// Acquires a hold, suspending the task; `nil` if the time has passed.
    func acquireSuspending(
        _ request: PlaceRequest,
        timeout: Duration,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) async throws(SpaceError) -> Hold? {
        hold(try await suspended(request, timeout: timeout), onLoss)
    }

    /// Acquires a hold, suspending the task without a limit.
    func acquireSuspending(
        _ request: PlaceRequest,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) async throws(SpaceError) -> Hold {
        Hold(try await suspended(request, timeout: nil).orEnded(), in: self, onLoss: onLoss)
    }

    private func suspended(_ request: PlaceRequest, timeout: Duration?) async throws(SpaceError) -> Place? {
        let wait = try acquiring(request, timeout: timeout)
        if Task.isCancelled { throw SpaceError.cancelled.named(wait.operation, name) }
        return try await wait.suspend().entered?.0
    }

    fileprivate func acquiring(_ request: PlaceRequest, timeout: Duration?) throws(SpaceError) -> PlaceWait {
        try attempt(request.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: request.name)
            return PlaceWait(core, request.operation, request, timeout: timeout)
        }
    }

    private func hold(_ place: consuming Place?, _ onLoss: (@Sendable (SpaceError) -> Void)?) -> Hold? {
        guard let place else { return nil }
        return Hold(place, in: self, onLoss: onLoss)
    }
}

extension PlaceRequest {
    /// The name of the operation that acquires a hold, for errors.
    fileprivate var operation: String { "acquire \(kind.phrase)" }
}

/// A lock, a semaphore or an election: processes wait for their turn at it.
package protocol TurnHandle: ObjectHandle {
    /// What a process asks for: a mode, a number of permits, the value of a candidate.
    associatedtype Wish

    func request(_ wish: Wish) throws(SpaceError) -> PlaceRequest
}

extension TurnHandle {
    /// Acquires what is wished for a command, blocking the thread; if `timeout` is `nil`, only the interruption ends the
    /// wait.
    ///
    /// - Throws: `timedOut`, which names the holder.
    package func acquireOrTell(
        _ wish: Wish,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Hold {
        let wait = try namespace.acquiring(try request(wish), timeout: timeout)
        return try namespace.holdOrTell(try wait.block(interruption: interruption), after: wait)
    }

    /// Acquires what is wished, suspending the task; if `timeout` is `nil`, without a limit.
    ///
    /// - Throws: `timedOut`, which names the holder.
    package func acquireOrTell(_ wish: Wish, timeout: Duration?) async throws(SpaceError) -> Hold {
        let wait = try namespace.acquiring(try request(wish), timeout: timeout)
        return try namespace.holdOrTell(try await wait.suspend(), after: wait)
    }
}
