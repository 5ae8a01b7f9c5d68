import CSpaceShims
import Glibc
package import SystemPackage

/// Locks that the kernel keeps for an open file: they end when its last descriptor is closed, also by SIGKILL.
///
/// They are open-file-description locks (fcntl(2)), not the older POSIX locks, which vanish as soon as *any*
/// descriptor of the same file is closed anywhere in the process. What follows from that:
/// - a forked child inherits the lock with the descriptor, and holds it after the parent's death; descriptors opened by
///   this module are close-on-exec, so a program started with exec doesn't;
/// - two opens of the same file conflict with each other inside one process too;
/// - the kernel doesn't tell whose lock it is (`l_pid` is −1).
package enum FileLock {
    /// Locks the file, or one byte of it, if nobody else has; never waits.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for writing.
    ///   - byte: a position, which may lie beyond the file's end; `nil` is the whole file.
    /// - Returns: `false` when another open file holds a conflicting lock.
    /// - Throws: `EBADF` when it isn't open for writing, `ENOLCK` when the kernel has no room for more locks.
    package static func tryExclusive(_ descriptor: CInt, byte: Int? = nil) throws(Errno) -> Bool {
        let result = space_ofd_set_lock(descriptor, Int16(F_WRLCK), start(byte), length(byte))
        if result == -EAGAIN { return false }
        try checked(result)
        return true
    }

    /// Whether another open file, here or in another process, holds a lock on it; acquires nothing.
    ///
    /// Testing by acquiring would make two testers see each other, and an opener see a tester.
    package static func isHeldByAnother(_ descriptor: CInt, byte: Int? = nil) throws(Errno) -> Bool {
        try checked(space_ofd_is_locked(descriptor, start(byte), length(byte))) != 0
    }

    /// Gives up the lock of this open file; nothing happens if there is none.
    package static func unlock(_ descriptor: CInt, byte: Int? = nil) throws(Errno) {
        try checked(space_ofd_set_lock(descriptor, Int16(F_UNLCK), start(byte), length(byte)))
    }

    // fcntl(2): l_len 0 reaches from l_start to the largest possible offset. A negative position comes back as EINVAL.
    private static func start(_ byte: Int?) -> Int64 { Int64(byte ?? 0) }
    private static func length(_ byte: Int?) -> Int64 { byte == nil ? 0 : 1 }
}
