import SpaceSystem
import Synchronization
import SystemPackage

/// The threads of the event loop: one listens and runs jobs, and another one listens in its place while it runs a
/// handler.
///
/// Guarantees: while there are signals to hear, some thread listens. A job that does not return delays no signal, and
/// delays the jobs queued after it by at most `patience`. The more jobs are running, the sooner another thread takes
/// over, so that hundreds of blocked jobs delay the next one by some hundredths of a second. All threads sleep in
/// `epoll_wait` on one edge-triggered instance. The kernel wakes one of them for each event, the one that fell asleep
/// last, so a second thread costs nothing as long as the first one returns in time (epoll(7): "at most one thread").
///
/// There is one thread for each blocked job, and one more. The bound is the number of observers, because each has one
/// job at a time. If the process can have no more threads (RLIMIT_NPROC, a cgroup's pids.max), the last one keeps
/// listening and leaves the jobs to threads that return; at every tick it tries again to start a thread.
final class HandlerThreads: Sendable {
    typealias Job = @Sendable () -> Void

    /// The time after which another thread takes over the jobs behind a running one; it halves with each further
    /// running job.
    private static let patience = Duration.milliseconds(5)

    private static let wakeToken: UInt64 = 0
    private static let alarmToken: UInt64 = 1
    private static let signalToken: UInt64 = 2
    /// The first token of a process whose end is listened for.
    static let firstExitToken: UInt64 = 3

    private let ears: Ears?
    private let queue = Mutex(Queue())
    private let threads = Atomic<Int>(0)
    /// The number of threads that sleep, or are about to.
    private let listening = Atomic<Int>(0)
    /// Whether one of them sleeps no longer than until the next tick.
    private let isClockKept = Atomic<Bool>(false)
    /// How often a spare thread sleeps without getting work before it ends.
    private static let mostIdleTurns = 4

    private struct Queue {
        var jobs: ArraySlice<Job> = []
        var isAlarmSet = false
        /// The number of jobs that have begun and not returned.
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

    /// Listens to a descriptor for change signals.
    ///
    /// Returns whether the descriptor could be added.
    func listen(to descriptor: CInt) -> Bool { listen(to: descriptor, token: Self.signalToken) }

    /// Listens to a descriptor.
    ///
    /// Returns whether the descriptor could be added.
    func listen(to descriptor: CInt, token: UInt64) -> Bool {
        (try? ears?.epoll.add(descriptor, [.readable, .edgeTriggered], token: token)) != nil
    }

    /// Wakes a thread to look at its deadline and at the jobs.
    func wake() { try? ears?.wakeUp.signal() }

    // MARK: Jobs

    /// Adds a job from one of the handler threads, which gets to it by itself.
    func post(_ job: @escaping Job) { queue.withLock { $0.jobs.append(job) } }

    /// Adds a job from any other thread.
    func submit(_ job: @escaping Job) {
        post(job)
        wake()
    }

    private func work(_ loop: EventLoop) {
        while let job = nextJob(loop) {
            job()
            queue.withLock { $0.running -= 1 }
        }
    }

    private func nextJob(_ loop: EventLoop) -> Job? {
        guard queue.withLock({ !$0.jobs.isEmpty }) else { return nil }
        let hasRelief = hasRelief(loop)
        return queue.withLock { queue in
            let job = hasRelief ? queue.jobs.popFirst() : nil
            // The alarm is for the jobs behind this one, in case it does not return.
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

    /// Ensures that another thread listens while this thread runs a job.
    private func hasRelief(_ loop: EventLoop) -> Bool {
        if listening.load(ordering: .sequentiallyConsistent) > 0 { return true }
        threads.add(1, ordering: .sequentiallyConsistent)
        if startThread(loop) { return true }
        // If this is the only thread, it runs jobs even so, although a job that blocks then delays the others.
        return threads.load(ordering: .sequentiallyConsistent) <= 1
    }

    // MARK: Threads

    /// Ensures that there is a thread.
    ///
    /// Returns whether there is one.
    func start(_ loop: EventLoop) -> Bool {
        guard threads.compareExchange(expected: 0, desired: 1, ordering: .sequentiallyConsistent).exchanged else {
            return true
        }
        return startThread(loop)
    }

    /// Starts a thread that the caller has counted.
    ///
    /// Returns whether a thread could be started.
    private func startThread(_ loop: EventLoop) -> Bool {
        // Counted before the thread runs, so that no other thread starts another one in the meantime.
        listening.add(1, ordering: .sequentiallyConsistent)
        do throws(Errno) {
            try DetachedThread.start { loop.handlers.run(loop) }
            return true
        } catch {
            threads.subtract(1, ordering: .sequentiallyConsistent)
            listening.subtract(1, ordering: .sequentiallyConsistent)
            return false
        }
    }

    private func run(_ loop: EventLoop) {
        var idleTurns = 0
        while true {
            let (ready, isSpare) = sleep(loop)
            listening.subtract(1, ordering: .sequentiallyConsistent)
            for event in ready {
                switch event.token {
                case Self.wakeToken: _ = try? ears?.wakeUp.drain()
                case Self.alarmToken: break
                case Self.signalToken: loop.hearSignals()
                case let exit: loop.hearExit(exit)
                }
            }
            loop.attendClock()
            work(loop)
            // One thread is enough to listen. A second one is needed only while this one runs a job; it stays a little
            // longer, because a job seldom comes alone.
            idleTurns = isSpare && ready.isEmpty ? idleTurns + 1 : 0
            let others = listening.load(ordering: .sequentiallyConsistent)
            if others > 1 || others > 0 && idleTurns >= Self.mostIdleTurns {
                threads.subtract(1, ordering: .sequentiallyConsistent)
                return
            }
            listening.add(1, ordering: .sequentiallyConsistent)
        }
    }

    /// Sleeps until something happens; `isSpare`: another thread keeps the clock.
    private func sleep(_ loop: EventLoop) -> (ready: [Epoll.Ready], isSpare: Bool) {
        guard let ears else {
            Retry.rest(Limits.tick)
            return ([], false)
        }
        let isSpare = isClockKept.exchange(true, ordering: .sequentiallyConsistent)
        defer { if !isSpare { isClockKept.store(false, ordering: .sequentiallyConsistent) } }
        let end = loop.sleepEnd(isSpare: isSpare)
        return ((try? ears.epoll.wait(timeout: end?.remaining)) ?? [], isSpare)
    }
}
