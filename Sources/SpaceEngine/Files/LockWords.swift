import Glibc
import SpaceSystem
import SystemPackage

/// The mutex of a lock between processes, and the words beside it, in shared memory.
///
/// These are only addresses, so taking a free lock and releasing it counts no references. `ProcessLock` waits for a busy
/// one.
package struct LockWords: Sendable {
    private static let mutexSpan = 64

    let mutex: SharedMutex
    /// The PID of the process that holds the lock; it is set after the mutex is taken, and cleared before its release.
    let holder: SharedWord32
    /// The number of the processor on which the last holder took the lock (`Spin.processor`).
    let processor: SharedWord32
    /// How often the lock was taken.
    let acquisitions: SharedWord64
    /// Until when each process that releases the lock lets another go first.
    let politeUntil: SharedWord64
    /// Kept here, because getpid(2) is a system call; a child made by fork uses no lock that its parent mapped.
    private let pid = getpid()

    init(at address: UnsafeMutableRawPointer) {
        mutex = SharedMutex(at: address)
        holder = SharedWord32(at: address + Self.mutexSpan)
        processor = SharedWord32(at: address + Self.mutexSpan + 4)
        acquisitions = SharedWord64(at: address + Self.mutexSpan + 8)
        politeUntil = SharedWord64(at: address + Self.mutexSpan + 16)
    }

    /// Takes the lock if it is free.
    ///
    /// - Returns: `nil` if another thread holds it, else whether the last holder was killed.
    @inline(__always)
    func tryAcquire() throws(Errno) -> Bool? {
        switch try mutex.tryLock() {
        case .acquired: return try note(abandoned: false)
        case .abandoned: return try note(abandoned: true)
        case .timedOut: return nil
        }
    }

    /// Notes that this thread has taken the mutex; the result is what it was told.
    @inline(__always)
    func note(abandoned: Bool) throws(Errno) -> Bool {
        CrashPoint.reach(.lockUnnamed)
        if abandoned { try mutex.markConsistent() }
        holder.store(UInt32(bitPattern: pid))
        processor.storeRelaxed(Spin.processor)
        acquisitions.store(acquisitions.loadRelaxed() &+ 1)
        return abandoned
    }

    @inline(__always)
    func release() {
        let taken = acquisitions.loadRelaxed()
        holder.store(0)
        CrashPoint.reach(.lockForgotten)
        // EPERM is the only error. It would mean that this thread does not hold the lock: a bug of the caller that
        // can't be repaired here.
        try? mutex.unlock()
        if politeUntil.loadRelaxed() != 0 { letAnotherGoFirst(after: taken) }
    }

    /// Sleeps until another thread has taken the lock, for two milliseconds at most.
    ///
    /// The thread that takes it wakes no sleeper, which would cost a system call: the sleep consists of short naps.
    @inline(never)
    private func letAnotherGoFirst(after taken: UInt64) {
        let until = politeUntil.load()
        let now = MonotonicInstant.now
        guard until > UInt64(bitPattern: Int64(now.nanoseconds)) else {
            _ = politeUntil.compareExchange(expected: until, desired: 0)
            return
        }
        let end = now.advanced(by: .milliseconds(2))
        // The lower half of the count; little-endian.
        let lower = Futex(at: UnsafeMutableRawPointer(acquisitions.address).assumingMemoryBound(to: UInt32.self))
        while acquisitions.load() == taken, MonotonicInstant.now < end {
            // The only possible error is a bad address.
            _ = try? lower.wait(while: UInt32(truncatingIfNeeded: taken), for: .microseconds(50))
        }
        _ = politeUntil.compareExchange(expected: until, desired: 0)
    }
}
