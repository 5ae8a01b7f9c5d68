import CSpaceShims
package import SystemPackage

// A lock between processes that survives the death of its holder.
//
// Guarantees: At most one thread of all processes holds the lock. If the holder dies by any means (SIGKILL, exec, its
// thread's end), the next thread that locks gets the lock, and learns that the data may be half-changed. No thread
// waits longer than it asked for, whatever the holder does.
//
// These hold because the kernel walks a dying thread's list of robust mutexes (get_robust_list(2)) and marks each of
// them. The links of that list lie in the mutexes, so a map must not be released while a thread holds one of its
// mutexes.
//
// The lock is not fair: while a thread waits for a busy lock, others may get it again and again.

/// A robust, error-checking mutex with time-outs, in memory that several processes map.
///
/// The lock belongs to the *thread* that took it. Unlock it on the same thread, with no suspension point in between.
///
/// `@unchecked Sendable`: it holds only an address, and only pthread functions, which are made for many threads, access
/// the memory there. The code that makes this value keeps the memory mapped.
package struct SharedMutex: @unchecked Sendable {
    package enum Acquisition: Hashable, Sendable {
        /// This thread holds the lock, and the data are as the last holder left them.
        case acquired
        /// This thread holds the lock, but the last holder died with it: recover the data, then call
        /// `markConsistent()`. If it is unlocked without that call, the lock is unusable for all threads
        /// (`ENOTRECOVERABLE`).
        case abandoned
        /// Another thread holds the lock.
        case timedOut
    }

    private let mutex: UnsafeMutableRawPointer

    /// The size of a mutex in bytes.
    package static var size: Int { space_mutex_size() }
    package static var alignment: Int { space_mutex_alignment() }

    /// The layout and algorithm as a number: the C library (1 is glibc) in the upper half, the size in the lower.
    ///
    /// Two programs may share a mutex only if the number is equal in both.
    package static var abi: UInt32 { space_mutex_library() << 16 | UInt32(truncatingIfNeeded: size) }

    /// A mutex at this address; nothing is read or written yet.
    package init(at address: UnsafeMutableRawPointer) {
        mutex = address
    }

    /// Makes the memory an unlocked mutex; no other thread may use it as a mutex meanwhile.
    package func initialise() throws(Errno) {
        guard UInt(bitPattern: mutex) % UInt(Self.alignment) == 0 else { throw .invalidArgument }
        try checked(space_mutex_initialise(mutex))
    }

    /// Locks the mutex without waiting; `.timedOut` if another thread holds it.
    ///
    /// - Throws: `EDEADLK` if this thread holds it already, `ENOTRECOVERABLE` if it was unlocked as inconsistent after
    ///   a death.
    package func tryLock() throws(Errno) -> Acquisition {
        try acquisition(space_mutex_trylock(mutex))
    }

    /// Locks the mutex, and waits until `deadline` at the latest.
    ///
    /// - Throws: `EDEADLK` if this thread holds it already, `ENOTRECOVERABLE` if it was unlocked as inconsistent after
    ///   a death.
    package func lock(until deadline: MonotonicInstant) throws(Errno) -> Acquisition {
        // pthread_mutex_clocklock(3) doesn't read the clock if it needn't wait.
        try acquisition(space_mutex_lock_until(mutex, deadline.nanoseconds))
    }

    /// Marks the data as recovered, after `.abandoned`.
    package func markConsistent() throws(Errno) {
        try checked(space_mutex_mark_consistent(mutex))
    }

    /// Unlocks the mutex.
    ///
    /// - Throws: `EPERM` if this thread doesn't hold it.
    package func unlock() throws(Errno) {
        try checked(space_mutex_unlock(mutex))
    }

    /// Marks the mutex as abandoned by a dead holder, as the kernel does when a holder dies.
    ///
    /// It is for a holder whose death the kernel did not mark: a thread that no longer exists although its number is in
    /// the mutex.
    ///
    /// - Returns: `false` if another thread holds the mutex, or none.
    package func abandon(by thread: Int32) -> Bool { space_mutex_abandon(mutex, thread) != 0 }

    /// Whether the memory holds a robust, process-shared mutex of the default type, as LMDB makes its own.
    package var isRobustShared: Bool { space_mutex_is_robust_shared(mutex) != 0 }

    /// The thread that holds the mutex now, as gettid(2) numbers it; 0 if none does.
    package var owner: Int32 { space_mutex_owner(mutex) }

    private func acquisition(_ result: CInt) throws(Errno) -> Acquisition {
        switch Errno(rawValue: -result) {
        case Errno(rawValue: 0): return .acquired
        case .previousOwnerDied: return .abandoned
        case .timedOut: return .timedOut
        case let error: throw error
        }
    }
}
