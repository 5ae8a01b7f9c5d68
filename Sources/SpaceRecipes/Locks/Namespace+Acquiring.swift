import SpaceSystem
import TupleCoding

/// The ways to acquire a hold, which a lock, a semaphore and an election share.
///
/// They differ only in their requests.
extension Namespace {
    /// Acquires a hold if that is possible now.
    func tryAcquire(_ request: PlaceRequest) throws(SpaceError) -> Hold? {
        let wait = try acquiring(request, timeout: .zero)
        guard let (place, _) = try wait.core.enter(wait.operation, request, waits: false) else { return nil }
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
        if Task.isCancelled { throw core.cancelled(wait.operation) }
        return try hold(try await wait.suspend(), wait)
    }

    private func acquiring(_ request: PlaceRequest, timeout: Duration?) throws(SpaceError) -> PlaceWait {
        let operation = "acquire \(request.kind.phrase)"
        try checkObjectName(request.name, operation)
        return PlaceWait(try usableCore(operation), operation, request, timeout: timeout)
    }

    private func hold(_ place: Place?, _ wait: PlaceWait) throws(SpaceError) -> Hold {
        guard let place else { throw core.timedOut(wait.operation, wait.request) }
        return Hold(place, in: self)
    }
}
