import CSpaceShims
import Glibc
package import SystemPackage

/// A file's beginning mapped into memory, readable and writable, shared with every process that maps it.
///
/// Its blocks should be reserved first (`Blocks.reserve`): writing to a hole on a full disk is a SIGBUS. And it must not
/// go while one of its mutexes is held: the kernel finds a dead holder's mutexes through a list that runs through them.
///
/// `@unchecked Sendable`: it consists of an address and a length that never change; whoever reads or writes the memory
/// does it through `SharedWord32`, `SharedWord64`, `Futex` and `SharedMutex`, or under a lock.
package final class MappedFile: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let length: Int

    /// Maps the first `length` bytes.
    ///
    /// With `isPrivate` what is written stays in this process, and a descriptor open for reading suffices.
    ///
    /// - Throws: `ERANGE` when the file is shorter: touching what is beyond its end would be a SIGBUS. `EINVAL` for a
    ///   length below 1 and for what isn't a regular file.
    package init(descriptor: CInt, length: Int, isPrivate: Bool = false) throws(Errno) {
        let info = try FileInfo.of(descriptor)
        guard length > 0, info.kind == .regular else { throw .invalidArgument }
        guard info.size >= length else { throw .outOfRange }
        var address: UnsafeMutableRawPointer?
        try checked(space_map(descriptor, UInt64(length), isPrivate, &address))
        guard let base = address else { throw .noMemory }
        self.base = base
        self.length = length
    }

    /// Maps the first `length` bytes; the descriptor may be closed afterwards.
    package convenience init(_ descriptor: borrowing OwnedDescriptor, length: Int) throws(Errno) {
        try self.init(descriptor: descriptor.raw, length: length)
    }

    deinit {
        munmap(base, length)
    }

    /// The address of `count` values at an offset.
    ///
    /// - Throws: `ERANGE` when they don't lie inside the mapping, `EINVAL` when the offset isn't aligned for them.
    package func pointer<T: BitwiseCopyable>(
        at offset: Int,
        to type: T.Type,
        count: Int = 1
    ) throws(Errno) -> UnsafeMutablePointer<T> {
        try (base + checkedOffset(offset, MemoryLayout<T>.stride, MemoryLayout<T>.alignment, count))
            .assumingMemoryBound(to: type)
    }

    package func word32(at offset: Int) throws(Errno) -> SharedWord32 {
        SharedWord32(at: try pointer(at: offset, to: UInt32.self))
    }

    package func word64(at offset: Int) throws(Errno) -> SharedWord64 {
        SharedWord64(at: try pointer(at: offset, to: UInt64.self))
    }

    package func futex(at offset: Int) throws(Errno) -> Futex {
        Futex(at: try pointer(at: offset, to: UInt32.self))
    }

    package func mutex(at offset: Int) throws(Errno) -> SharedMutex {
        SharedMutex(at: try base + checkedOffset(offset, SharedMutex.size, SharedMutex.alignment, 1))
    }

    private func checkedOffset(_ offset: Int, _ size: Int, _ alignment: Int, _ count: Int) throws(Errno) -> Int {
        let (bytes, overflow) = size.multipliedReportingOverflow(by: count)
        guard !overflow, offset >= 0, count >= 0, offset <= length, bytes <= length - offset else { throw .outOfRange }
        // The mapping itself begins at a page.
        guard offset % alignment == 0 else { throw .invalidArgument }
        return offset
    }
}
