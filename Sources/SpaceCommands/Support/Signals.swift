import Glibc
import SharedSpace
import SpaceSystem
import Synchronization

// SIGINT, SIGTERM, SIGHUP and SIGALRM ask a command to end: it returns its claims, leaves the namespace and then dies by
// the same signal, so that a shell sees what happened. If it runs another command, which has dealt with the signal and
// ended by itself, the shell sees that command's status. The handlers below only note the signal and wake the waits; the
// thread that runs the command does all the cleaning.
//
// A handler interrupts a blocked system call (no SA_RESTART), but a signal just before the call would leave the call
// blocked. So an alarm goes off every second from then on, until the command notices: signal-safety(7) lists alarm().
// That alarm's SIGALRM comes from the kernel after a first signal; any other SIGALRM is one of the signals that end a
// command, such as that of an alarm that the caller has set before execve(2).

private let noted = Atomic<Int32>(0)
/// The status of the command that this process has run; -1 if there is none.
private let settled = Atomic<Int32>(-1)
/// The signals that processes have sent and that are not passed on yet, one bit for each number.
private let sent = Atomic<UInt64>(0)
/// Likewise those that the kernel has sent.
private let raised = Atomic<UInt64>(0)

private func receive(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
    let saved = errno
    // sigaction(2): the code of a signal that a process has sent is not positive.
    let isRaised = (info?.pointee.si_code ?? 0) > 0
    let isReminder = number == SIGALRM && isRaised && Signals.pending != nil
    if !isReminder { Signals.note(number, isRaised: isRaised) }
    Signals.interruption.trigger()
    Pattern.endSearches()
    // An ignored SIGALRM would remind of nothing.
    if Signals.isIgnored(SIGALRM) { Signals.handle(SIGALRM, remind) }
    alarm(1)
    errno = saved
}

private func remind(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
    guard (info?.pointee.si_code ?? 0) > 0 else { return }
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
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGALRM]

    /// The first signal that came, if any.
    static var pending: Int32? {
        let number = noted.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }

    /// A signal that has come, for a command that runs.
    struct Arrival {
        let number: Int32
        /// Whether the kernel sent it to the whole process group, as a terminal does.
        let isToGroup: Bool

        fileprivate init(_ number: Int32, isRaised: Bool) {
            self.number = number
            // When a terminal hangs up, only the session's leader gets SIGHUP; an alarm is one process's own.
            isToGroup = isRaised && number != SIGALRM && !(number == SIGHUP && getsid(0) == getpid())
        }
    }

    /// The signals that have come since the last call.
    ///
    /// A relay passes on all of them, because a later SIGTERM may end a command that ignores SIGINT.
    static func takeArrived() -> [Arrival] {
        var arrivals: [Arrival] = []
        for (isRaised, bits) in [
            (false, sent.exchange(0, ordering: .sequentiallyConsistent)),
            (true, raised.exchange(0, ordering: .sequentiallyConsistent)),
        ] {
            var rest = bits
            while rest != 0 {
                arrivals.append(Arrival(Int32(rest.trailingZeroBitCount), isRaised: isRaised))
                rest &= rest - 1
            }
        }
        return arrivals
    }

    /// Notes a signal; the process dies by the first.
    ///
    /// `isRaised`: Whether the kernel has sent it.
    static func note(_ number: Int32, isRaised: Bool = false) {
        let bit: UInt64 = 1 << UInt64(number)
        if isRaised {
            _ = raised.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        } else {
            _ = sent.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        }
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
        Pattern.prepare()
        DetachedThread.block(ending + [SIGQUIT])
        for number in errors { signal(number, SIG_IGN) }
        for number in ending where !isIgnored(number) { handle(number, receive) }
        // The Swift runtime's handler prints a backtrace, and then the process goes on.
        if !isIgnored(SIGQUIT) { signal(SIGQUIT, SIG_DFL) }
        // sigprocmask(2): if the caller has blocked a signal, it stays blocked after execve(2).
        _ = inheritedMask
        unblock(ending)
    }

    /// From now on SIGQUIT asks the command to end too, unless the caller has ignored it.
    static func endOnQuit() {
        if !isIgnored(SIGQUIT) { handle(SIGQUIT, receive) }
    }

    /// From now on those that end a command kill this process at once: for one that looks for long, and leaves nothing
    /// behind.
    static func dieAtOnce() {
        for number in ending where !isIgnored(number) { signal(number, SIG_DFL) }
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

    /// Notes that the process is to end with the status of a command that it has run.
    static func settle(with status: Int32) { settled.store(status, ordering: .relaxed) }

    /// The signal by which the process is to die instead of ending with a status, if any.
    ///
    /// A command's own status counts, unless the command has died of the signal: it has dealt with the signal itself.
    static func death(insteadOf status: ExitStatus) -> Int32? {
        guard let number = pending else { return nil }
        let isCommands = settled.load(ordering: .relaxed) == status.rawValue && status.rawValue != 128 + number
        return isCommands ? nil : number
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

    /// What runs when a signal comes: sigaction(2), SA_SIGINFO.
    typealias Handler = @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

    /// Installs a handler; it interrupts blocked system calls.
    static func handle(_ number: Int32, _ handler: @escaping Handler) {
        var action = sigaction()
        action.__sigaction_handler = .init(sa_sigaction: handler)
        action.sa_flags = SA_SIGINFO
        sigaction(number, &action, nil)
    }
}
