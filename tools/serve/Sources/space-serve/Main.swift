// The program starts no thread before the signals that end it are blocked: each thread inherits the mask, so such a
// signal reaches sigwait(3) in the main thread and interrupts nothing else. The server runs in tasks.

import ArgumentParser
import Glibc

@main
enum Main {
    static func main() {
        let ending = EndingSignals()
        let options = ServeOptions.parseOrExit()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        Task.detached {
            do throws(Failure) {
                try await Server(options).run(until: signals)
                exit(0)
            } catch {
                Failure.tell(error.message)
                exit(error.status)
            }
        }
        let first = ending.wait()
        continuation.yield(first)
        // Signals often come in pairs, such as SIGHUP and SIGTERM at the end of a session. Signals during the first three
        // seconds do not disturb the regular end.
        let patience = ContinuousClock.now + .seconds(3)
        while let rest = secondsUntil(patience) { _ = ending.wait(atMost: rest) }
        // After that, a signal ends the program at once. So does the time limit: the regular end needs a thread, and all
        // threads may be reading very long requests.
        let last = ending.wait(atMost: 7)
        _exit(128 + (last ?? first))
    }

    /// The seconds until an instant, rounded up; `nil` if it has passed.
    private static func secondsUntil(_ instant: ContinuousClock.Instant) -> Int? {
        let rest = ContinuousClock.now.duration(to: instant)
        return rest > .zero ? Int(rest.components.seconds) + 1 : nil
    }
}

/// The signals that ask the program to end.
struct EndingSignals {
    private var set = sigset_t()

    /// Blocks the signals for this thread and for those that it starts.
    init() {
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A page that was closed is an error of the write to it.
        signal(SIGPIPE, SIG_IGN)
    }

    /// The next of the signals; `nil` if none comes in so many seconds.
    func wait(atMost seconds: Int) -> Int32? {
        var set = set
        var time = timespec(tv_sec: seconds, tv_nsec: 0)
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
