package import SpaceSystem
import Synchronization
package import SystemPackage

/// A lock between processes with a time-out, which knows its holder: the door and the gate.
///
/// Guarantees: no thread waits longer than its time-out, even if the holder is stopped, nor longer than a fraction of a second
/// after the process was told to end (`Interruption.ofProcess`). A killed holder is noticed at
/// once (`pthread_mutexattr_setrobust(3)`). The holder can be named. No waiter starves. The mutex itself is unfair: a
/// thread that writes in a loop takes it again before a thread that sleeps on it has woken. So a thread that has waited
/// for 10 ms asks the others to be polite by writing a time into `politeUntil`. Until that time, every process that
/// releases the lock lets another go first. The word is a time, not a count, so a waiter that is killed leaves nothing
/// to undo.
///
/// Many waiters must not keep each other busy. So only one thread of a process waits for the mutex at a time; the other
/// threads sleep in a queue within the process. The one that waits asks for politeness after 10 ms, then after 20 ms,
/// 40 ms, and so on up to 160 ms.
package final class ProcessLock: Sendable {
    package enum Name: String, Sendable { case door, gate }

    /// Why a lock was not obtained in time.
    package struct Failure: Error, Sendable {
        package let lock: Name
        package let pid: Int32
        /// Why the holder, which has not changed, does not run; `nil` if it runs or this can't be found out.
        package let halt: ProcessIdentity.Halt?
        /// Whether other threads took and released the lock during the wait.
        package let hasMoved: Bool
        package let errno: Errno?
        /// The thread that holds the lock, if it no longer exists, or 0 if it exists or no thread holds the lock.
        package var orphanedBy: Int32 = 0
    }

    /// How long a thread spins before it sleeps: somewhat longer than a commit takes.
    private static let longestSpin = Duration.microseconds(5)
    private static let patience = Duration.milliseconds(10)
    private static let longestPatience = Duration.milliseconds(160)
    /// How long a process that was told to end waits at most: other processes can do its clean-up.
    private static let patienceAfterInterruption = Duration.seconds(5)
    /// How many time-outs an opener waits at a namespace's door while others pass through it.
    private static let patienceAtTheDoor = 12

    package let name: Name
    let words: LockWords
    private let queue: ThreadQueue
    private let spinPolicy = SpinPolicy()
    /// The last hold by a stopped process at which a wait of this process timed out.
    private let stopped = Mutex<Progress?>(nil)

    package init(_ name: Name, at address: UnsafeMutableRawPointer) throws(Errno) {
        self.name = name
        words = LockWords(at: address)
        queue = try ThreadQueue()
    }

    var mutex: SharedMutex { words.mutex }

    func initialise() throws(Errno) { try mutex.initialise() }

    /// The PID of the process that holds the lock now, or 0 if none does.
    ///
    /// The mutex names its holder's thread at every instant. The word beside it is not set yet, or no longer set, if a
    /// process is stopped between the two steps. The word is used if /proc doesn't show the thread. This property reads
    /// files, so a caller that takes the lock doesn't use it.
    var holderPID: Int32 {
        (Safeguard.lockWord.stands ? ProcFS.process(ofThread: mutex.owner) : nil)
            ?? Int32(bitPattern: words.holder.load())
    }

    /// Takes the lock.
    ///
    /// - Returns: Whether the last holder was killed while it held the lock. The lock is then consistent again, and the
    ///   caller has to repair what it protects.
    package func acquire(timeout: Duration) throws(Failure) -> Bool {
        if let abandoned = try tryAcquire() { return abandoned }
        if name == .gate, let abandoned = try spin() { return abandoned }
        // The door of a namespace with many users is busy for longer than one time-out. An opener waits as long as the
        // door changes hands, up to a limit.
        for _ in 1..<(name == .door ? Self.patienceAtTheDoor : 1) {
            do throws(Failure) {
                return try acquireWhileItStands(timeout: timeout)
            } catch {
                guard error.hasMoved else { throw error }
            }
        }
        return try acquireWhileItStands(timeout: timeout)
    }

    /// Takes the lock if its holder releases it soon, as a holder on another processor usually does: most hold it for
    /// less time than a system call takes.
    ///
    /// A thread doesn't spin while others of its process wait for the lock, or while a waiter of any process asks for
    /// politeness; nor for a holder that took the lock on this thread's processor, because that holder can't go on
    /// during the spin.
    private func spin() throws(Failure) -> Bool? {
        guard !queue.isInUse, words.politeUntil.loadRelaxed() == 0, Spin.isApart(words.processor.loadRelaxed()),
            spinPolicy.isDue()
        else { return nil }
        var abandoned: Bool?
        let isAnswered = try Spin.wait(
            for: Self.longestSpin,
            while: { Spin.isApart(words.processor.loadRelaxed()) },
            until: { () throws(Failure) in
                guard mutex.owner == 0 else { return false }
                abandoned = try tryAcquire()
                return abandoned != nil
            }
        )
        if let isAnswered { spinPolicy.note(isAnswered: isAnswered) }
        return abandoned
    }

    private func acquireWhileItStands(timeout: Duration) throws(Failure) -> Bool {
        let before = progress
        do throws(Errno) {
            if let abandoned = try wait(timeout: timeout) { return abandoned }
        } catch {
            throw failure(error)
        }
        let owner = mutex.owner
        let hasMoved = progress != before
        if !hasMoved, owner != 0, ProcFS.isGone(thread: owner) {
            throw Failure(lock: name, pid: 0, halt: nil, hasMoved: false, errno: nil, orphanedBy: owner)
        }
        if let failure = stoppedHolder(since: before) {
            stopped.withLock { $0 = before }
            throw failure
        }
        throw Failure(lock: name, pid: holderPID, halt: nil, hasMoved: hasMoved, errno: nil)
    }

    /// What shows that a lock has changed hands: its holder's thread, and how often the lock was taken.
    struct Progress: Equatable, Sendable {
        let thread: Int32
        let count: UInt64
    }

    var progress: Progress { Progress(thread: mutex.owner, count: words.acquisitions.load()) }

    /// Whether the lock's holder is a stopped process, and a wait of this process has timed out during the same hold.
    var isKnownToBeStopped: Bool {
        guard let known = stopped.withLock({ $0 }) else { return false }
        return stoppedHolder(since: known) != nil
    }

    /// The failure that names the holder, if it is stopped and has held the lock without a break since an earlier look.
    ///
    /// A time-out alone does not prove that, because a busy lock can starve one caller.
    func stoppedHolder(since before: Progress) -> Failure? {
        let pid = holderPID
        guard progress == before, let halt = ProcessIdentity.halt(of: pid) else { return nil }
        return Failure(lock: name, pid: pid, halt: halt, hasMoved: false, errno: nil)
    }

    /// Takes the lock if it is free.
    ///
    /// - Returns: `nil` if another thread holds it, else whether the last holder was killed.
    package func tryAcquire() throws(Failure) -> Bool? {
        do throws(Errno) {
            return try words.tryAcquire()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: Errno) -> Failure {
        Failure(lock: name, pid: holderPID, halt: nil, hasMoved: false, errno: error)
    }

    package func release() { words.release() }

    private func wait(timeout: Duration) throws(Errno) -> Bool? {
        let start = MonotonicInstant.now
        let isInterrupted = Interruption.ofProcess.isTriggered
        var deadline = start.advanced(by: isInterrupted ? min(timeout, Self.patienceAfterInterruption) : timeout)
        guard try queue.enter(until: Safeguard.timeLimit.stands ? deadline : nil) else { return nil }
        defer { queue.leave() }
        var patience = Self.patience
        var next = min(deadline, MonotonicInstant.now.advanced(by: patience))
        while true {
            switch try mutex.lock(until: next) {
            case .acquired: return try words.note(abandoned: false)
            case .abandoned: return try words.note(abandoned: true)
            case .timedOut:
                let now = MonotonicInstant.now
                if !isInterrupted, Interruption.ofProcess.isTriggered { deadline = now }
                guard now < deadline || !Safeguard.timeLimit.stands else { return nil }
                patience = min(patience + patience, Self.longestPatience)
                let polite = now.advanced(by: patience + patience)
                words.politeUntil.store(UInt64(bitPattern: Int64(polite.nanoseconds)))
                next = now < deadline ? min(deadline, now.advanced(by: patience)) : now.advanced(by: patience)
            }
        }
    }
}

/// The queue in which threads of this process wait for their turn to wait for one lock.
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

    /// Waits for the thread's turn, and returns `false` if the deadline passed first.
    func enter(until deadline: MonotonicInstant?) throws(Errno) -> Bool {
        let distantFuture = MonotonicInstant.now.advanced(by: .seconds(86_400))
        switch try mutex.lock(until: deadline ?? distantFuture) {
        case .acquired: return true
        case .abandoned:
            // A thread ended while it was in the queue (by pthread_exit in a signal handler, say): there is nothing to
            // repair.
            try mutex.markConsistent()
            return true
        case .timedOut: return false
        }
    }

    /// Whether a thread has its turn.
    var isInUse: Bool { mutex.owner != 0 }

    // EPERM is the only error. It would mean that this thread has not entered.
    func leave() { try? mutex.unlock() }
}
