import SpaceSystem
import TupleCoding

/// The ways to acquire a hold, which a lock, a semaphore and an election share.
///
/// They differ only in their requests.
extension Namespace {
    /// Acquires a hold if that is possible now.
    func tryAcquire(_ request: PlaceRequest) throws(SpaceError) -> Hold? {
        let place = try attempt(request.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: request.name)
            return try core.enter(request, waits: false)?.0
        }
        guard let place else { return nil }
        return Hold(place, in: self)
    }

    /// Acquires a hold, blocking the thread.
    ///
    /// If `timeout` is `nil`, only the interruption ends the wait. Throws `timedOut` if the time has passed.
    package func acquireBlocking(
        _ request: PlaceRequest,
        timeout: Duration?,
        interruption: Interruption? = nil
    ) throws(SpaceError) -> Hold {
        let wait = try acquiring(request, timeout: timeout)
        return try hold(try wait.block(interruption: interruption), wait)
    }

    /// Acquires a hold, suspending the task; throws `timedOut` or `cancelled` if it ends without one.
    func acquireSuspending(_ request: PlaceRequest, timeout: Duration?) async throws(SpaceError) -> Hold {
        let wait = try acquiring(request, timeout: timeout)
        if Task.isCancelled { throw SpaceError.cancelled.named(wait.operation, name) }
        return try hold(try await wait.suspend(), wait)
    }

    private func acquiring(_ request: PlaceRequest, timeout: Duration?) throws(SpaceError) -> PlaceWait {
        try attempt(request.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: request.name)
            return PlaceWait(core, request.operation, request, timeout: timeout)
        }
    }

    private func hold(_ place: Place?, _ wait: PlaceWait) throws(SpaceError) -> Hold {
        guard let place else { throw core.timedOut(wait.request).named(wait.operation, name) }
        return Hold(place, in: self)
    }
}

extension PlaceRequest {
    /// The name of the operation that acquires a hold, for errors.
    fileprivate var operation: String { "acquire \(kind.phrase)" }
}
