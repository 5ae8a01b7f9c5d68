import CSpaceShims
package import SystemPackage

/// Blocks of a file, reserved before they are written: a full disk is then an error here, instead of a SIGBUS later.
package enum Blocks {
    /// The most bytes that one call asks for, because no call under a lock may take long.
    package static let largestPiece = 4 << 20

    private static let smallestPiece = 64 << 10

    /// Reserves the blocks of a range with fallocate(2), never posix_fallocate(3), which writes.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for writing.
    ///   - from: the first byte.
    ///   - to: the byte after the last.
    ///   - keepSize: whether the file's length stays unchanged even if the range reaches beyond it.
    /// - Throws: the errors of fallocate(2), such as `ENOSPC`, `EFBIG` and `EOPNOTSUPP`.
    package static func reserve(_ descriptor: CInt, from: Int, to: Int, keepSize: Bool) throws(Errno) {
        var reached = from
        try reserve(descriptor, to: to, keepSize: keepSize, reached: &reached)
    }

    /// Reserves the blocks from `reached` to `to`; `reached` tells, even after an error, how far it has come.
    package static func reserve(_ descriptor: CInt, to: Int, keepSize: Bool, reached: inout Int) throws(Errno) {
        try reserve(to: to, reached: &reached) { offset, length in
            space_allocate(descriptor, keepSize, Int64(offset), Int64(length))
        }
    }

    /// Reserves the blocks of a range at a file's end.
    ///
    /// - Parameters:
    ///   - descriptor: A file open for writing.
    ///   - from: The first byte.
    ///   - to: The byte after the last.
    ///   - length: The least length that the file has then; `nil`: it stays as it is.
    /// - Throws: The errors of fallocate(2) and ftruncate(2).
    package static func reserve(_ descriptor: CInt, from: Int, to: Int, length: Int?) throws(Errno) {
        if let length, try FileInfo.of(descriptor).size < length { try FileBytes.truncate(descriptor, to: length) }
        try reserve(descriptor, from: from, to: to, keepSize: true)
    }

    /// Frees the blocks after the first `end` bytes of a file, which are not used.
    ///
    /// - Parameters:
    ///   - descriptor: A file open for writing.
    ///   - end: The first byte whose block goes.
    ///   - length: How long the file is then; `nil`: it ends there.
    /// - Throws: The errors of ftruncate(2).
    package static func cut(_ descriptor: CInt, to end: Int, length: Int?) throws(Errno) {
        // ext4 frees no blocks beyond the file's end by fallocate(2), and none while the file becomes longer.
        for _ in 0..<2 { try FileBytes.truncate(descriptor, to: end) }
        if let length { try FileBytes.truncate(descriptor, to: length) }
    }

    /// Replaces the blocks of a file's first bytes that a copy (a reflink, on xfs) shares by blocks of the file's own.
    ///
    /// Writing into a map of a shared block needs a new block, and raises SIGBUS if the disk is full.
    ///
    /// - Throws: `ENOSPC`, `EDQUOT`, `EIO`. It throws nothing if the file system shares no blocks, or can't unshare
    ///   them.
    package static func unshare(_ descriptor: CInt, to length: Int) throws(Errno) {
        try checked(space_unshare_blocks(descriptor, Int64(length)))
    }

    /// Reserves blocks by `allocate` in place of the system call; it returns 0 or a negated error number.
    ///
    /// The parameter is for tests: in Linux 6.18 only fatal signals interrupt fallocate(2) on tmpfs, so a test has to
    /// invent the `EINTR`.
    package static func reserve(
        to: Int,
        reached: inout Int,
        allocate: (_ offset: Int, _ length: Int) -> CInt
    ) throws(Errno) {
        guard reached >= 0, to >= reached else { throw .invalidArgument }
        var piece = largestPiece
        while reached < to {
            let length = min(piece, to - reached)
            let error = Errno(rawValue: -allocate(reached, length))
            switch error {
            case Errno(rawValue: 0):
                reached += length
            case .interrupted:
                // tmpfs frees the blocks that the interrupted call had reserved. If a timer fires more often than a
                // piece takes, no piece would ever be reserved, so the next piece is smaller.
                piece = max(smallestPiece, piece / 2)
            default:
                throw error
            }
        }
    }
}
