import SpaceSystem
import Synchronization

/// Lets the threads of one process that write at the same time share a transaction, and its fsync: for `.durable`, where
/// a sync costs three hundred times what the rest does.
///
/// The first thread to come leads: it takes what has queued up by the time it has the gate, runs it all in one
/// transaction, and hands the lead to the next in the queue. An operation that throws would leave the others half a
/// transaction (LMDB's nested ones cost 3 MiB each), so the whole is undone and each runs on its own.
final class WriteCombiner: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        var hasLeader = false
    }

    private let queue = Mutex(Queue())

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
        private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

        init(_ operation: String, _ demand: Room.Demand, _ body: @escaping (WriteScope) throws(SpaceError) -> Void) {
            self.operation = operation
            self.demand = demand
            self.body = body
            word.initialize(to: Self.waiting)
        }

        deinit { word.deallocate() }

        func run(_ scope: WriteScope) throws(SpaceError) { try body?(scope) }

        func become(_ state: UInt32) {
            if state == Self.done { body = nil }
            SharedWord32(at: word).storeSequential(state)
            _ = Futex(at: word).wake()
        }

        /// Waits to be done or to lead.
        ///
        /// The leader is a thread of this process, whose every wait has a time-out.
        func wait() -> UInt32 {
            while true {
                let state = SharedWord32(at: word).load()
                if state != Self.waiting { return state }
                _ = try? Futex(at: word).wait(while: Self.waiting, for: nil)
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
            let leads = queue.withLock { queue in
                queue.jobs.append(job)
                defer { queue.hasLeader = true }
                return !queue.hasLeader
            }
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

    private func lead(on core: NamespaceCore) {
        // The gate's time-out may pass here: then all who queued by then get its error.
        var taken: [Job] = []
        do throws(SpaceError) {
            try core.underGate("write") { () throws(SpaceError) in
                taken = queue.withLock { queue in
                    defer { queue.jobs = [] }
                    return queue.jobs
                }
                commit(taken, on: core)
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
            guard let first = queue.jobs.first else {
                queue.hasLeader = false
                return nil
            }
            return first
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
