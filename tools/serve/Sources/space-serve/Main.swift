// The program starts no thread before the signals that end it are blocked: such a signal reaches sigwait(3) in the main
// thread, and interrupts nothing else. The server runs in tasks, and each connection in a thread of its own.

import ArgumentParser
import Glibc

@main
enum Main {
    static func main() {
        let ending = EndingSignals()
        let options = ServeOptions.parseOrExit()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        let atOnce = Mutexed<(@Sendable () -> Void)?>(nil)
        Task.detached {
            do throws(Failure) {
                let server = Server(options) { space, place, inode in
                    atOnce.change {
                        $0 = {
                            space.kill()
                            place.remove(inode: inode)
                        }
                    }
                }
                try await server.run(until: signals)
                exit(0)
            } catch {
                Failure.tell(error.message)
                exit(error.status)
            }
        }
        let first = ending.wait()
        continuation.yield(first)
        // The regular end takes some hundredths of a second, and it needs the pool of tasks. If that is busy, the program
        // ends without it. Signals often come in pairs, such as SIGHUP and SIGTERM at the end of a session: a second one
        // does not disturb the regular end.
        let limit = ContinuousClock.now + patience
        while let rest = timeUntil(limit) { _ = ending.wait(atMost: rest) }
        guard let end = atOnce.value else { _exit(128 + first) }
        end()
        _exit(0)
    }

    /// How long the regular end may take.
    private static let patience = Duration.milliseconds(1800)

    /// The time until an instant; `nil` if it has passed.
    private static func timeUntil(_ instant: ContinuousClock.Instant) -> Duration? {
        let rest = ContinuousClock.now.duration(to: instant)
        return rest > .zero ? rest : nil
    }
}

/// The main thread, for the handler below; set before there is another thread.
nonisolated(unsafe) private var mainThread = pthread_t()

/// The signals that ask the program to end.
struct EndingSignals {
    private var set = sigset_t()

    /// Blocks the signals for this thread and for those that it starts.
    init() {
        sigemptyset(&set)
        mainThread = pthread_self()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            sigaddset(&set, number)
            // A thread of a library may have unblocked its signals. One that it gets would end the program at once, so it
            // passes it on (pthread_kill(3) may be called by a handler).
            signal(number) { number in _ = pthread_kill(mainThread, number) }
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A page that was closed is an error of the write to it.
        signal(SIGPIPE, SIG_IGN)
    }

    /// The next of the signals; `nil` if none comes in time.
    func wait(atMost rest: Duration) -> Int32? {
        var set = set
        let (seconds, attoseconds) = rest.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var number = sigtimedwait(&set, nil, &time)
        while number < 0, errno == EINTR { number = sigtimedwait(&set, nil, &time) }
        return number < 0 ? nil : number
    }

    /// The next of the signals.
    func wait() -> Int32 {
        var set = set
        var number: Int32 = 0
        while sigwait(&set, &number) != 0 {}
        return number
    }
}
