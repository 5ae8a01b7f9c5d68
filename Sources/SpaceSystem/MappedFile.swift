import CSpaceShims
import Glibc
package import SystemPackage

/// The beginning of a file, mapped into memory, readable and writable, and shared with every process that maps it.
///
/// Reserve the file's blocks first (`Blocks.reserve`): a page that a full disk has no block for counts as cut off. Do not
/// release the map while a thread holds one of its mutexes: the kernel finds a dead holder's mutexes through a list whose
/// links lie in them.
///
/// A file that is cut short while it is mapped ends no process: a page that it no longer has is zeros from the first
/// use on, which only this process sees, and `isCut` is true. (The rest of the file's last page is zeros for all
/// processes. So is a file that was cut and has grown again; this is not noticed here, unless the size was noted in
/// between.)
///
/// `@unchecked Sendable`: it consists of an address and a length that never change. All code reads and writes the
/// memory through `SharedWord32`, `SharedWord64`, `Futex` and `SharedMutex`, or under a lock.
package final class MappedFile: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let length: Int
    /// The word that becomes 1 if the file is cut; `nil` if the process has too many maps.
    private let cut: SharedWord32?

    /// Maps the first `length` bytes.
    ///
    /// With `isPrivate`, writes stay in this process, and a descriptor open for reading is enough.
    ///
    /// - Throws: `ERANGE` if the file is shorter: touching memory beyond its end would raise SIGBUS. `EINVAL` if the
    ///   length is below 1 or the file isn't a regular one.
    package init(descriptor: CInt, length: Int, isPrivate: Bool = false) throws(Errno) {
        let info = try FileInfo.of(descriptor)
        guard length > 0, info.kind == .regular else { throw .invalidArgument }
        guard info.size >= length else { throw .outOfRange }
        var address: UnsafeMutableRawPointer?
        try checked(space_map(descriptor, UInt64(length), isPrivate, &address))
        guard let base = address else { throw .noMemory }
        self.base = base
        self.length = length
        cut = space_map_watch(base, length).map { SharedWord32(at: $0) }
    }

    /// Notes how long the file is now, for `isCut`.
    package func note(size: Int) {
        if size < length { cut?.store(1) }
    }

    /// Whether the file was cut short, as far as this process has touched what is missing, or noted the file's size.
    package var isCut: Bool { cut.map { $0.loadRelaxed() != 0 } ?? false }

    /// Maps the first `length` bytes; the descriptor may be closed afterwards.
    package convenience init(_ descriptor: borrowing OwnedDescriptor, length: Int) throws(Errno) {
        try self.init(descriptor: descriptor.raw, length: length)
    }

    deinit {
        // The list of the mutexes that a thread holds may still lead into a page that was replaced.
        guard !isCut else { return }
        space_map_unwatch(base)
        munmap(base, length)
    }
}
