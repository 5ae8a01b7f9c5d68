import CSpaceShims
import Glibc
package import SystemPackage

/// Small files that are read and written whole, by position: the descriptor's own offset is neither used nor moved.
package enum FileBytes {
    /// Reads a file from its beginning.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for reading.
    ///   - limit: the largest number of bytes to read.
    /// - Returns: all bytes of the file.
    /// - Throws: `EFBIG` if the file has more than `limit` bytes: a file of an unexpected size is not trusted.
    package static func read(_ descriptor: CInt, limit: Int) throws(Errno) -> [UInt8] {
        guard limit >= 0, limit < Int.max else { throw .invalidArgument }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit + 1, 16_384))
        while true {
            let offset = Int64(bytes.count)
            let got = chunk.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { space_read_at(descriptor, $0, UInt64(buffer.count), offset) } ?? 0
            }
            let count = try checked(count: got)
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else { throw .fileTooLarge }
        }
    }

    /// Reads a file's first `count` bytes, or all bytes of a shorter file.
    package static func readPrefix(_ descriptor: CInt, count: Int) throws(Errno) -> [UInt8] {
        try read(descriptor, at: 0, count: count)
    }

    /// Reads `count` bytes from a position on, or all that the file has there.
    package static func read(_ descriptor: CInt, at offset: Int, count: Int) throws(Errno) -> [UInt8] {
        guard offset >= 0 else { throw .invalidArgument }
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map {
                    space_read_at(descriptor, $0 + filled, UInt64(buffer.count - filled), Int64(offset) + Int64(filled))
                } ?? 0
            }
            let count = try checked(count: got)
            if count == 0 { break }
            filled += count
        }
        return Array(bytes[..<filled])
    }

    /// Reads a file inside a directory; refuses a symbolic link in its place.
    package static func read(at directory: CInt, _ name: String, limit: Int) throws(Errno) -> [UInt8] {
        // O_NONBLOCK: another user may have put a FIFO there, and open(2) of a FIFO would wait for a writer.
        let file = try OwnedDescriptor.openat(directory: directory, name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        return try read(file.raw, limit: limit)
    }

    /// Writes all bytes at a position, and continues after short writes.
    package static func write(_ bytes: [UInt8], to descriptor: CInt, at offset: Int = 0) throws(Errno) {
        guard offset >= 0, offset <= Int.max - bytes.count else { throw .invalidArgument }
        var done = 0
        while done < bytes.count {
            let position = Int64(offset) + Int64(done)
            let put = bytes[done...].withUnsafeBytes { rest in
                rest.baseAddress.map { space_write_at(descriptor, $0, UInt64(rest.count), position) } ?? 0
            }
            let count = try checked(count: put)
            // write(2) of a positive count doesn't return 0 for a regular file; if it did, the loop would never end.
            guard count > 0 else { throw .ioError }
            done += count
        }
    }

    /// Sets a file's length.
    package static func truncate(_ descriptor: CInt, to length: Int) throws(Errno) {
        while ftruncate(descriptor, off_t(length)) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .interrupted else { throw error }
        }
    }
}
