import CSpaceShims
package import SystemPackage

// A lock between processes that survives what they do to it.
//
// Guarantees: at most one thread of all processes holds it; when the holder dies by whatever means (SIGKILL, exec, its
// thread's end), the next to lock gets it with the news that the data may be half-changed; nobody waits longer than
// asked, whatever the holder does. It keeps them because the kernel walks a dying thread's list of robust mutexes
// (get_robust_list(2)) and marks each; the list lives in the thread, so a mapping must not be undone while one of its
// mutexes is held. It is not fair: a busy lock can be had by others again and again while one waits.

/// A robust, error-checking mutex with time-outs, in memory that several processes map.
///
/// A lock belongs to the *thread* that took it: unlock on the same one, so no suspension point lies between.
///
/// `@unchecked Sendable`: all it holds is an address, and the memory there is touched by pthread functions alone, which
/// are made for many threads. That the memory stays mapped is the duty of whoever made this value.
package struct SharedMutex: @unchecked Sendable {
    package enum Acquisition: Hashable, Sendable {
        /// Held now, and the data are as the last holder left them.
        case acquired
        /// Held now, but the last holder died with it: recover the data, then `markConsistent()`. Unlocked without
        /// that, it is lost for everybody (`ENOTRECOVERABLE`).
        case abandoned
        /// Not held: somebody else has it.
        case timedOut
    }

    private let mutex: UnsafeMutableRawPointer

    /// The bytes that a mutex takes up.
    package static var size: Int { space_mutex_size() }
    package static var alignment: Int { space_mutex_alignment() }

    /// Names the layout and algorithm: the C library (1: glibc) in the upper half, the size in the lower.
    ///
    /// Two programs may share a mutex only if it is equal in both.
    package static var abi: UInt32 { space_mutex_library() << 16 | UInt32(truncatingIfNeeded: size) }

    /// A mutex at this address; nothing is read or written yet.
    package init(at address: UnsafeMutableRawPointer) {
        mutex = address
    }

    /// Makes the memory an unlocked mutex; nobody else may be using it as one.
    package func initialise() throws(Errno) {
        guard UInt(bitPattern: mutex) % UInt(Self.alignment) == 0 else { throw .invalidArgument }
        try checked(space_mutex_initialise(mutex))
    }

    /// Locks it if that needs no waiting; `.timedOut` if somebody has it.
    ///
    /// - Throws: `EDEADLK` when this very thread has it, `ENOTRECOVERABLE` when it was given up after a death.
    package func tryLock() throws(Errno) -> Acquisition {
        try acquisition(space_mutex_trylock(mutex))
    }

    /// Locks it, waiting until `deadline` at the latest.
    ///
    /// - Throws: `EDEADLK` when this very thread has it, `ENOTRECOVERABLE` when it was given up after a death.
    package func lock(until deadline: MonotonicInstant) throws(Errno) -> Acquisition {
        // pthread_mutex_clocklock(3) doesn't look at the clock either if it needn't wait.
        try acquisition(space_mutex_lock_until(mutex, deadline.nanoseconds))
    }

    /// Locks it, waiting for at most `limit`; reads the clock only if it must wait.
    package func lock(within limit: Duration) throws(Errno) -> Acquisition {
        let tried = try tryLock()
        guard tried == .timedOut else { return tried }
        let deadline = MonotonicInstant.now.advanced(by: limit)
        return try acquisition(space_mutex_lock_until(mutex, deadline.nanoseconds))
    }

    /// Says that the data are in order again after `.abandoned`.
    package func markConsistent() throws(Errno) {
        try checked(space_mutex_mark_consistent(mutex))
    }

    /// Unlocks it.
    ///
    /// - Throws: `EPERM` when this thread doesn't have it.
    package func unlock() throws(Errno) {
        try checked(space_mutex_unlock(mutex))
    }

    /// Lets the next to lock it learn that its holder is dead, as the kernel does when a holder dies.
    ///
    /// For a holder whose death the kernel could not tell: a thread that doesn't exist, though its number stands in the mutex.
    ///
    /// - Returns: `false` if another thread holds it, or none.
    package func abandon(by thread: Int32) -> Bool { space_mutex_abandon(mutex, thread) != 0 }

    /// Whether the memory holds a mutex that another program made robust and shared, of the default type.
    package var isRobustShared: Bool { space_mutex_is_robust_shared(mutex) != 0 }

    /// The thread that holds it now, as gettid(2) numbers it; 0 if none does.
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
