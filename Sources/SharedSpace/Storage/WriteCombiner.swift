import SpaceSystem
import Synchronization

/// Lets the threads of one process that write at the same time share a transaction, and its fsync: for `.durable`, where
/// a sync costs three hundred times what the rest does.
///
/// The first thread to come leads: it takes what has queued up by the time it has the gate, runs it all in one
/// transaction, and hands the lead to the next in the queue. That one finds those who came during the sync, or is the first
/// to come after it, while those whose sync it was are just coming back: they would take turns, half of them or all but
/// one. So it waits, without the gate, for as many as both, for half the time of a commit at most, and as long as
/// that has been worth it of late. An operation that throws would leave the others half a
/// transaction (LMDB's nested ones cost 3 MiB each), so the whole is undone and each runs on its own.
final class WriteCombiner: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        var hasLeader = false
        /// How many would be there if all who wrote a moment ago wrote again, and until when that is to be waited for.
        var expected = 0
        var collectsUntil = MonotonicInstant(nanoseconds: 0)
    }

    private let queue = Mutex(Queue())
    private let collecting = Habit()
    /// Whether as many have come as were expected; a futex on which the leader sleeps that long.
    private let isComplete = FutexWord()
    private static let longestCollecting = Duration.milliseconds(20)

    /// An operation in the queue.
    ///
    /// Unchecked: it belongs to its own thread until it is queued, then to the leader until `state` says that it is
    /// done; the futex word orders the two.
    private final class Job: @unchecked Sendable {
        static let waiting: UInt32 = 0
        static let done: UInt32 = 1
        static let leading: UInt32 = 2

        let operation: String
        let demand: Room.Demand
        /// Given up before `done`: the job outlives its caller's closure, which must not escape.
        private var body: ((WriteScope) throws(SpaceError) -> Void)?
        var failure: SpaceError?
        private let word = FutexWord()

        init(_ operation: String, _ demand: Room.Demand, _ body: @escaping (WriteScope) throws(SpaceError) -> Void) {
            self.operation = operation
            self.demand = demand
            self.body = body
        }

        func run(_ scope: WriteScope) throws(SpaceError) { try body?(scope) }

        func become(_ state: UInt32) {
            if state == Self.done { body = nil }
            word.value.storeSequential(state)
            word.futex.wake()
        }

        /// Waits to be done or to lead.
        ///
        /// The leader is a thread of this process, whose every wait has a time-out.
        func wait() -> UInt32 {
            while true {
                let state = word.value.load()
                if state != Self.waiting { return state }
                _ = try? word.futex.wait(while: Self.waiting, for: nil)
            }
        }
    }

    func run<R>(
        _ operation: String,
        _ demand: Room.Demand,
        on core: NamespaceCore,
        _ body: (WriteScope) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        var result: R?
        let failure = withoutActuallyEscaping(body) { body in
            let job = Job(operation, demand) { (scope) throws(SpaceError) in result = try body(scope) }
            let (leads, completes) = queue.withLock { queue in
                queue.jobs.append(job)
                defer { queue.hasLeader = true }
                let completes = queue.hasLeader && queue.jobs.count == queue.expected
                if completes { isComplete.value.store(1) }
                return (!queue.hasLeader, completes)
            }
            if completes { isComplete.futex.wake() }
            if leads || job.wait() == Job.leading { lead(on: core) }
            // The leader's own job is among those that it ended.
            return job.failure
        }
        if let failure { throw failure }
        guard let result else {
            throw SpaceError(.inputOutput, operation, reason: "the shared transaction ended early")
        }
        return result
    }

    /// Waits for those who wrote a moment ago to come again.
    private func collect() {
        let (present, expected, deadline) = queue.withLock { ($0.jobs.count, $0.expected, $0.collectsUntil) }
        guard present < expected, !deadline.hasPassed, collecting.isDue() else { return }
        while isComplete.value.load() == 0, (try? isComplete.futex.wait(while: 0, until: deadline)) ?? false {}
        // All who were expected came in time; or else, half as long again is worth it for half as many again.
        let came = queue.withLock { $0.jobs.count } - present
        collecting.note(isAnswered: isComplete.value.load() != 0 || came * 2 >= present)
    }

    private func lead(on core: NamespaceCore) {
        collect()
        // The gate's time-out may pass here: then all who queued by then get its error.
        var taken: [Job] = []
        var patience = Duration.zero
        do throws(SpaceError) {
            try core.underGate("write") { () throws(SpaceError) in
                taken = queue.withLock { queue in
                    defer { queue.jobs = [] }
                    return queue.jobs
                }
                let start = MonotonicInstant.now
                commit(taken, on: core)
                patience = min(MonotonicInstant.now.duration(since: start) / 2, Self.longestCollecting)
            }
        } catch {
            if taken.isEmpty {
                taken = queue.withLock { queue in
                    defer { queue.jobs = [] }
                    return queue.jobs
                }
            }
            for job in taken { job.failure = error.within(job.operation, namespace: core.name.text) }
        }
        let next = queue.withLock { queue -> Job? in
            queue.expected = taken.count + queue.jobs.count
            queue.collectsUntil = MonotonicInstant.now.advanced(by: patience)
            isComplete.value.store(0)
            queue.hasLeader = !queue.jobs.isEmpty
            return queue.jobs.first
        }
        for job in taken { job.become(Job.done) }
        next?.become(Job.leading)
    }

    private func commit(_ jobs: [Job], on core: NamespaceCore) {
        if jobs.count > 1 {
            let demand = jobs.reduce(Room.Demand()) { $0 + $1.demand }
            let isShared =
                (try? core.commit("write", demand) { (scope) throws(SpaceError) -> Void in
                    for job in jobs { try job.run(scope) }
                }) != nil
            if isShared { return core.announce() }
        }
        for job in jobs {
            do throws(SpaceError) {
                try core.commit(job.operation, job.demand) { (scope) throws(SpaceError) in try job.run(scope) }
                core.announce()
            } catch {
                job.failure = error
            }
        }
    }
}
