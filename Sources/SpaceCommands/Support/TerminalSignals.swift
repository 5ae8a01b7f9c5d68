import Glibc
import SpaceSystem
import Synchronization

// While a command fills the screen, it handles the signals that stop it and let it go on, so that the shell gets the
// terminal as it was. The handlers note the signal, and write to a pipe, which ends the poll(2) that waits for keys: a
// signal that comes just before the poll is not lost. The thread that draws does the rest.

/// Whether SIGTSTP has come (Ctrl-Z), and whether SIGCONT has.
private let isStopAsked = Atomic<Bool>(false)
private let hasContinued = Atomic<Bool>(false)
/// The writing end of the pipe, or -1.
private let writing = Atomic<CInt>(-1)

private func receive(_ number: CInt, _: UnsafeMutablePointer<siginfo_t>?, _: UnsafeMutableRawPointer?) {
    let saved = errno
    if number == SIGCONT {
        hasContinued.store(true, ordering: .sequentiallyConsistent)
    } else {
        isStopAsked.store(true, ordering: .sequentiallyConsistent)
    }
    var byte: UInt8 = 0
    // signal-safety(7) lists write(2). The pipe is non-blocking: if it is full, the poll ends anyway.
    _ = write(writing.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
}

/// The signals of job control, for as long as a command fills the screen.
///
/// There is one at a time, because handlers belong to the process.
struct TerminalSignals {
    /// Readable once a signal has come; -1 if no pipe could be made: then a signal only interrupts the poll.
    let raw: CInt
    private static let numbers = [SIGTSTP, SIGCONT]

    /// Installs the handlers.
    ///
    /// SIGTSTP stays ignored if the caller has ignored it, as a shell without job control does. SIGQUIT (Ctrl-\) asks
    /// the command to end, as the other ending signals do: without a handler the process would die of it at once, and
    /// leave the terminal as it is.
    init() {
        // Globals are initialised on first use, which must not happen inside a handler.
        isStopAsked.store(false, ordering: .sequentiallyConsistent)
        hasContinued.store(false, ordering: .sequentiallyConsistent)
        if let ends = try? OwnedDescriptor.pipe() {
            for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            writing.store(ends.writing, ordering: .sequentiallyConsistent)
            raw = ends.reading
        } else {
            raw = -1
        }
        Signals.endOnQuit()
        for number in Self.numbers where !Signals.isIgnored(number) { Signals.handle(number, receive) }
    }

    /// Removes the handlers of SIGTSTP and SIGCONT; called once.
    func end() {
        for number in Self.numbers where !Signals.isIgnored(number) { signal(number, SIG_DFL) }
        let end = writing.exchange(-1, ordering: .sequentiallyConsistent)
        for descriptor in [raw, end] where descriptor >= 0 { close(descriptor) }
    }

    /// Forgets the bytes in the pipe; called before the two below.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(raw, &bytes, bytes.count) > 0 {}
    }

    /// Whether the process was asked to stop since the last call.
    func takeStop() -> Bool { isStopAsked.exchange(false, ordering: .sequentiallyConsistent) }

    /// Whether the process was stopped, by any signal, and has gone on since the last call.
    func takeContinued() -> Bool { hasContinued.exchange(false, ordering: .sequentiallyConsistent) }

    /// Stops the process as SIGTSTP does without a handler; returns when it goes on.
    ///
    /// If no shell could let it go on (an orphaned process group), the kernel does not stop it: setpgid(2).
    func stop() {
        signal(SIGTSTP, SIG_DFL)
        // raise(3) returns after the signal was handled.
        raise(SIGTSTP)
        Signals.handle(SIGTSTP, receive)
    }
}
