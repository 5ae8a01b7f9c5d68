import Glibc
import SpaceSystem
import SystemPackage

/// A lock between processes with a time-out, which knows its holder: the door and the gate.
///
/// Guarantees: nobody waits longer than its time-out (against stopped holders), a killed holder is noticed at once
/// (`pthread_mutexattr_setrobust(3)`), the holder can be named, and nobody starves. The mutex itself is unfair: a thread that
/// writes in a loop takes it again before one that sleeps on it has woken. So whoever has waited for 10 ms asks
/// for politeness by writing a time into `politeUntil`, and for that long every releaser lets another go first. A time, not
/// a count: a waiter that is killed leaves nothing to undo.
struct ProcessLock: Sendable {
    enum Name: String, Sendable { case door, gate }

    /// Why a lock was not obtained in time.
    struct Failure: Error, Sendable {
        let lock: Name
        let pid: Int32
        /// The holder neither moved nor runs: its state in /proc is T or t.
        let isStopped: Bool
        let errno: Errno?
    }

    private static let mutexSpan = 64
    private static let patience = Duration.milliseconds(10)

    private let name: Name
    /// getpid(2) is a system call; a child made by fork uses no lock that its parent mapped.
    private let pid = getpid()
    private let mutex: SharedMutex
    private let holder: SharedWord32
    private let acquisitions: SharedWord64
    private let politeUntil: SharedWord64

    init(_ name: Name, at address: UnsafeMutableRawPointer) {
        self.name = name
        mutex = SharedMutex(at: address)
        holder = SharedWord32(at: address + Self.mutexSpan)
        acquisitions = SharedWord64(at: address + Self.mutexSpan + 8)
        politeUntil = SharedWord64(at: address + Self.mutexSpan + 16)
    }

    func initialise() throws(Errno) { try mutex.initialise() }

    /// The PID of who holds the lock now, 0 if nobody.
    ///
    /// The mutex names its holder's thread at every instant; the word beside it does not yet, or no longer, when a process
    /// is stopped between the two. The word serves where /proc doesn't show the thread. Reads files, so not for who gets it.
    var holderPID: Int32 {
        (Safeguard.lockWord.stands ? ProcFS.process(ofThread: mutex.owner) : nil) ?? Int32(bitPattern: holder.load())
    }

    /// Takes the lock.
    ///
    /// - Returns: Whether the last holder was killed while he held it. The lock is consistent again then; what it protects
    ///   is the caller's to mend.
    func acquire(timeout: Duration) throws(Failure) -> Bool {
        if let abandoned = try tryAcquire() { return abandoned }
        let before = (thread: mutex.owner, count: acquisitions.load())
        do throws(Errno) {
            if let abandoned = try wait(timeout: timeout) { return abandoned }
        } catch {
            throw Failure(lock: name, pid: holderPID, isStopped: false, errno: error)
        }
        // A time-out alone is no proof that the holder is stopped: a busy lock can starve one caller.
        let hasMoved = mutex.owner != before.thread || acquisitions.load() != before.count
        let pid = holderPID
        let state = ProcessIdentity.state(of: pid)
        throw Failure(lock: name, pid: pid, isStopped: !hasMoved && (state == "T" || state == "t"), errno: nil)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// - Returns: `nil` if somebody does, else whether the last holder was killed.
    func tryAcquire() throws(Failure) -> Bool? {
        do throws(Errno) {
            switch try mutex.tryLock() {
            case .acquired: return try note(abandoned: false)
            case .abandoned: return try note(abandoned: true)
            case .timedOut: return nil
            }
        } catch {
            throw Failure(lock: name, pid: holderPID, isStopped: false, errno: error)
        }
    }

    func release() {
        let taken = acquisitions.loadRelaxed()
        holder.store(0)
        CrashPoint.reach(.lockForgotten)
        // EPERM, the only error, would mean that this thread does not hold it: a caller's bug, without a remedy here.
        try? mutex.unlock()
        if politeUntil.loadRelaxed() != 0 { letAnotherGoFirst(after: taken) }
    }

    private func note(abandoned: Bool) throws(Errno) -> Bool {
        CrashPoint.reach(.lockUnnamed)
        if abandoned { try mutex.markConsistent() }
        holder.store(UInt32(bitPattern: pid))
        acquisitions.store(acquisitions.loadRelaxed() &+ 1)
        return abandoned
    }

    private func wait(timeout: Duration) throws(Errno) -> Bool? {
        let start = MonotonicInstant.now
        let deadline = start.advanced(by: timeout)
        var next = min(deadline, start.advanced(by: Self.patience))
        while true {
            switch try mutex.lock(until: next) {
            case .acquired: return try note(abandoned: false)
            case .abandoned: return try note(abandoned: true)
            case .timedOut:
                let now = MonotonicInstant.now
                guard now < deadline || !Safeguard.timeLimit.stands else { return nil }
                let polite = now.advanced(by: Self.patience + Self.patience)
                politeUntil.store(UInt64(bitPattern: Int64(polite.nanoseconds)))
                next = min(deadline, now.advanced(by: Self.patience))
            }
        }
    }

    private func letAnotherGoFirst(after taken: UInt64) {
        let until = politeUntil.load()
        let now = MonotonicInstant.now
        guard until > UInt64(bitPattern: Int64(now.nanoseconds)) else {
            _ = politeUntil.compareExchange(expected: until, desired: 0)
            return
        }
        let end = now.advanced(by: .milliseconds(2))
        while acquisitions.load() == taken, MonotonicInstant.now < end { sched_yield() }
        _ = politeUntil.compareExchange(expected: until, desired: 0)
    }
}
