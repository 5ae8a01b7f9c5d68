import Glibc
import LinearizabilityChecker
import SeededRandom
import SharedSpace
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
        var object = JSONObject()
        object.add("histories", histories)
        object.add("calls", calls)
        object.add("kills", kills)
        object.add("pending", pending)
        object.add("notLinearizable", wrong.count)
        object.add("failures", failures)
        object.add("damaged", damaged)
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

    // MARK: Judging

    /// Returns the object on which the history is not linearizable, if any.
    private func judge(_ entries: [HistoryLog.Entry], killed: Int?) -> [String] {
        var faults: [String] = []
        for template in 0..<HistoryWorker.templates {
            var history = entries.filter { !$0.kind.isOfCell && $0.object == template }.compactMap(tupleCall)
            if let killed, let last = entries.filter({ $0.process == killed }).map(\.invoked).max() {
                // The victim's claim returns some time after its last step.
                history.append(Call(process: killed, invoked: last, returned: nil, .release))
            }
            if !Linearizability<TupleBag>.holds(of: history) {
                faults.append("template \(template): \(describe(history))")
            }
        }
        for cell in 0..<HistoryWorker.cells {
            let history = entries.filter { $0.kind.isOfCell && $0.object == cell }.compactMap(cellCall)
            if !Linearizability<CellRegister>.holds(of: history) { faults.append("cell \(cell): \(describe(history))") }
        }
        return faults
    }

    private func describe<O, R>(_ history: [Call<O, R>]) -> String {
        history.sorted { $0.invoked < $1.invoked }.map { call in
            let result = call.response.map { "\($0)" } ?? "killed"
            return
                "\(call.process):\(call.invoked % 1_000_000_000)-\((call.returned ?? -1) % 1_000_000_000) \(call.operation)=\(result)"
        }.joined(separator: " ")
    }

    private func tupleCall(_ entry: HistoryLog.Entry) -> Call<TupleBag.Operation, TupleBag.Response>? {
        let operation: TupleBag.Operation
        switch entry.kind {
        case .write: operation = .write(entry.argument)
        case .read: operation = .read
        case .take: operation = .take
        case .claim: operation = .claim
        case .complete: operation = .complete
        case .release: operation = .release
        case .set, .get, .compareAndSet: return nil
        }
        let returned = entry.returned.map { returned -> (time: Int64, TupleBag.Response) in
            switch operation {
            case .read, .take, .claim: (returned.time, returned.result.map { .tuple($0) } ?? .nothing)
            case .write, .complete, .release: (returned.time, .done)
            }
        }
        return Call(process: entry.process, invoked: entry.invoked, returned: returned, operation)
    }

    private func cellCall(_ entry: HistoryLog.Entry) -> Call<CellRegister.Operation, CellRegister.Response>? {
        let operation: CellRegister.Operation
        switch entry.kind {
        case .set: operation = .set(entry.argument)
        case .get: operation = .get
        case .compareAndSet: operation = .compareAndSet(expected: entry.expected, entry.argument)
        default: return nil
        }
        let returned = entry.returned.map { returned -> (time: Int64, CellRegister.Response) in
            switch operation {
            case .set: (returned.time, .done)
            case .get: (returned.time, .content(returned.result))
            case .compareAndSet: (returned.time, .isSet(returned.result == 1))
            }
        }
        return Call(process: entry.process, invoked: entry.invoked, returned: returned, operation)
    }
}
