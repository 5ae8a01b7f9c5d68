import Glibc
import SpaceEngine

/// The lines of a descriptor, as bytes; a line that is too long is left out, and its place reported.
struct LineReader {
    enum Line {
        case bytes([UInt8])
        case tooLong
        case end
    }

    private let descriptor: CInt
    private let longest: Int
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)
    private var buffer: [UInt8] = []
    private var searched = 0
    private var isSkipping = false
    private var hasEnded = false

    init(_ descriptor: CInt, longest: Int) { (self.descriptor, self.longest) = (descriptor, longest) }

    /// The next line, without its end; the last one may lack it.
    ///
    /// A signal that asks the process to end, and an error, end the lines.
    mutating func next() -> Line {
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeSubrange(...end)
                searched = 0
                if isSkipping {
                    isSkipping = false
                    return .tooLong
                }
                return .bytes(line)
            }
            if hasEnded {
                defer { buffer = [] }
                searched = 0
                if isSkipping {
                    isSkipping = false
                    return .tooLong
                }
                return buffer.isEmpty ? .end : .bytes(buffer)
            }
            if buffer.count > longest { isSkipping = true }
            if isSkipping { buffer = [] }
            searched = buffer.count
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer += chunk[..<count]
            } else if count == 0 {
                hasEnded = true
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                hasEnded = true
            }
            if Interruption.ofProcess.isTriggered { return .end }
        }
    }
}
