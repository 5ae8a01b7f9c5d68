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

    /// Locks one byte of the file against exclusive locks, beside any number of others that do the same; never waits.
    ///
    /// - Parameters:
    ///   - descriptor: a file open for reading.
    ///   - byte: a position, which may lie beyond the file's end.
    /// - Returns: `false` when another open file holds an exclusive lock on that byte.
    /// - Throws: `EBADF` when it isn't open for reading, `ENOLCK` when the kernel has no room for more locks.
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

    /// The ranges that other open files have locked from a position on, in no order; acquires nothing.
    ///
    /// - Parameters:
    ///   - descriptor: an open file.
    ///   - first: the position to begin at.
    ///   - limit: after how many ranges to stop.
    /// - Returns: the ranges; those that reach to the largest offset end at `Int.max`.
    /// - Throws: what fcntl(2) gives.
    /// - Complexity: two system calls a range, each linear in the locks of the file.
    package static func heldByOthers(_ descriptor: CInt, from first: Int, limit: Int) throws(Errno) -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The kernel names any lock in a range, not the first one: what lies before it and behind it is asked for again.
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

    /// Whether another open file, here or in another process, holds a lock on it; acquires nothing.
    ///
    /// Testing by acquiring would make two testers see each other, and an opener see a tester.
    package static func isHeldByAnother(_ descriptor: CInt, byte: Int? = nil) throws(Errno) -> Bool {
        try checked(space_ofd_is_locked(descriptor, start(byte), length(byte))) != 0
    }

    /// The process that holds an exclusive POSIX or open-file lock on one byte, as far as it isn't this one's POSIX lock.
    ///
    /// - Returns: `nil` when there is none; −1 for a lock of an open file, whose holder the kernel doesn't tell.
    package static func exclusiveHolder(_ descriptor: CInt, byte: Int) throws(Errno) -> Int32? {
        var holder: Int32 = 0
        let isHeld = try checked(space_lock_writer(descriptor, start(byte), length(byte), &holder)) != 0
        return isHeld ? holder : nil
    }

    /// Gives up the lock of this open file; nothing happens if there is none.
    package static func unlock(_ descriptor: CInt, byte: Int? = nil) throws(Errno) {
        try checked(space_ofd_set_lock(descriptor, Int16(F_UNLCK), start(byte), length(byte)))
    }

    // fcntl(2): l_len 0 reaches from l_start to the largest possible offset. A negative position comes back as EINVAL.
    private static func start(_ byte: Int?) -> Int64 { Int64(byte ?? 0) }
    private static func length(_ byte: Int?) -> Int64 { byte == nil ? 0 : 1 }
}
