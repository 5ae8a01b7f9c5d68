import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// The threads of the bell room: one listens and runs what is to be run, and another listens in its place as soon as it runs
/// somebody's handler.
///
/// Guarantees: while there are bells to hear, some thread listens. A job that does not return holds up neither the bells nor, for
/// longer than `patience`, the jobs behind it; and the more jobs run already, the sooner another thread takes over, so that
/// hundreds that block delay the next job by some hundredths of a second. All threads sleep in `epoll_wait` on one instance, edge-triggered: the
/// kernel wakes one of them for each news, the one that fell asleep last, so the second costs nothing as long as
/// the first returns in time (epoll(7): "at most one thread").
///
/// The threads are as many as jobs block, and one more; the bound is the number of observers, because each has one job at a time.
/// Where the process can have no more threads (RLIMIT_NPROC, a cgroup's pids.max), the last one keeps listening and leaves
/// the jobs to those that come back; it asks for a thread again at every tick.
final class HandlerThreads: Sendable {
    typealias Job = @Sendable () -> Void

    /// How long jobs wait behind one that is running until another thread takes them over; half as long for each more that runs.
    private static let patience = Duration.milliseconds(5)

    private static let wakeToken: UInt64 = 0
    private static let alarmToken: UInt64 = 1
    private static let bellToken: UInt64 = 2

    private let ears: Ears?
    private let queue = Mutex(Queue())
    private let threads = Atomic<Int>(0)
    /// How many threads sleep, or are about to.
    private let listening = Atomic<Int>(0)
    /// When the next tick is due, monotonic ns.
    private let nextTick = Atomic<Int64>(0)

    private struct Queue {
        var jobs: ArraySlice<Job> = []
        var isAlarmSet = false
        /// How many jobs have begun and not returned.
        var running = 0
    }

    private final class Ears: Sendable {
        let epoll: Epoll
        let wakeUp: EventFD
        let alarm: TimerFD

        init() throws(Errno) {
            epoll = try Epoll()
            wakeUp = try EventFD()
            alarm = try TimerFD()
            try epoll.add(wakeUp.raw, .readable, token: HandlerThreads.wakeToken)
            try epoll.add(alarm.raw, .readable, token: HandlerThreads.alarmToken)
        }
    }

    init() { ears = try? Ears() }

    /// Listens to a descriptor for bells.
    ///
    /// Returns: Whether it could.
    func listen(to descriptor: CInt) -> Bool {
        (try? ears?.epoll.add(descriptor, [.readable, .edgeTriggered], token: Self.bellToken)) != nil
    }

    /// Has a thread look at its deadline, and at the jobs.
    func wake() { try? ears?.wakeUp.signal() }

    /// How many threads there are.
    var threadCount: Int { threads.load(ordering: .relaxed) }

    // MARK: Jobs

    /// Enters a job, from one of the crew's own threads, which comes to it by itself.
    func post(_ job: @escaping Job) { queue.withLock { $0.jobs.append(job) } }

    /// Enters a job from elsewhere.
    func submit(_ job: @escaping Job) {
        post(job)
        wake()
    }

    private func work(_ room: EventLoop) {
        while let job = nextJob(room) {
            job()
            queue.withLock { $0.running -= 1 }
        }
    }

    private func nextJob(_ room: EventLoop) -> Job? {
        guard queue.withLock({ !$0.jobs.isEmpty }) else { return nil }
        let hasRelief = hasRelief(room)
        return queue.withLock { queue in
            let job = hasRelief ? queue.jobs.popFirst() : nil
            // Who waits behind this one is to be served, should it not return.
            if job != nil { queue.running += 1 }
            if job != nil, !queue.jobs.isEmpty {
                try? ears?.alarm.set(Self.patience / (1 << min(queue.running - 1, 6)))
                queue.isAlarmSet = true
            } else if queue.isAlarmSet {
                try? ears?.alarm.stop()
                queue.isAlarmSet = false
            }
            return job
        }
    }

    /// Sees to it that somebody listens while this thread runs a job.
    private func hasRelief(_ room: EventLoop) -> Bool {
        if listening.load(ordering: .sequentiallyConsistent) > 0 { return true }
        threads.add(1, ordering: .sequentiallyConsistent)
        if startThread(room) { return true }
        // The only thread runs jobs all the same: one that blocks then holds up the others.
        return threads.load(ordering: .sequentiallyConsistent) <= 1
    }

    // MARK: Threads

    /// Sees to it that there is a thread.
    func start(_ room: EventLoop) {
        guard threads.compareExchange(expected: 0, desired: 1, ordering: .sequentiallyConsistent).exchanged else {
            return
        }
        nextTick.store(MonotonicInstant.now.advanced(by: Limits.tick).nanoseconds, ordering: .relaxed)
        startThread(room)
    }

    /// Starts a thread that the caller has counted.
    ///
    /// Returns: Whether there was one to be had.
    @discardableResult
    private func startThread(_ room: EventLoop) -> Bool {
        // Counted before it comes to it: who looks meanwhile needs not start another.
        listening.add(1, ordering: .sequentiallyConsistent)
        do throws(Errno) {
            try DetachedThread.start { room.crew.run(room) }
            return true
        } catch {
            threads.subtract(1, ordering: .sequentiallyConsistent)
            listening.subtract(1, ordering: .sequentiallyConsistent)
            return false
        }
    }

    private func run(_ room: EventLoop) {
        while true {
            let ready = sleep(room)
            listening.subtract(1, ordering: .sequentiallyConsistent)
            for event in ready {
                if event.token == Self.wakeToken { _ = try? ears?.wakeUp.drain() }
                if event.token == Self.bellToken { room.hearSignals() }
            }
            let now = MonotonicInstant.now
            if isTick(now) { room.tick() }
            room.resumeLate(now)
            work(room)
            // One listens, and one more for the time that it runs a job.
            if listening.load(ordering: .sequentiallyConsistent) > 1 {
                threads.subtract(1, ordering: .sequentiallyConsistent)
                return
            }
            listening.add(1, ordering: .sequentiallyConsistent)
        }
    }

    private func sleep(_ room: EventLoop) -> [Epoll.Ready] {
        guard let ears else {
            poll(nil, 0, Limits.tick.pollMilliseconds)
            return []
        }
        var end = MonotonicInstant(nanoseconds: nextTick.load(ordering: .relaxed))
        // The first one ticks; the second only should the first one fail to.
        if listening.load(ordering: .relaxed) > 1 { end = end.advanced(by: Limits.tick) }
        if let deadline = room.nextDeadline { end = min(end, deadline) }
        return (try? ears.epoll.wait(timeout: end.remaining)) ?? []
    }

    /// Whether a tick is due, and this thread's.
    private func isTick(_ now: MonotonicInstant) -> Bool {
        let due = nextTick.load(ordering: .relaxed)
        guard now.nanoseconds >= due else { return false }
        let next = now.advanced(by: Limits.tick).nanoseconds
        return nextTick.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged
    }
}
