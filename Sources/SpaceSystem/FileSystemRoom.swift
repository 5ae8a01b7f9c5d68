import CSpaceShims
package import SystemPackage

/// How much a file system holds and has left.
package struct FileSystemRoom: Hashable, Sendable {
    /// Bytes; `nil` for a tmpfs without a limit.
    package let total: UInt64?
    /// Bytes that a process without privileges can still use; `nil` for a tmpfs without a limit.
    package let free: UInt64?
    /// Files that can still be made, `nil` where they aren't counted: `ENOSPC` may mean these.
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
