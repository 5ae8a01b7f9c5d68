import GRPCCore
import SpaceSystem
import Synchronization

/// The time limits of calls.
///
/// The transport could set them itself (`CallOptions.timeout`), but it starts two tasks and a timer for each call, and the
/// call waits for their end. In a profile of single writes, the threads of the shared pool, where these ran, had a fifth of
/// the program's samples.
final class TimeLimit: Sendable {
    static let ofCalls = TimeLimit()

    private let waits = Mutex(LimitedWaits<@Sendable () -> Void>())

    /// Runs a call, and cancels it when a time has passed.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - call: The call.
    /// - Returns: What the call returns.
    /// - Throws: `deadlineExceeded` if the time has passed, and what the call throws.
    func run<R: Sendable>(_ time: Duration, _ call: @escaping @Sendable () async throws -> R) async throws -> R {
        let task = Task(executorPreference: ConnectionLoop.shared) { try await call() }
        let (number, timer) = waits.withLock { waits in
            let number = waits.newNumber()
            return (number, waits.add({ task.cancel() }, number, until: .now.advanced(by: time)))
        }
        if let timer { start(timer) }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isInTime = waits.withLock { $0.remove(number) } != nil
        do { return try result.get() } catch {
            throw isInTime ? error : RPCError(code: .deadlineExceeded, message: "no answer in time")
        }
    }

    private func start(_ timer: MonotonicInstant) {
        ConnectionLoop.start { [self] in
            await timer.sleep()
            let (over, next) = waits.withLock { $0.ring(timer) }
            for cancel in over { cancel() }
            if let next { start(next) }
        }
    }
}
