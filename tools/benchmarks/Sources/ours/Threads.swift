import Glibc
import Synchronization

/// Threads of the system: a blocking call must not block one of the few threads of the tasks.
enum Threads {
    private final class Work: Sendable {
        let body: @Sendable (Int) throws -> Void
        let next = Atomic<Int>(0)
        let failure = Mutex<(any Error)?>(nil)

        init(_ body: @escaping @Sendable (Int) throws -> Void) { self.body = body }

        func run() {
            let number = next.add(1, ordering: .relaxed).oldValue
            do { try body(number) } catch { failure.withLock { $0 = error } }
        }
    }

    /// Runs `body` on so many threads, numbered from 0, until all have ended.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let work = Work(body)
        var threads: [pthread_t] = []
        for _ in 0..<count { threads.append(try start(work)) }
        for thread in threads { pthread_join(thread, nil) }
        if let failure = work.failure.withLock({ $0 }) { throw failure }
    }

    /// Runs `body` on a thread that is not joined.
    static func start(_ body: @escaping @Sendable () -> Void) throws { pthread_detach(try start(Work { _ in body() })) }

    private static func start(_ work: Work) throws -> pthread_t {
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            {
                guard let context = $0 else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        guard code == 0 else { throw Failure("pthread_create: errno \(code)") }
        return thread
    }
}
