import Glibc
import SpaceSystem
package import SystemPackage

/// A file in memory that has no name in any folder: a program is started with it, and what it leaves there outlives it.
package final class MemoryFile: Sendable {
    let descriptor: OwnedDescriptor

    /// The most bytes of a line.
    private static let longest = 1024

    /// Makes a file.
    ///
    /// - Parameter name: What it is called in /proc.
    /// - Throws: The errors of memfd_create(2).
    package init(_ name: String) throws(Errno) { descriptor = try .memoryFile(name) }

    /// Takes over the descriptor of a file that another program has made.
    package init(adopting raw: CInt) { descriptor = OwnedDescriptor(adopting: raw) }

    /// The first line, up to 1 KiB of it; empty: there is none.
    package var firstLine: String {
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, count in
            count = max(0, pread(descriptor.raw, buffer.baseAddress, buffer.count, 0))
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Makes a line the first one; it is not written if there is an error.
    package func set(firstLine line: String) {
        let bytes = Array("\(line)\n".utf8.prefix(Self.longest))
        _ = pwrite(descriptor.raw, bytes, bytes.count, 0)
    }
}
