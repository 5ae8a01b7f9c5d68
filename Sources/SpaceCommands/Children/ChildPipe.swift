@preconcurrency import Glibc
import SystemPackage

/// A pipe between this process and a command: each has one end.
struct ChildPipe {
    private(set) var reading: CInt
    private(set) var writing: CInt

    /// The end that stays in this process, which never blocks on it.
    enum End { case reading, writing }

    init(keeping end: End) throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.inputOutput, "cannot make a pipe: \(Errno(rawValue: errno))")
        }
        // No end may be one of the command's standard descriptors, even if this process was started without its own.
        for index in ends.indices where ends[index] < 3 {
            let copy = fcntl(ends[index], F_DUPFD, 3)
            if copy >= 0 { Glibc.close(ends[index]) }
            ends[index] = copy >= 0 ? copy : ends[index]
        }
        // No other thread starts processes, so none inherits an end before this.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(end == .reading ? reading : writing, F_SETFL, O_NONBLOCK)
    }

    mutating func closeReading() {
        if reading >= 0 { Glibc.close(reading) }
        reading = -1
    }

    mutating func closeWriting() {
        if writing >= 0 { Glibc.close(writing) }
        writing = -1
    }
}
