@preconcurrency import Glibc
import SystemPackage

/// The standard input of a command: a descriptor for the command, and what this process still has to write to it.
struct CommandInput {
    /// What the command reads.
    enum Source {
        /// The standard input of this process.
        case inherited
        case nothing
        case line(String)
    }

    /// The descriptor that the command reads, unless it reads a pipe.
    private var file: CInt = STDIN_FILENO
    private var pipe: ChildPipe?
    private var rest: ArraySlice<UInt8> = []

    init(_ source: Source) throws {
        switch source {
        case .inherited: break
        case .nothing:
            file = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                throw CommandFailure(.inputOutput, "cannot open /dev/null: \(Errno(rawValue: errno))")
            }
        case .line(let line):
            pipe = try ChildPipe(keeping: .writing)
            rest = Array((line + "\n").utf8)[...]
        }
    }

    /// The descriptor that the command reads.
    var reading: CInt { pipe?.reading ?? file }

    /// The end of the pipe that this process writes; negative if there is nothing to write.
    var writing: CInt { pipe?.writing ?? -1 }

    /// Writes what fits the pipe.
    ///
    /// It closes the pipe when all is written, or when the command has closed its end.
    mutating func write() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch Errno(rawValue: errno) {
            case .interrupted: continue
            case .resourceTemporarilyUnavailable: return
            // A command need not read all of its input.
            default: rest = []
            }
        }
        pipe?.closeWriting()
    }

    /// Closes this process's copy of the reading end, which would keep the pipe from breaking; the command has its own.
    mutating func handOver() {
        pipe?.closeReading()
        if file > STDIN_FILENO { Glibc.close(file) }
        file = STDIN_FILENO
    }

    mutating func close() {
        handOver()
        pipe?.closeWriting()
    }
}
