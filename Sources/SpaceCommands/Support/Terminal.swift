import Glibc
import SystemPackage

/// The terminal of a command that fills the screen: its size, the keys that come, and its state before.
///
/// While it is open, keys come one by one and are not printed, and the screen is the alternate one; ``close()`` puts
/// back what was there. A stop (Ctrl-Z) puts it back too, and when the process goes on, the screen is the command's
/// again.
final class Terminal {
    private let input: CInt
    private let output: CInt
    private var saved = termios()
    private let hasModes: Bool
    private var readsKeys: Bool
    private var isOpen = true
    private let signals: TerminalSignals

    /// Whether the terminal can move its cursor; `TERM=dumb` says that it cannot.
    private static var hasCursor: Bool { getenv("TERM").map { String(cString: $0) } != "dumb" }

    /// How many columns a line of the help has: `COLUMNS`, or those of the terminal, else 80.
    static var helpWidth: Int {
        var size = winsize()
        let named = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 0
        if named > 0 { return max(named, 40) }
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return max(Int(size.ws_col), 40)
    }

    /// Opens the terminal; `nil` if `output` is none, or a dumb one.
    ///
    /// Keys are read if `input` is a terminal too.
    init?(input: CInt = STDIN_FILENO, output: CInt = STDOUT_FILENO) {
        guard isatty(output) != 0, Self.hasCursor else { return nil }
        self.input = input
        self.output = output
        hasModes = isatty(input) != 0 && tcgetattr(input, &saved) == 0
        readsKeys = hasModes
        signals = TerminalSignals()
        enter()
    }

    deinit { close() }

    /// Gives the terminal back as it was.
    func close() {
        guard isOpen else { return }
        isOpen = false
        leave()
        signals.end()
    }

    private func enter() {
        var modes = saved
        // Signals still come from keys: Ctrl-C ends the command, Ctrl-Z stops it.
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Else the kernel drops, after it has sent the signal of a key, what is on the way to the screen (termios(3), NOFLSH):
        // that may be what gives the screen back.
        modes.c_lflag |= tcflag_t(NOFLSH)
        set(modes)
        // The alternate screen, and no cursor.
        try? send("\u{1B}[?1049h\u{1B}[?25l")
    }

    private func leave() {
        try? send("\u{1B}[?25h\u{1B}[?1049l")
        set(saved)
    }

    private func set(_ modes: termios) {
        var modes = modes
        // A process in the background is stopped here (SIGTTOU), and the call is interrupted when it goes on.
        while hasModes, tcsetattr(input, TCSANOW, &modes) != 0, errno == EINTR {}
    }

    /// The numbers of columns and rows; 80 and 24 if the terminal does not know.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Waits for a key, at most `milliseconds`; `nil` if none came, or if a signal did: draw the screen again then.
    ///
    /// - Throws: `OutputFailure` if the terminal has gone (its window was closed, the connection has ended).
    func key(within milliseconds: Int) throws(OutputFailure) -> Character? {
        // poll(2) ignores negative descriptors, and tells of a terminal that has gone whether asked or not.
        var requests = [
            pollfd(fd: readsKeys ? input : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output, events: 0, revents: 0),
        ]
        let ready = poll(&requests, nfds_t(requests.count), CInt(clamping: max(0, milliseconds)))
        if followSignals() { return nil }
        guard ready > 0 else { return nil }
        if requests.contains(where: { $0.revents & Int16(POLLHUP | POLLERR) != 0 }) { throw Self.gone }
        guard requests[0].revents != 0 else { return nil }
        var byte: UInt8 = 0
        let count = read(input, &byte, 1)
        if count == 0 { throw Self.gone }
        // EIO: a process in the background that no shell could stop gets no keys, and may print.
        if count < 0 && errno != EINTR { readsKeys = false }
        guard count == 1 else { return nil }
        return Character(Unicode.Scalar(byte))
    }

    private static let gone = OutputFailure(cause: .ioError)

    /// Does what the signals ask for; returns whether the screen has to be drawn again.
    private func followSignals() -> Bool {
        signals.drain()
        var isNew = false
        if signals.takeStop() {
            leave()
            signals.stop()
            isNew = true
        }
        // A process that was stopped by SIGSTOP goes on here too: the shell has set the terminal's modes meanwhile.
        if signals.takeContinued() { isNew = true }
        if isNew { enter() }
        return isNew
    }

    /// Draws lines on the screen; what does not fit is left out.
    ///
    /// - Throws: `OutputFailure` if the terminal has gone.
    func draw(_ lines: [String]) throws(OutputFailure) {
        let (columns, rows) = size
        var text = "\u{1B}[H"
        for line in lines.prefix(rows - 1) { text += Self.cut(line, to: columns) + "\u{1B}[K\r\n" }
        try send(text + "\u{1B}[J")
    }

    /// The first columns of a line; the sequences that set how it looks take none.
    private static func cut(_ line: String, to columns: Int) -> String {
        var result = ""
        var used = 0
        var isSequence = false
        for character in line {
            if character == "\u{1B}" { isSequence = true }
            if isSequence {
                result.append(character)
                if character == "m" { isSequence = false }
                continue
            }
            used += PeopleText.columns(of: character)
            if used <= columns { result.append(character) }
        }
        return result
    }

    private func send(_ text: String) throws(OutputFailure) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
                continue
            }
            let cause = Errno(rawValue: errno)
            if cause == .resourceTemporarilyUnavailable {
                guard Signals.pending == nil else { return }
                var request = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, 1000)
            } else if cause != .interrupted {
                throw OutputFailure(cause: cause)
            }
        }
    }
}
