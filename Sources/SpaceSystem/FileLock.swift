import CSpaceShims
import Glibc
package import SystemPackage

/// Locks that the kernel keeps for an open file: a lock ends when the last descriptor of the open file is closed, also
/// by SIGKILL.
///
/// They are open-file-description locks (fcntl(2)), not the older POSIX locks, which are lost as soon as *any*
/// descriptor of the same file is closed anywhere in the process. Therefore:
/// - A forked child inherits the lock with the descriptor, and holds it after the parent's death. A program started
///   with exec does not, because the descriptors that this module opens are close-on-exec.
/// - Two opens of the same file conflict with each other, even inside one process.
/// - The kernel doesn't name the holder of a lock (`l_pid` is −1).
package enum FileLock {
    /// Locks the file, or one byte of it, exclusively; never waits.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for writing.
    ///   - byte: a position, which may lie beyond the file's end, or `nil` for the whole file.
    /// - Returns: `false` if another open file holds a conflicting lock.
    /// - Throws: `EBADF` if the file isn't open for writing, `ENOLCK` if the kernel has no room for more locks.
    package static func tryExclusive(_ descriptor: CInt, byte: Int? = nil) throws(Errno) -> Bool {
        let result = space_ofd_set_lock(descriptor, Int16(F_WRLCK), start(byte), length(byte))
        if result == -EAGAIN { return false }
        try checked(result)
        return true
    }

    /// Locks a file or a folder exclusively by flock(2), which needs no descriptor open for writing; never waits.
    ///
    /// It does not conflict with the other locks here.
    ///
    /// - Returns: `false` if another open file holds such a lock.
    package static func tryWhole(_ descriptor: CInt) throws(Errno) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return true }
        guard errno != EWOULDBLOCK else { return false }
        throw Errno(rawValue: errno)
    }

    /// Locks a file or a folder by flock(2) against such exclusive locks; never waits.
    ///
    /// - Returns: `false` if another open file holds an exclusive lock.
    package static func trySharedWhole(_ descriptor: CInt) throws(Errno) -> Bool {
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return true }
        guard errno != EWOULDBLOCK else { return false }
        throw Errno(rawValue: errno)
    }

    /// Releases a lock by flock(2) of this open file.
    package static func unlockWhole(_ descriptor: CInt) { _ = flock(descriptor, LOCK_UN) }

    /// Locks one byte of the file against exclusive locks; never waits.
    ///
    /// Any number of open files may hold such a lock on one byte.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for reading.
    ///   - byte: a position, which may lie beyond the file's end.
    /// - Returns: `false` if another open file holds an exclusive lock on that byte.
    /// - Throws: `EBADF` if the file isn't open for reading, `ENOLCK` if the kernel has no room for more locks.
    package static func tryShared(_ descriptor: CInt, byte: Int) throws(Errno) -> Bool {
        let result = space_ofd_set_lock(descriptor, Int16(F_RDLCK), Int64(byte), 1)
        if result == -EAGAIN { return false }
        try checked(result)
        return true
    }

    /// Whether another open file holds an exclusive lock on a byte; acquires nothing.
    package static func isHeldExclusivelyByAnother(_ descriptor: CInt, byte: Int) throws(Errno) -> Bool {
        var (start, length) = (Int64(byte), Int64(1))
        return try checked(space_ofd_conflict(descriptor, Int16(F_RDLCK), &start, &length)) != 0
    }

    /// The ranges that other open files have locked at or after a position, in no particular order; acquires nothing.
    ///
    /// - Parameters:
    ///   - descriptor: an open file.
    ///   - first: the position to begin at.
    ///   - limit: after how many ranges to stop.
    /// - Returns: the ranges; a range that reaches to the largest offset ends at `Int.max`.
    /// - Throws: the errors of fcntl(2).
    /// - Complexity: two system calls per range, each linear in the number of the file's locks.
    package static func heldByOthers(_ descriptor: CInt, from first: Int, limit: Int) throws(Errno) -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The kernel names any lock in a range, not the first one, so the parts before and after that lock are asked
        // for again.
        var unasked = [first..<Int.max]
        while let range = unasked.popLast(), found.count < limit {
            // fcntl(2): l_len 0 reaches to the largest possible offset.
            var (start, length) = (Int64(range.lowerBound), Int64(range.upperBound == .max ? 0 : range.count))
            guard try checked(space_ofd_conflict(descriptor, Int16(F_WRLCK), &start, &length)) != 0 else { continue }
            let lower = max(Int(start), range.lowerBound)
            let upper = length == 0 ? range.upperBound : min(Int(start + length), range.upperBound)
            found.append(lower..<upper)
            if range.lowerBound < lower { unasked.append(range.lowerBound..<lower) }
            if upper < range.upperBound { unasked.append(upper..<range.upperBound) }
        }
        return found
    }

    /// Whether another open file, of this process or another, holds a lock on the file or the byte; acquires nothing.
    ///
    /// If the test acquired the lock, two processes that test would see each other's lock, and so would a process that
    /// opens the file.
    package static func isHeldByAnother(_ descriptor: CInt, byte: Int? = nil) throws(Errno) -> Bool {
        try checked(space_ofd_is_locked(descriptor, start(byte), length(byte))) != 0
    }

    /// The process that holds an exclusive POSIX or open-file lock on one byte; POSIX locks of this process don't
    /// count.
    ///
    /// - Returns: `nil` if there is no such lock; −1 for a lock of an open file, because the kernel doesn't name its
    ///   holder.
    package static func exclusiveHolder(_ descriptor: CInt, byte: Int) throws(Errno) -> Int32? {
        var holder: Int32 = 0
        let isHeld = try checked(space_lock_writer(descriptor, start(byte), length(byte), &holder)) != 0
        return isHeld ? holder : nil
    }

    /// Releases the lock of this open file; nothing happens if there is none.
    package static func unlock(_ descriptor: CInt, byte: Int? = nil) throws(Errno) {
        try checked(space_ofd_set_lock(descriptor, Int16(F_UNLCK), start(byte), length(byte)))
    }

    // fcntl(2): l_len 0 reaches from l_start to the largest possible offset. A negative position gives EINVAL.
    private static func start(_ byte: Int?) -> Int64 { Int64(byte ?? 0) }
    private static func length(_ byte: Int?) -> Int64 { byte == nil ? 0 : 1 }
}
