import Glibc

/// The terminal of a command that fills the screen: its size, the keys that come, and its state before.
///
/// While it is open, keys come one by one and are not printed, and the screen is the alternate one; ``close()`` puts
/// back what was there.
final class Terminal {
    private let input: CInt
    private let output: CInt
    private var saved = termios()
    private let hasModes: Bool
    private var readsKeys: Bool
    private var isOpen = true

    /// Opens the terminal; `nil` if `output` is none.
    ///
    /// Keys are read if `input` is a terminal too.
    init?(input: CInt = STDIN_FILENO, output: CInt = STDOUT_FILENO) {
        guard isatty(output) != 0 else { return nil }
        self.input = input
        self.output = output
        hasModes = isatty(input) != 0 && tcgetattr(input, &saved) == 0
        readsKeys = hasModes
        if hasModes {
            var modes = saved
            // Signals still come from keys: Ctrl-C ends the command, Ctrl-Z stops it.
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(input, TCSANOW, &modes)
        }
        // The alternate screen, and no cursor.
        send("\u{1B}[?1049h\u{1B}[?25l")
    }

    deinit { close() }

    /// Gives the terminal back as it was.
    func close() {
        guard isOpen else { return }
        isOpen = false
        send("\u{1B}[?25h\u{1B}[?1049l")
        if hasModes { tcsetattr(input, TCSANOW, &saved) }
    }

    /// The numbers of columns and rows; 80 and 24 if the terminal does not know.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Waits for a key, at most `milliseconds`; `nil` if none came, or if a signal did.
    func key(within milliseconds: Int) -> Character? {
        // Without keys, poll(2) passes the time: it ignores a negative descriptor.
        var request = pollfd(fd: readsKeys ? input : -1, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, CInt(clamping: max(0, milliseconds))) > 0 else { return nil }
        var byte: UInt8 = 0
        let count = read(input, &byte, 1)
        // If the terminal has gone, it would be ready at once, again and again.
        if count == 0 || count < 0 && errno != EINTR { readsKeys = false }
        guard count == 1 else { return nil }
        return Character(Unicode.Scalar(byte))
    }

    /// Sleeps, until a signal comes at the longest.
    static func sleep(_ milliseconds: Int) { _ = poll(nil, 0, CInt(clamping: max(0, milliseconds))) }

    /// Draws lines on the screen; what does not fit is left out.
    func draw(_ lines: [String]) {
        let (columns, rows) = size
        var text = "\u{1B}[H"
        for line in lines.prefix(rows - 1) { text += Self.cut(line, to: columns) + "\u{1B}[K\r\n" }
        send(text + "\u{1B}[J")
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
            guard used < columns else { continue }
            result.append(character)
            used += 1
        }
        return result
    }

    private func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN {
                var request = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, 1000)
                continue
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
