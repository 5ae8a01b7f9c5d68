import CSpaceShims
package import SystemPackage

/// The kinds of file system that matter: where a sparse mapped file is known to work.
package enum FileSystemKind: Hashable, Sendable {
    case tmpfs
    /// ext2, ext3 and ext4 bear the same number.
    case ext4
    case xfs
    /// Any other, by its number in statfs(2).
    case other(UInt)

    package static func of(_ descriptor: CInt) throws(Errno) -> FileSystemKind {
        FileSystemKind(number: try FileSystemRoom.status(descriptor).kind)
    }

    init(number: UInt64) {
        // The numbers in statfs(2).
        self =
            switch number {
            case 0x0102_1994: .tmpfs
            case 0xEF53: .ext4
            case 0x5846_5342: .xfs
            default: .other(UInt(number))
            }
    }
}

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

    fileprivate static func status(_ descriptor: CInt) throws(Errno) -> space_file_system {
        var status = space_file_system()
        try checked(space_file_system(descriptor, &status))
        return status
    }
}
