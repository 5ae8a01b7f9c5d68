import CSpaceShims
package import SystemPackage

/// The size of a file system, and the room that is left.
package struct FileSystemRoom: Hashable, Sendable {
    /// The size in bytes, or `nil` for a tmpfs without a limit.
    package let total: UInt64?
    /// The bytes that a process without privileges can still use, or `nil` for a tmpfs without a limit.
    package let free: UInt64?
    /// The number of files that can still be made, or `nil` if files aren't counted; `ENOSPC` may mean that it is 0.
    package let freeFiles: UInt64?

    package static func of(_ descriptor: CInt) throws(Errno) -> FileSystemRoom {
        let status = try status(descriptor)
        return FileSystemRoom(
            total: status.unlimited ? nil : status.total,
            free: status.unlimited ? nil : status.free,
            freeFiles: status.inodesUncounted ? nil : status.freeInodes
        )
    }

    static func status(_ descriptor: CInt) throws(Errno) -> space_file_system {
        var status = space_file_system()
        try checked(space_file_system(descriptor, &status))
        return status
    }
}
