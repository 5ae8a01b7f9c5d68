import Glibc
import SharedSpace
import SpaceSystem
import Synchronization

// SIGINT, SIGTERM and SIGHUP ask a command to end: it returns its claims, leaves the namespace and then dies by the
// same signal, so that a shell sees what happened. The handlers below only note the signal and wake the waits; the
// thread that runs the command does all the cleaning.
//
// A handler interrupts a blocked system call (no SA_RESTART), but a signal just before the call would leave the call
// blocked. So an alarm goes off every second from then on, until the command notices: signal-safety(7) lists alarm().

private let noted = Atomic<Int32>(0)
/// The signals that have come and are not passed on yet, one bit for each number.
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
    /// The interruption of the library's waits.
    static let interruption = Interruption.ofProcess

    /// The signals that ask a command to end.
    ///
    /// A signal that was ignored when the command started (nohup(1), `&` in a shell without job control) stays ignored.
    static let ending = [SIGINT, SIGTERM, SIGHUP]

    /// The first signal that came, if any.
    static var pending: Int32? {
        let number = noted.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }

    /// The signals that have come since the last call, in the order of their numbers.
    ///
    /// A relay passes on all of them, because a later SIGTERM may end a command that ignores SIGINT.
    static func takeArrived() -> [Int32] {
        let bits = arrived.exchange(0, ordering: .sequentiallyConsistent)
        return bits == 0 ? [] : ending.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// Notes a signal; the process dies by the first.
    static func note(_ number: Int32) {
        _ = arrived.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
        _ = noted.compareExchange(expected: 0, desired: number, ordering: .sequentiallyConsistent)
    }

    /// Installs the handlers.
    ///
    /// From then on write(2) reports a broken pipe, and a file that may not grow (RLIMIT_FSIZE), instead of a signal
    /// that kills the command.
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
        // sigprocmask(2): if the caller has blocked a signal, it stays blocked after execve(2).
        _ = inheritedMask
        unblock(ending + [SIGALRM])
    }

    /// From now on SIGQUIT asks the command to end too, unless the caller has ignored it.
    static func endOnQuit() {
        if !isIgnored(SIGQUIT) { handle(SIGQUIT, receive) }
    }

    private static func unblock(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        sigprocmask(SIG_UNBLOCK, &set, nil)
    }

    /// The signals that the caller has blocked, read before `install` unblocks those that end a command.
    private static let inheritedMask: sigset_t = {
        var set = sigset_t()
        sigemptyset(&set)
        sigprocmask(SIG_BLOCK, nil, &set)
        return set
    }()

    /// - Throws: `Terminated` if a signal has asked the command to end.
    static func check() throws {
        if pending != nil { throw Terminated() }
    }

    /// Ends the process by a signal, after the cleaning.
    static func die(by number: Int32) -> Never {
        alarm(0)
        signal(number, SIG_DFL)
        unblock([number])
        kill(getpid(), number)
        // The signal is delivered before kill(2) returns, so only a process that can't die of it (PID 1) comes here.
        _exit(128 + number)
    }

    /// Restores the default action of the signals of failed writes, and the caller's blocked signals, for a command
    /// that takes this process over: both survive execve(2).
    static func restoreForExec() {
        alarm(0)
        var mask = inheritedMask
        sigprocmask(SIG_SETMASK, &mask, nil)
        for number in errorsToReset { signal(number, SIG_DFL) }
    }

    /// The signals of a write that fails: to a broken pipe, and beyond the largest allowed size of a file.
    private static let errors = [SIGPIPE, SIGXFSZ]

    /// Those of `errors` that the caller had not ignored, whose default action a command gets back.
    ///
    /// Read before `install` ignores all of `errors`.
    static let errorsToReset = errors.filter { !isIgnored($0) }

    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Only as bits can a handler's address be compared with the constants.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Installs a handler; it interrupts blocked system calls.
    static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler = .init(sa_handler: handler)
        sigaction(number, &action, nil)
    }
}
