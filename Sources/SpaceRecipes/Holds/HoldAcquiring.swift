import SpaceSystem
import TupleCoding

/// The ways of acquiring that a lock, a semaphore and an election share.
///
/// Each has a request; what differs between them is what it says.
extension Namespace {
    func tryAcquire(_ request: HoldRequest) throws(SpaceError) -> Hold? {
        let (core, operation) = try acquiringCore(request)
        return try core.tryHold(operation, request).map { Hold($0, in: self) }
    }

    /// Blocks the thread, without a limit but the interruption where `timeout` is `nil`.
    ///
    /// Throws: `timedOut`.
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

    /// Suspends the task.
    ///
    /// Throws: `timedOut`, `cancelled`.
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
