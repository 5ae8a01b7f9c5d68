import Glibc
import SharedSpace
import SpaceSystem
import Synchronization

// SIGINT, SIGTERM and SIGHUP ask a command to end: it returns its claims, leaves the namespace and then dies by that very
// signal, so that a shell sees what happened. The handlers below only note the signal and wake whoever waits; all cleaning
// is done on the thread that runs the command.
//
// A handler interrupts a blocked system call (no SA_RESTART), but one that came just before the call would leave it blocked.
// So the alarm goes off every second from then on, until the command notices: signal-safety(7) lists alarm().

private let noted = Atomic<Int32>(0)
/// The signals that have come and were not passed on yet: a bit for each number.
private let arrived = Atomic<UInt64>(0)

private func receive(_ number: Int32) {
    let saved = errno
    Signals.note(number)
    Signals.interruption.trigger()
    alarm(1)
    errno = saved
}

private func remind(_: Int32) {
    let saved = errno
    Signals.interruption.trigger()
    alarm(1)
    errno = saved
}

/// The signals that ask a command to end.
enum Signals {
    /// What the library's waits look at.
    static let interruption = Interruption()

    /// The signals, as far as they were not ignored when the command was started (nohup(1), `&` in a shell without job
    /// control): those stay ignored.
    static let ending = [SIGINT, SIGTERM, SIGHUP]

    /// The signal that came first, if any.
    static var pending: Int32? {
        let number = noted.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }

    /// The signals that have come since the last call, in the order of their numbers.
    ///
    /// For who passes them on: of a command that ignores SIGINT a later SIGTERM may be meant to end it.
    static func takeArrived() -> [Int32] {
        let bits = arrived.exchange(0, ordering: .sequentiallyConsistent)
        return bits == 0 ? [] : ending.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// Notes a signal; the process dies by the first one.
    static func note(_ number: Int32) {
        _ = arrived.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
        _ = noted.compareExchange(expected: 0, desired: number, ordering: .sequentiallyConsistent)
    }

    /// Installs the handlers, and has a broken pipe and a file that may not grow (RLIMIT_FSIZE) reported by write(2) instead of
    /// killing the command.
    static func install() {
        // Globals are initialised on first use, which must not happen inside a handler.
        _ = interruption
        _ = errorsToReset
        _ = pending
        _ = takeArrived()
        DetachedThread.block(ending + [SIGALRM])
        for number in errors { signal(number, SIG_IGN) }
        for number in ending where !isIgnored(number) { handle(number, receive) }
        handle(SIGALRM, remind)
        // The Swift runtime's handler prints a backtrace, and then the process goes on.
        if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        // sigprocmask(2): a caller that has blocked a signal passes that on through execve(2).
        _ = inheritedMask
        unblock(ending + [SIGALRM])
    }

    private static func unblock(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        sigprocmask(SIG_UNBLOCK, &set, nil)
    }

    /// The signals that the caller has blocked; read before `install` unblocks those that end a command.
    private static let inheritedMask: sigset_t = {
        var set = sigset_t()
        sigemptyset(&set)
        sigprocmask(SIG_BLOCK, nil, &set)
        return set
    }()

    /// - Throws: `Terminated` when a signal asked the command to end.
    static func check() throws {
        if pending != nil { throw Terminated() }
    }

    /// Ends the process by a signal, after everything was cleaned up.
    static func die(by number: Int32) -> Never {
        alarm(0)
        signal(number, SIG_DFL)
        unblock([number])
        kill(getpid(), number)
        // The signal is delivered before kill(2) returns, so this is for a process that can't die of it (PID 1).
        _exit(128 + number)
    }

    /// Gives the signals of failed writes their usual meaning back, and blocks what the caller has blocked, for a command that takes this
    /// process over: both survive execve(2).
    static func restoreForExec() {
        alarm(0)
        var mask = inheritedMask
        sigprocmask(SIG_SETMASK, &mask, nil)
        for number in errorsToReset { signal(number, SIG_DFL) }
    }

    /// The signals of a write that fails: to a broken pipe, and beyond the largest size that a file may have.
    private static let errors = [SIGPIPE, SIGXFSZ]

    /// Those of `errors` that the caller had not ignored, and that a command which is run gets back; read before `install` ignores
    /// all of them.
    static let errorsToReset = errors.filter { !isIgnored($0) }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // A handler's address and the constants can be told apart as bits only.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler = .init(sa_handler: handler)
        sigaction(number, &action, nil)
    }
}
