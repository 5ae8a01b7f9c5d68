import SpaceSystem
import TupleCoding

/// The ways to acquire a hold, which a lock, a semaphore and an election share.
///
/// They differ only in their requests.
extension Namespace {
    func tryAcquire(_ request: HoldRequest) throws(SpaceError) -> Hold? {
        let (core, operation) = try acquiringCore(request)
        return try core.tryHold(operation, request).map { Hold($0, in: self) }
    }

    /// Acquires a hold, blocking the thread.
    ///
    /// If `timeout` is `nil`, only the interruption ends the wait. Throws `timedOut` if the time has passed.
    package func acquireBlocking(
        _ request: HoldRequest,
        timeout: Duration?,
        interruption: Interruption? = nil
    ) throws(SpaceError) -> Hold {
        let (core, operation) = try acquiringCore(request)
        let place = try core.holdBlocking(operation, request, timeout: timeout, interruption: interruption)
        guard let place else { throw core.timedOut(operation, request) }
        return Hold(place, in: self)
    }

    /// Acquires a hold, suspending the task; throws `timedOut` or `cancelled` if it ends without one.
    func acquireSuspending(_ request: HoldRequest, timeout: Duration?) async throws(SpaceError) -> Hold {
        let (core, operation) = try acquiringCore(request)
        guard let place = try await core.holdSuspending(operation, request, timeout: timeout) else {
            throw core.timedOut(operation, request)
        }
        return Hold(place, in: self)
    }

    private func acquiringCore(_ request: HoldRequest) throws(SpaceError) -> (NamespaceCore, String) {
        let operation = "acquire \(request.kind.phrase)"
        try checkObjectName(request.name, operation)
        return (try usableCore(operation), operation)
    }
}
