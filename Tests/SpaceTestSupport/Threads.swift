import Glibc

/// Starts a thread that runs one closure, and that nobody waits for.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(TestFailure) {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread,
        nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            return nil
        },
        work.toOpaque()
    )
    guard error == 0 else {
        work.release()
        throw TestFailure("pthread_create: errno \(error)")
    }
    pthread_detach(thread)
}

/// Runs what blocks on a thread of its own; the threads of tasks are as few as processors.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        do throws(TestFailure) {
            try startThread { continuation.resume(with: Swift.Result(catching: body)) }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
