import Glibc
package import SpaceSystem
package import SystemPackage

/// A lock between processes with a time-out, which knows its holder: the door and the gate.
///
/// Guarantees: nobody waits longer than its time-out (against stopped holders), a killed holder is noticed at once
/// (`pthread_mutexattr_setrobust(3)`), the holder can be named, and nobody starves. The mutex itself is unfair: a thread that
/// writes in a loop takes it again before one that sleeps on it has woken. So whoever has waited for 10 ms asks
/// for politeness by writing a time into `politeUntil`, and for that long every releaser lets another go first. A time, not
/// a count: a waiter that is killed leaves nothing to undo.
///
/// A crowd must not be kept busy by its own waiting. So of the threads of a process one at a time waits for the mutex; the
/// others queue up within the process, asleep. And that one asks for politeness after 10 ms, then 20, 40, up to 160.
package struct ProcessLock: Sendable {
    package enum Name: String, Sendable { case door, gate }

    /// Why a lock was not obtained in time.
    package struct Failure: Error, Sendable {
        package let lock: Name
        package let pid: Int32
        /// Why the holder, which has not moved, does not run; `nil`: it does, or that can't be told.
        package let halt: ProcessIdentity.Halt?
        /// Others took the lock and released it meanwhile.
        package let hasMoved: Bool
        package let errno: Errno?
        /// The thread that holds it, if that thread doesn't exist any more; 0: it does, or none holds it.
        package var orphanedBy: Int32 = 0
    }

    private static let mutexSpan = 64
    private static let patience = Duration.milliseconds(10)
    private static let longestPatience = Duration.milliseconds(160)
    /// How many times its time-out an opener waits at the door of a namespace as long as others pass through it.
    private static let patienceAtTheDoor = 12

    package let name: Name
    /// getpid(2) is a system call; a child made by fork uses no lock that its parent mapped.
    private let pid = getpid()
    let mutex: SharedMutex
    private let holder: SharedWord32
    private let acquisitions: SharedWord64
    private let politeUntil: SharedWord64
    private let queue: ThreadQueue

    package init(_ name: Name, at address: UnsafeMutableRawPointer) throws(Errno) {
        self.name = name
        mutex = SharedMutex(at: address)
        holder = SharedWord32(at: address + Self.mutexSpan)
        acquisitions = SharedWord64(at: address + Self.mutexSpan + 8)
        politeUntil = SharedWord64(at: address + Self.mutexSpan + 16)
        queue = try ThreadQueue()
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
    package func acquire(timeout: Duration) throws(Failure) -> Bool {
        if let abandoned = try tryAcquire() { return abandoned }
        // The door of a crowd is busy for longer than one time-out: an opener waits as long as it moves, with a limit.
        for _ in 1..<(name == .door ? Self.patienceAtTheDoor : 1) {
            do throws(Failure) {
                return try acquireWhileItStands(timeout: timeout)
            } catch {
                guard error.hasMoved else { throw error }
            }
        }
        return try acquireWhileItStands(timeout: timeout)
    }

    private func acquireWhileItStands(timeout: Duration) throws(Failure) -> Bool {
        let before = progress
        do throws(Errno) {
            if let abandoned = try wait(timeout: timeout) { return abandoned }
        } catch {
            throw Failure(lock: name, pid: holderPID, halt: nil, hasMoved: false, errno: error)
        }
        let owner = mutex.owner
        let hasMoved = progress != before
        if !hasMoved, owner != 0, ProcFS.isGone(thread: owner) {
            throw Failure(lock: name, pid: 0, halt: nil, hasMoved: false, errno: nil, orphanedBy: owner)
        }
        throw stoppedHolder(since: before)
            ?? Failure(lock: name, pid: holderPID, halt: nil, hasMoved: hasMoved, errno: nil)
    }

    /// What shows that a lock has changed hands: its holder's thread, and how often it was taken.
    struct Progress: Equatable, Sendable {
        let thread: Int32
        let count: UInt64
    }

    var progress: Progress { Progress(thread: mutex.owner, count: acquisitions.load()) }

    /// The failure that names the holder, if it is stopped and has held the lock without a break since an earlier look.
    ///
    /// A time-out alone is no proof of that: a busy lock can starve one caller.
    func stoppedHolder(since before: Progress) -> Failure? {
        let pid = holderPID
        guard progress == before, let halt = ProcessIdentity.halt(of: pid) else { return nil }
        return Failure(lock: name, pid: pid, halt: halt, hasMoved: false, errno: nil)
    }

    /// Takes the lock if nobody holds it.
    ///
    /// - Returns: `nil` if somebody does, else whether the last holder was killed.
    package func tryAcquire() throws(Failure) -> Bool? {
        do throws(Errno) {
            switch try mutex.tryLock() {
            case .acquired: return try note(abandoned: false)
            case .abandoned: return try note(abandoned: true)
            case .timedOut: return nil
            }
        } catch {
            throw Failure(lock: name, pid: holderPID, halt: nil, hasMoved: false, errno: error)
        }
    }

    package func release() {
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
        guard try queue.enter(until: Safeguard.timeLimit.stands ? deadline : nil) else { return nil }
        defer { queue.leave() }
        var patience = Self.patience
        var next = min(deadline, MonotonicInstant.now.advanced(by: patience))
        while true {
            switch try mutex.lock(until: next) {
            case .acquired: return try note(abandoned: false)
            case .abandoned: return try note(abandoned: true)
            case .timedOut:
                let now = MonotonicInstant.now
                guard now < deadline || !Safeguard.timeLimit.stands else { return nil }
                patience = min(patience + patience, Self.longestPatience)
                let polite = now.advanced(by: patience + patience)
                politeUntil.store(UInt64(bitPattern: Int64(polite.nanoseconds)))
                next = now < deadline ? min(deadline, now.advanced(by: patience)) : now.advanced(by: patience)
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

/// Where the threads of this process that want one lock wait for their turn to wait for it.
///
/// Unchecked Sendable: the memory belongs to the mutex in it, which is made for many threads.
private final class ThreadQueue: @unchecked Sendable {
    private let memory: UnsafeMutableRawPointer
    private let mutex: SharedMutex

    init() throws(Errno) {
        memory = .allocate(byteCount: SharedMutex.size, alignment: SharedMutex.alignment)
        mutex = SharedMutex(at: memory)
        try mutex.initialise()
    }

    deinit { memory.deallocate() }

    /// - Returns: Whether it is the thread's turn; not when the deadline has passed.
    func enter(until deadline: MonotonicInstant?) throws(Errno) -> Bool {
        let distantFuture = MonotonicInstant.now.advanced(by: .seconds(86_400))
        switch try mutex.lock(until: deadline ?? distantFuture) {
        case .acquired: return true
        case .abandoned:
            // A thread ended in the queue (pthread_exit in a signal handler, say): there is nothing to mend.
            try mutex.markConsistent()
            return true
        case .timedOut: return false
        }
    }

    // EPERM, the only error, would mean that this thread has not entered.
    func leave() { try? mutex.unlock() }
}
