import SpaceSystem
import SystemPackage

/// Runs a blocking call on a thread of its own, because tasks have only as many threads as there are processors.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do throws(Errno) {
            try DetachedThread.start { continuation.resume(with: Swift.Result(catching: body)) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

/// Rounds of a test that suspends in each: `most` of them, and after a minute no more than `least`.
///
/// A round takes seconds if sanitized tests beside it keep the tasks' threads busy, of which there are as few as
/// processors; then some rounds are enough.
package func rounds(_ most: Int, least: Int = 20) -> some Sequence<Int> {
    let limit = ContinuousClock.now + .seconds(60)
    return (0..<most).lazy.prefix { $0 < least || ContinuousClock.now < limit }
}
