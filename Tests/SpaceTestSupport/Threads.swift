import SpaceSystem
import SystemPackage

/// Runs what blocks on a thread of its own; the threads of tasks are as few as processors.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do throws(Errno) {
            try DetachedThread.start { continuation.resume(with: Swift.Result(catching: body)) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}
