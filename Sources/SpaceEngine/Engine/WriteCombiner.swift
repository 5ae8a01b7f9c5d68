import SpaceSystem
import Synchronization
import SystemPackage

/// Lets writes that come at the same time share a transaction, and what its commit costs.
///
/// It is for `.durable`, where a sync costs three hundred times as much as the rest of a write, and for the daemon of a
/// namespace that several machines share, where an append costs even more. In `.durable` the writes come from the threads
/// of one process, which wait; the daemon submits what other processes have sent, and no thread of it waits.
///
/// The first thread that comes leads. It takes all operations that have queued up by the time it has the gate, and runs
/// them in one transaction. Then it hands the lead to the first thread that has queued in that time, if there is one.
///
/// With that alone, threads that write in a loop would take turns, because the threads whose sync has just ended come
/// back too late for the next one. So if fewer threads have queued than before, the thread that has the lead collects:
/// it waits, without the gate, until as many have queued as before. It waits for at most half the time of a commit, and
/// only if collecting has paid lately. The thread that completes the queue leads, because it is awake.
///
/// If an operation throws, it leaves half a transaction to the others (LMDB's nested transactions cost 3 MiB each). So
/// the whole transaction is undone, and each half of the operations runs on its own. The same happens if there is no
/// space for all changes together. Any other error of the commit is the error of all operations. If the changes may be
/// in a log nevertheless, no operation may run again.
package final class WriteCombiner: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        /// The number of this queue; when a leader has taken the jobs, the next queue gets the next number.
        var number: UInt32 = 1
        var lead = Lead.free
        /// How many jobs the queue would have if every thread that has just written wrote again.
        ///
        /// A leader waits for them until `collectsUntil`.
        var expected = 0
        var collectsUntil = MonotonicInstant(nanoseconds: 0)

        mutating func take() -> (jobs: [Job], number: UInt32) {
            defer { (jobs, number) = ([], number &+ 1) }
            return (jobs, number)
        }
    }

    private enum Lead {
        /// The next thread that comes gets the lead.
        case free
        /// The first thread in the queue is told that it has the lead; a thread that completes the queue earlier takes
        /// the lead.
        case handed
        /// The first thread in the queue has the lead and waits for more; a thread that completes the queue takes the
        /// lead.
        case collecting
        /// A thread of this queue or of the previous one has the lead.
        case taken
    }

    /// What a thread does about the job that it has queued.
    private enum Part {
        case lead
        /// Waits for more jobs; `present` is how many there are already.
        case collect(present: Int, until: MonotonicInstant)
        /// Waits for the leader; `isNext` says whether the thread is the first after a leader, which will hand it the
        /// lead.
        case follow(isNext: Bool)
    }

    private let queue = Mutex(Queue())
    private let collecting = SpinPolicy()
    /// The numbers of the last even and the last odd queue that were ended.
    ///
    /// A queue's threads sleep on its word, and so does the first thread of the queue after it. There are two words, so
    /// that the other threads of that next queue are not woken. The words are set under the queue's lock, so they never
    /// go back.
    private let lastEnded = [FutexWord(), FutexWord()]
    private static let longestCollecting = Duration.milliseconds(20)

    /// An operation in the queue.
    ///
    /// Unchecked Sendable: it belongs to its own thread until it is queued, and then to the leader until its queue is
    /// ended. The word of `lastEnded` orders the two.
    private final class Job: @unchecked Sendable {
        let purpose: WritePurpose
        /// The caller's closure, released before the queue is ended, because the job outlives the closure, which must
        /// not escape.
        var body: ((WriteScope) throws(SpaceError) -> Void)?
        var failure: SpaceError?
        /// The closure that is told of the end, if no thread waits for it.
        let completion: (@Sendable (SpaceError?) -> Void)?

        init(
            _ purpose: WritePurpose,
            _ body: @escaping (WriteScope) throws(SpaceError) -> Void,
            completion: (@Sendable (SpaceError?) -> Void)? = nil
        ) {
            self.purpose = purpose
            self.body = body
            self.completion = completion
        }

        func run(_ scope: WriteScope) throws(SpaceError) { try body?(scope) }
    }

    func run(
        _ purpose: WritePurpose,
        on engine: Engine,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let failure = withoutActuallyEscaping(body) { body in
            let job = Job(purpose, body)
            let (number, part) = enqueue(job)
            if comesToLead(part, number) { lead(on: engine) }
            // The leader's own job is among those that it ended.
            return job.failure
        }
        if let failure { throw failure }
    }

    /// Queues an operation, and returns at once.
    ///
    /// Another thread leads, if one has to. `completion` is called on some thread when the operation has ended, with its
    /// error if it failed; it must not wait.
    func submit(
        _ purpose: WritePurpose,
        on engine: Engine,
        _ body: @escaping @Sendable (WriteScope) throws(SpaceError) -> Void,
        completion: @escaping @Sendable (SpaceError?) -> Void
    ) {
        let (number, part) = enqueue(Job(purpose, body, completion: completion))
        if case .follow(isNext: false) = part { return }
        do throws(Errno) {
            try SpareThreads.shared.start { [self] in
                if comesToLead(part, number) { lead(on: engine) }
            }
        } catch {
            fail(SpaceError(error, subject: "a thread for the writes of others"))
        }
    }

    private func enqueue(_ job: Job) -> (number: UInt32, part: Part) {
        queue.withLock { queue in
            queue.jobs.append(job)
            return (queue.number, self.part(&queue))
        }
    }

    // MARK: Who leads

    /// The part of the thread that came last, or was handed the lead.
    private func part(_ queue: inout Queue) -> Part {
        let count = queue.jobs.count
        switch queue.lead {
        case .free:
            if count < queue.expected, !queue.collectsUntil.hasPassed, collecting.isDue() {
                queue.lead = .collecting
                return .collect(present: count, until: queue.collectsUntil)
            }
        case .handed, .collecting:
            guard count >= queue.expected else { return .follow(isNext: false) }
            // This is also right if the thread that was handed the lead had not yet begun to wait.
            collecting.note(isAnswered: true)
        case .taken:
            return .follow(isNext: count == 1)
        }
        queue.lead = .taken
        return .lead
    }

    /// Plays a part until the thread has to lead or its queue is ended, and returns whether it has to lead.
    private func comesToLead(_ part: Part, _ number: UInt32) -> Bool {
        switch part {
        case .lead:
            return true
        case .collect(let present, let deadline):
            if waitForEnd(of: number, until: deadline) { return false }
            let isOurs = queue.withLock { queue in
                guard queue.number == number, queue.lead == .collecting else { return false }
                queue.lead = .taken
                // Waiting half as long again pays if it brings half as many jobs again.
                collecting.note(isAnswered: (queue.jobs.count - present) * 2 >= present)
                return true
            }
            // If the lead is not ours, another thread completed the queue meanwhile.
            return isOurs || comesToLead(.follow(isNext: false), number)
        case .follow(isNext: true):
            waitForEnd(of: number &- 1)
            let part = queue.withLock { queue -> Part in
                guard queue.number == number, queue.lead == .handed else { return .follow(isNext: false) }
                // The thread decides as if it came only now.
                queue.lead = .free
                return self.part(&queue)
            }
            return comesToLead(part, number)
        case .follow(isNext: false):
            waitForEnd(of: number)
            return false
        }
    }

    private func lastEnded(like number: UInt32) -> FutexWord { lastEnded[Int(number & 1)] }

    /// Sleeps until a queue is ended, and returns whether it ended in time.
    ///
    /// The end depends on threads of this process, which wait for the gate with a time-out, and for the disk.
    @discardableResult
    private func waitForEnd(of number: UInt32, until deadline: MonotonicInstant? = nil) -> Bool {
        let word = lastEnded(like: number)
        while true {
            let value = word.value.load()
            // Later queues may have ended too, and the numbers wrap around at some time.
            if Int32(bitPattern: value &- number) >= 0 { return true }
            if let deadline {
                guard (try? word.futex.wait(while: value, until: deadline)) ?? false else { return false }
            } else {
                _ = try? word.futex.wait(while: value, for: nil)
            }
        }
    }

    // MARK: What the leader does

    private func lead(on engine: Engine) {
        do throws(SpaceError) {
            let (jobs, number, patience) = try engine.underGate { () throws(SpaceError) in
                let (jobs, number) = queue.withLock { $0.take() }
                let start = MonotonicInstant.now
                commit(jobs, on: engine)
                let patience = MonotonicInstant.now.duration(since: start) / 2
                return (jobs, number, min(patience, Self.longestCollecting))
            }
            end(jobs, number, patience)
        } catch {
            // The leader could not take the gate, so no job was taken.
            fail(error)
        }
    }

    /// Ends all jobs that have queued by now with an error.
    private func fail(_ error: SpaceError) {
        let (jobs, number) = queue.withLock { $0.take() }
        for job in jobs { job.failure = error }
        end(jobs, number, .zero)
    }

    /// Releases a queue's threads, and the lead.
    private func end(_ jobs: [Job], _ number: UInt32, _ patience: Duration) {
        // The bodies go first: a thread that sees the end returns at once, and its closure must not be kept any longer.
        for job in jobs { job.body = nil }
        let isFollowed = queue.withLock { queue in
            queue.expected = jobs.count + queue.jobs.count
            queue.collectsUntil = MonotonicInstant.now.advanced(by: patience)
            queue.lead = queue.jobs.isEmpty ? .free : .handed
            // This happens under the lock, because later queues may be ended before this thread runs again.
            lastEnded(like: number).value.storeSequential(number)
            return !queue.jobs.isEmpty
        }
        // The leader's own job is one of them.
        if jobs.count > 1 || isFollowed { lastEnded(like: number).futex.wake() }
        for job in jobs { job.completion?(job.failure) }
    }

    private func commit(_ jobs: [Job], on engine: Engine) {
        // The one that leaves most alone.
        let purpose = jobs.map(\.purpose).min { $0.rawValue < $1.rawValue } ?? .applying
        var isOfJob = false
        do throws(SpaceError) {
            try engine.commitWithRetries(purpose) { (scope) throws(SpaceError) in
                isOfJob = false
                do throws(SpaceError) {
                    for job in jobs { try job.run(scope) }
                } catch {
                    isOfJob = true
                    throw error
                }
            }
            engine.announce()
        } catch {
            let mayRunAgain = isOfJob || error.isOfStorage && !engine.scope.logged.mayBeLogged
            guard jobs.count > 1, mayRunAgain else {
                for job in jobs { job.failure = error }
                return
            }
            commit(Array(jobs[..<(jobs.count / 2)]), on: engine)
            commit(Array(jobs[(jobs.count / 2)...]), on: engine)
        }
    }
}
