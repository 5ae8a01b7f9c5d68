import CSpaceShims
import Glibc
package import SystemPackage

/// The facts of stat(2) about a file that matter here.
package struct FileInfo: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, socket, fifo, device, unknown
    }

    package let device: UInt64
    package let inode: UInt64
    package let owner: UInt32
    package let group: UInt32
    /// The permissions with the set-user-ID, set-group-ID and sticky bits, without the bits of the kind.
    package let mode: UInt32
    /// The number of names; 0 once the last name is removed.
    package let linkCount: UInt64
    package let size: Int
    /// The number of bytes in allocated blocks: less than `size` for a sparse file.
    package let allocated: Int
    package let kind: Kind

    package static func of(_ descriptor: CInt) throws(Errno) -> FileInfo {
        var info = space_file_info()
        try checked(space_info(descriptor, &info))
        return FileInfo(info)
    }

    /// The time of an open file's last write, in milliseconds since 1970.
    package static func modificationMilliseconds(of descriptor: CInt) throws(Errno) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        return Int64(status.st_mtim.tv_sec) &* 1000 &+ Int64(status.st_mtim.tv_nsec / 1_000_000)
    }

    fileprivate init(_ info: space_file_info) {
        device = info.device
        inode = info.inode
        owner = info.owner
        group = info.group
        mode = info.mode & 0o7777
        linkCount = info.links
        size = Int(clamping: info.size)
        allocated = Int(clamping: info.allocated)
        kind =
            switch info.mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFSOCK: .socket
            case S_IFIFO: .fifo
            case S_IFCHR, S_IFBLK: .device
            default: .unknown
            }
    }
}

extension Directory {
    /// Whether an open directory is on a file system that is mounted read-only (access(2): EROFS).
    package static func isReadOnly(_ directory: CInt) -> Bool {
        faccessat(directory, ".", W_OK, 0) != 0 && errno == EROFS
    }

    /// The facts about the file under this name; for a symbolic link, about the link itself.
    package static func info(at directory: CInt, _ name: String) throws(Errno) -> FileInfo {
        try checkedPath(name)
        var info = space_file_info()
        try checked(space_info_at(directory, name, &info))
        return FileInfo(info)
    }
}
