@preconcurrency import Glibc
import SharedSpace
import SystemPackage

/// What a command writes to its standard output, read from a pipe as it comes.
struct CommandOutput {
    private var pipe: ChildPipe
    private(set) var bytes: [UInt8] = []
    /// Whether the command wrote more than a value can hold: the rest is not read, and a command that goes on writing
    /// gets a broken pipe.
    private(set) var isTooLong = false

    init() throws {
        pipe = try ChildPipe(keeping: .reading)
    }

    /// The end of the pipe that this process reads; negative once it is closed.
    var reading: CInt { pipe.reading }

    /// The descriptor that the command writes.
    var writing: CInt { pipe.writing }

    /// Reads what is there, and closes the pipe at its end.
    mutating func read() {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while reading >= 0 {
            let count = Glibc.read(reading, &chunk, chunk.count)
            if count > 0, bytes.count + count <= Limits.valueBytes {
                bytes += chunk[..<count]
                continue
            }
            switch (count, Errno(rawValue: errno)) {
            case (1..., _):
                isTooLong = true
                pipe.closeReading()
            case (..<0, .interrupted): continue
            case (..<0, .resourceTemporarilyUnavailable): return
            default: pipe.closeReading()
            }
        }
    }

    /// Closes this process's copy of the writing end, which would keep the pipe from ending; the command has its own.
    mutating func handOver() { pipe.closeWriting() }

    mutating func close() {
        pipe.closeWriting()
        pipe.closeReading()
    }
}
