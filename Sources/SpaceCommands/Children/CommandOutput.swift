@preconcurrency import Glibc
import SharedSpace
import SystemPackage

/// What a command writes to its standard output, read from a pipe as it comes.
struct CommandOutput {
    private(set) var reading: CInt
    private(set) var writing: CInt
    private(set) var bytes: [UInt8] = []
    /// Whether it wrote more than a value can have: the rest is not read, and a command that goes on gets a broken pipe.
    private(set) var isTooLong = false

    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot make a pipe: \(Errno(rawValue: errno))")
        }
        // The child's standard descriptors are none of these, also where this process was started without its own.
        for index in ends.indices where ends[index] < 3 {
            let copy = fcntl(ends[index], F_DUPFD, 3)
            if copy >= 0 { Glibc.close(ends[index]) }
            ends[index] = copy >= 0 ? copy : ends[index]
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        (reading, writing) = (ends[0], ends[1])
    }

    /// Reads what is there; at its end the pipe is closed.
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
                closeReading()
            case (..<0, .interrupted): continue
            case (..<0, .resourceTemporarilyUnavailable): return
            default: closeReading()
            }
        }
    }

    /// The command has its own descriptor of the writing side now; this one would keep the pipe from ending.
    mutating func handOver() {
        if writing >= 0 { Glibc.close(writing) }
        writing = -1
    }

    private mutating func closeReading() {
        if reading >= 0 { Glibc.close(reading) }
        reading = -1
    }

    mutating func close() {
        handOver()
        closeReading()
    }
}
