import Glibc
import SharedSpace
import SystemPackage

/// Standard input, read line by line.
struct Input: ~Copyable {
    /// The longest line of a dump: that of the largest value.
    ///
    /// JSON takes six bytes where the value takes one (a control character, \u0001, or false and its comma), and 15
    /// where it takes two (empty bytes, {"$base64":""},). The rest is for what encloses the value.
    static let longestDumpLine = 8 * Limits.valueBytes
    /// The longest line of any other input: that of the largest value with text or bytes in it.
    ///
    /// The line is kept as a whole, so a process that writes without an end would fill the memory.
    static let longestLine = 2 * Limits.valueBytes

    private let descriptor: CInt
    /// What read(2) reads into.
    ///
    /// It is made once: to clear room in `buffer` at each read costs as much as a full read,
    /// and a pipe gives little at a time.
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)
    private var buffer: [UInt8] = []
    private var start = 0
    private var ended = false
    /// The number of the line returned last, from 1.
    private(set) var line = 0

    private let longest: Int

    init(descriptor: CInt = STDIN_FILENO, longest: Int = Self.longestLine) {
        self.descriptor = descriptor
        self.longest = longest
    }

    /// The next line that isn't blank, without its end, or `nil` at the end of the input.
    ///
    /// - Throws: `CommandFailure` if the line can't be read, is too long or is not UTF-8; `Terminated` on a signal.
    mutating func next() throws -> String? {
        while let bytes = try nextBytes() {
            line += 1
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure.badData("standard input, line \(line): not UTF-8")
            }
            return text
        }
        return nil
    }

    private mutating func nextBytes() throws -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = newline(from: searched) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            if ended {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            guard buffer.count - start <= longest else {
                throw CommandFailure.badData(
                    "standard input, line \(line + 1): longer than \(longest) bytes; one value is one line, and has "
                        + "\(Limits.valueBytes) bytes (64 MiB) at most"
                )
            }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            try fill()
        }
    }

    /// The place of the first end of a line.
    private func newline(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, 0x0A, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private mutating func fill() throws {
        var result = 0
        var cause = Errno(rawValue: 0)
        repeat {
            try Signals.check()
            result = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if result < 0 { cause = Errno(rawValue: errno) }
            if result < 0, cause == .resourceTemporarilyUnavailable {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
                cause = .interrupted
            }
        } while result < 0 && cause == .interrupted
        if result < 0 { throw CommandFailure(.inputOutput, "cannot read standard input: \(cause)") }
        if result == 0 { ended = true }
        chunk.withUnsafeBufferPointer { buffer.append(contentsOf: UnsafeBufferPointer(rebasing: $0[..<result])) }
    }

    /// All of standard input.
    ///
    /// - Throws: `CommandFailure` if it can't be read, or is longer than `most` bytes; `Terminated` on a signal.
    static func all(most: Int) throws -> [UInt8] {
        var input = Input()
        while !input.ended {
            guard input.buffer.count <= most else {
                throw CommandFailure.badData("standard input is longer than \(most) bytes")
            }
            try input.fill()
        }
        return input.buffer
    }
}
