import CSpaceShims
package import SystemPackage

/// Blocks of a file, taken before they are written: so that a full disk is an error here, not a SIGBUS later.
package enum Blocks {
    /// The most that one call asks for: under a lock, nothing may take long.
    package static let largestPiece = 4 << 20

    private static let smallestPiece = 64 << 10

    /// Reserves the blocks of a range with fallocate(2), never posix_fallocate(3), which writes.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for writing.
    ///   - from: the first byte.
    ///   - to: the byte after the last.
    ///   - keepSize: whether the file's length stays as it is, also when the range reaches beyond it.
    /// - Throws: `ENOSPC`, `EFBIG`, `EOPNOTSUPP` and what else fallocate(2) gives.
    package static func reserve(_ descriptor: CInt, from: Int, to: Int, keepSize: Bool) throws(Errno) {
        var reached = from
        try reserve(descriptor, to: to, keepSize: keepSize, reached: &reached)
    }

    /// The same from `reached` on, which says also after an error how far it has come.
    package static func reserve(_ descriptor: CInt, to: Int, keepSize: Bool, reached: inout Int) throws(Errno) {
        try reserve(to: to, reached: &reached) { offset, length in
            space_allocate(descriptor, keepSize, Int64(offset), Int64(length))
        }
    }

    /// Gives a file's first bytes blocks of their own, where a copy (a reflink, on xfs) shares them: writing into a map of a
    /// shared block needs a new one, and gets SIGBUS on a full disk.
    ///
    /// - Throws: `ENOSPC`, `EDQUOT`, `EIO`. Nothing where the file system shares no blocks, or can't unshare them.
    package static func unshare(_ descriptor: CInt, to length: Int) throws(Errno) {
        try checked(space_unshare_blocks(descriptor, Int64(length)))
    }

    /// Reserves with the system call as a parameter, which returns 0 or a negated error number.
    ///
    /// For tests: Linux 6.18 lets only fatal signals interrupt fallocate(2) on tmpfs, so an `EINTR` has to be made up.
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
                // tmpfs gives back what the interrupted call had got, so a timer that fires faster than a piece takes
                // would keep it at nothing for ever: try less.
                piece = max(smallestPiece, piece / 2)
            default:
                throw error
            }
        }
    }
}
