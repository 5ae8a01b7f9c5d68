import SpaceSystem
import Synchronization

/// Lets the threads of one process that write at the same time share a transaction, and its fsync: for `.durable`, where
/// a sync costs three hundred times what the rest does.
///
/// The first thread to come leads: it takes what has queued up by the time it has the gate, runs it all in one
/// transaction, and hands the lead to the first who has queued meanwhile, if there is one. Left at that, threads that write
/// in a loop would take turns: those whose sync it was come back too late for the next. So who has the lead and misses
/// them collects: waits, without the gate, until as many have queued as there were, for half the time of a commit at most,
/// and as long as that has been worth it of late. Whoever completes the queue leads, being awake. An operation that
/// throws would leave the others half a transaction (LMDB's nested ones cost 3 MiB each), so the whole is undone and each
/// runs on its own.
package final class WriteCombiner: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        /// Of this queue; the next one gets the next number, when a leader has taken the jobs.
        var number: UInt32 = 1
        var lead = Lead.free
        /// How many would be there if all who wrote a moment ago wrote again, and until when that is to be waited for.
        var expected = 0
        var collectsUntil = MonotonicInstant(nanoseconds: 0)

        mutating func take() -> (jobs: [Job], number: UInt32) {
            defer { (jobs, number) = ([], number &+ 1) }
            return (jobs, number)
        }
    }

    private enum Lead {
        /// The next to come has it.
        case free
        /// The first in the queue is told that it has it; whoever completes the queue before takes it.
        case handed
        /// The first in the queue has it, and waits for more to come; whoever completes the queue takes it.
        case collecting
        /// A thread of this queue or of the one before has it.
        case taken
    }

    /// What a thread does about the job that it has queued.
    private enum Part {
        case lead
        /// `present`: How many are there already.
        case collect(present: Int, until: MonotonicInstant)
        /// `isNext`: The first behind a leader, who will hand it the lead.
        case follow(isNext: Bool)
    }

    private let queue = Mutex(Queue())
    private let collecting = SpinPolicy()
    /// The last queue that was ended, of those with even and of those with odd numbers: futexes on which its threads sleep,
    /// and the first of the queue behind it.
    ///
    /// Two, so that the others of the queue behind it sleep on. They never go back: set under the queue's lock.
    private let lastEnded = [FutexWord(), FutexWord()]
    private static let longestCollecting = Duration.milliseconds(20)

    /// An operation in the queue.
    ///
    /// Unchecked: it belongs to its own thread until it is queued, then to the leader until its queue is ended; the
    /// word that says so orders the two.
    private final class Job: @unchecked Sendable {
        let operation: String
        let demand: DiskReserve.Demand
        /// Given up before the queue is ended: the job outlives its caller's closure, which must not escape.
        var body: ((WriteScope) throws(SpaceError) -> Void)?
        var failure: SpaceError?

        init(
            _ operation: String,
            _ demand: DiskReserve.Demand,
            _ body: @escaping (WriteScope) throws(SpaceError) -> Void
        ) {
            self.operation = operation
            self.demand = demand
            self.body = body
        }

        func run(_ scope: WriteScope) throws(SpaceError) { try body?(scope) }
    }

    func run(
        _ operation: String,
        _ demand: DiskReserve.Demand,
        on engine: Engine,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let failure = withoutActuallyEscaping(body) { body in
            let job = Job(operation, demand, body)
            let (number, part) = queue.withLock { queue in
                queue.jobs.append(job)
                return (queue.number, self.part(&queue))
            }
            if comesToLead(part, number) { lead(on: engine) }
            // The leader's own job is among those that it ended.
            return job.failure
        }
        if let failure { throw failure }
    }

    // MARK: Who leads

    /// The part of who comes last, or was handed the lead.
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
            // Also where the one that was handed the lead had not yet begun to wait.
            collecting.note(isAnswered: true)
        case .taken:
            return .follow(isNext: count == 1)
        }
        queue.lead = .taken
        return .lead
    }

    /// Plays a part until it comes to leading, or until its queue is ended: whether it is to lead.
    private func comesToLead(_ part: Part, _ number: UInt32) -> Bool {
        switch part {
        case .lead:
            return true
        case .collect(let present, let deadline):
            if waitForEnd(of: number, until: deadline) { return false }
            let isOurs = queue.withLock { queue in
                guard queue.number == number, queue.lead == .collecting else { return false }
                queue.lead = .taken
                // Half as long again is worth it for half as many again.
                collecting.note(isAnswered: (queue.jobs.count - present) * 2 >= present)
                return true
            }
            // Or else somebody completed the queue meanwhile.
            return isOurs || comesToLead(.follow(isNext: false), number)
        case .follow(isNext: true):
            waitForEnd(of: number &- 1)
            let part = queue.withLock { queue -> Part in
                guard queue.number == number, queue.lead == .handed else { return .follow(isNext: false) }
                // As if it came only now.
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

    /// Sleeps until a queue was ended; whether it was, in time.
    ///
    /// That is up to threads of this process, which wait for the gate with a time-out, and for the disk.
    @discardableResult
    private func waitForEnd(of number: UInt32, until deadline: MonotonicInstant? = nil) -> Bool {
        let word = lastEnded(like: number)
        while true {
            let value = word.value.load()
            // Later ones may have ended too, and numbers begin again some day.
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
            let (jobs, number, patience) = try engine.underGate("write") { () throws(SpaceError) in
                let (jobs, number) = queue.withLock { $0.take() }
                let start = MonotonicInstant.now
                commit(jobs, on: engine)
                let patience = MonotonicInstant.now.duration(since: start) / 2
                return (jobs, number, min(patience, Self.longestCollecting))
            }
            end(jobs, number, patience)
        } catch {
            // The gate was not to be had, so nothing was taken: all who queued by now get the error.
            let (jobs, number) = queue.withLock { $0.take() }
            for job in jobs { job.failure = error.within(job.operation, namespace: engine.name.text) }
            end(jobs, number, .zero)
        }
    }

    /// Lets go of a queue's threads, and of the lead.
    private func end(_ jobs: [Job], _ number: UInt32, _ patience: Duration) {
        // First: a thread that sees the end returns at once, and its closure must not be held any longer.
        for job in jobs { job.body = nil }
        let isFollowed = queue.withLock { queue in
            queue.expected = jobs.count + queue.jobs.count
            queue.collectsUntil = MonotonicInstant.now.advanced(by: patience)
            queue.lead = queue.jobs.isEmpty ? .free : .handed
            // Under the lock: later queues may be ended before this thread runs again.
            lastEnded(like: number).value.storeSequential(number)
            return !queue.jobs.isEmpty
        }
        // The leader's own job is one of them.
        if jobs.count > 1 || isFollowed { lastEnded(like: number).futex.wake() }
    }

    private func commit(_ jobs: [Job], on engine: Engine) {
        if jobs.count > 1 {
            let demand = jobs.reduce(DiskReserve.Demand.none) { $0 + $1.demand }
            let isShared =
                (try? engine.commit("write", demand) { (scope) throws(SpaceError) -> Void in
                    for job in jobs { try job.run(scope) }
                }) != nil
            if isShared { return engine.announce() }
        }
        for job in jobs {
            do throws(SpaceError) {
                try engine.commit(job.operation, job.demand) { (scope) throws(SpaceError) in try job.run(scope) }
                engine.announce()
            } catch {
                job.failure = error
            }
        }
    }
}
