import Glibc
import LinearizabilityChecker
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Short histories of four processes on one namespace, each of which must be linearizable.
///
/// One of the four is killed on the way; at the end a fifth opens the namespace and takes the remaining tuples.
struct HistoryPart {
    private let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let log: HistoryLog

    private static let survivorsAndVictim = 4

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        log = try HistoryLog()
    }

    func run() throws -> Report {
        var generator = SeededGenerator(seed: options.seed)
        var (histories, calls, kills, pending, failures, damaged) = (0, 0, 0, 0, 0, 0)
        var wrong: [String] = []
        let start = MonotonicInstant.now
        var told = start
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds),
            wrong.isEmpty || !options.isToFail
        {
            let seed = generator.next()
            let outcome = try record("history-\(histories)", seed)
            histories += 1
            kills += outcome.killed == nil ? 0 : 1
            failures += outcome.failures
            damaged += log.damage.load() == 0 ? 0 : 1
            let entries = (0..<HistoryLog.processes).flatMap { log.entries(of: $0) }
            calls += entries.count
            pending += entries.count { $0.returned == nil }
            let faults = judge(entries, killed: outcome.killed)
            for fault in faults { note("history \(histories - 1), seed \(seed): \(fault)") }
            wrong += faults.map { "\(histories - 1) \($0)" }
            if MonotonicInstant.now.duration(since: told) > .seconds(5) {
                told = MonotonicInstant.now
                note("\(histories) histories, \(calls) calls, \(kills) kills")
            }
        }
        try workRoot.remove()
        let object: JSONObject = [
            "histories": histories, "calls": calls, "kills": kills, "pending": pending, "notLinearizable": wrong.count,
            "failures": failures, "damaged": damaged,
        ]
        return Report("history", isGood: wrong.isEmpty && failures == 0 && damaged == 0 && kills > 0, object)
    }

    // MARK: Recording

    private func record(_ name: String, _ seed: UInt64) throws -> (killed: Int?, failures: Int) {
        log.clear()
        var generator = SeededGenerator(seed: seed)
        let points: [CrashPoint] = [
            .gateTaken, .begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken, .rung, .snapshotTaken,
            .nearFilled, .nearWritten, .nearTaking, .nearTaken, .nearStored,
        ]
        let victim = Int.random(in: 0..<Self.survivorsAndVictim, using: &generator)
        var children: [pid_t] = []
        for process in 0..<Self.survivorsAndVictim {
            var own = SeededGenerator(seed: seed &+ UInt64(process) &* 7919)
            children.append(
                try start(process, name) { (worker, namespace) throws(SpaceError) in
                    // In every other history the near end is full all the time.
                    if seed & 1 == 0 { namespace.useNearEnd(of: 4) }
                    _ = log.opened.add(1)
                    while log.opened.load() < Self.survivorsAndVictim { usleep(20) }
                    if process == victim {
                        CrashPoint.arm(
                            points[Int.random(in: points.indices, using: &own)],
                            count: Int.random(in: 1...30, using: &own)
                        )
                    }
                    try worker.run(namespace, &own)
                    // If the victim has reached the end without dying, it dies here, with its claims.
                    if process == victim { raise(SIGKILL) }
                    _ = log.done.add(1)
                    while log.mayLeave.load() == 0 { usleep(20) }
                }
            )
        }
        // The namespace must outlive them all, so no process leaves before the last one has come.
        let isKilled = Process.wait(children[victim]) == .killed(SIGKILL)
        var failures = isKilled ? 0 : 1
        while failures == 0, log.done.load() < Self.survivorsAndVictim - 1 {
            usleep(20)
            if children.enumerated().contains(where: { $0.offset != victim && Process.hasEnded($0.element) }) {
                failures = 1
            }
        }
        let last = try start(Self.survivorsAndVictim, name) { (worker, namespace) throws(SpaceError) in
            try worker.lookAtEverything(namespace)
            if try !namespace.verify().isEmpty { log.damage.store(1) }
        }
        if Process.wait(last) != .exited(0) { failures += 1 }
        log.mayLeave.store(1)
        for (process, child) in children.enumerated() where process != victim {
            if Process.wait(child) != .exited(0) { failures += 1 }
        }
        return (isKilled ? victim : nil, failures)
    }

    private func start(
        _ process: Int,
        _ name: String,
        _ body: (HistoryWorker, Namespace) throws(SpaceError) -> Void
    ) throws -> pid_t {
        try Process.startWorker {
            let namespace = try Space(root: root, timeout: .seconds(30)).namespace(name)
            try body(HistoryWorker(log: log, process: process, plant: options.plant), namespace)
            try namespace.leave()
        }
    }

    /// Returns the objects on which the history is not linearizable.
    private func judge(_ entries: [HistoryLog.Entry], killed: Int?) -> [String] {
        HistoryJudge(templates: HistoryWorker.templates, cells: HistoryWorker.cells).faults(entries) { template in
            guard let killed, let last = entries.filter({ $0.process == killed }).map(\.invoked).max() else {
                return []
            }
            // The victim's claim returns some time after its last step.
            return [Call(process: killed, invoked: last, returned: nil, .release)]
        }
    }
}
