import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Elections, barriers, latches, counters, rate limits, dictionaries and evaluations, whose users are killed.
///
/// The part plays rounds, each of which tries one kind, in a namespace of its own: workers are killed at named places
/// and at random times, and replaced. At the end each worker has a last life in which none is killed, and which settles
/// all that was left half done; then nothing may be held, and the audit compares what the workers acknowledged with the
/// contents.
struct ObjectsPart {
    private let options: Options
    private let name: String
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let trials: [any Trial]
    /// Words of the whole part.
    private let ledger: TrialLedger

    private static let points: [CrashPoint] = [
        .gateTaken, .begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken, .slotPublished,
        .snapshotTaken,
    ]

    /// The objects that are no queues.
    static func ofObjects(_ options: Options) throws -> ObjectsPart {
        let workers = options.processes
        let trials: [any Trial] = [
            try ElectionTrial(), try BarrierTrial(workers: workers), try LatchTrial(),
            try CounterTrial(workers: workers),
            try RateTrial(), try DictionaryTrial(workers: workers), try EvaluationTrial(),
        ]
        return try ObjectsPart(options, "objects", trials)
    }

    /// Work queues and semaphores: what they hand out, to whom, and in what order.
    static func ofQueues(_ options: Options) throws -> ObjectsPart {
        let trials: [any Trial] = [try QueueTrial(), try PermitTrial(), try MatrixTrial(options)]
        return try ObjectsPart(options, "queue", trials)
    }

    private init(_ options: Options, _ name: String, _ trials: [any Trial]) throws {
        self.options = options
        self.name = name
        self.trials = trials
        workRoot = WorkRoot(options)
        ledger = try TrialLedger(rows: 0)
    }

    private var rounds: SharedWord64 { ledger.total(2) }
    private var failures: SharedWord64 { ledger.total(3) }
    private var damage: SharedWord64 { ledger.total(4) }
    /// Places that are held, or waited for, by no living process.
    private var leftovers: SharedWord64 { ledger.total(5) }
    private var start: SharedWord64 { ledger.word(0) }
    private var stop: SharedWord64 { ledger.word(1) }

    private var trial: any Trial { trials[Int(rounds.load()) % trials.count] }
    /// Each kind is tried twice at least, where there is time.
    private var roundTime: Duration { min(.milliseconds(700), .seconds(options.seconds) / (2 * trials.count)) }

    /// Whether the kind's purpose has not been met yet, in the whole run.
    private func isUndone(_ trial: any Trial) -> Bool { trial.done[0].1.load() == 0 }

    func run() throws -> Report {
        try Process.playRounds(
            options,
            rounds,
            failures,
            atLeast: trials.count,
            begin: {
                ledger.beginRound()
                trial.beginRound()
            },
            hasFound: { trials.allSatisfy { $0.found > 0 } },
            progress: {
                let found = trials.reduce(0) { $0 + $1.found }
                return "\(rounds.load()) rounds, \(ledger.kills.load()) kills, \(found) faults"
            },
            round: playRound
        )
        try workRoot.remove()
        return report()
    }

    private func playRound(_ seed: UInt64) throws -> Never {
        let name = "\(trial.name)-\(rounds.load())"
        let supervisors = try Process.supervisors(options.processes) { supervise($0, name, seed) }
        Process.work { try work(in: name, supervisors) }
    }

    private func work(in name: String, _ supervisors: [pid_t]) throws {
        let namespace = try Space(root: root, timeout: .seconds(30)).namespace(name)
        start.store(1)
        try Process.letWork(for: roundTime, until: { !isUndone(trial) }, stop: stop) { try trial.attend(namespace) }
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        try expectNothingIsHeld(in: namespace)
        try trial.judge(namespace)
        for text in try namespace.verify() { noteFault(damage, "damage: \(text)") }
        try namespace.leave()
    }

    /// Waits until the holds of the dead are gone; only this process is there to release them.
    private func expectNothingIsHeld(in namespace: Namespace) throws {
        let deadline = MonotonicInstant.now.advanced(by: .seconds(options.patience))
        while case let holds = try namespace.status().holds, !holds.isEmpty {
            guard !deadline.hasPassed else { return noteFault(leftovers, "left behind: \(holds)") }
            _ = try namespace.take(matching: ["nothing"], timeout: .milliseconds(50))
        }
    }

    // MARK: Supervising

    private func supervise(_ worker: Int, _ name: String, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ UInt64(worker) &* 1_000_003)
        let trial = trial
        while start.load() == 0 { usleep(200) }
        while true {
            let isLast = stop.load() != 0
            let isSpared = isLast || trial.spares(worker, &generator)
            let point =
                isSpared || Bool.random(using: &generator) ? nil : Self.points.randomElement(using: &generator)
            let life = Life(
                worker: worker,
                workers: options.processes,
                isLast: isLast,
                isSpared: isSpared,
                patience: .seconds(options.patience),
                isFaulty: options.plant == .lost,
                stop: stop
            )
            let childSeed = generator.next()
            guard let child = try? Process.startWorker({ try live(life, name, childSeed, dyingAt: point) }) else {
                continue
            }
            let limit =
                isSpared ? Process.sparedLife(options) : Process.life(2_000...40_000, using: &generator)
            let (end, wasKilledHere) = Process.wait(child, atMost: limit)
            if isSpared, wasKilledHere { noteFault(trial.ledger.hung, "\(trial.name): worker \(worker) does not end") }
            if end == .killed(SIGKILL) {
                _ = trial.ledger.kills.add(1)
                trial.bury(worker)
            }
            Process.tally(end, kills: ledger.kills, failures: failures)
            if isLast { return }
        }
    }

    private func live(_ life: Life, _ name: String, _ seed: UInt64, dyingAt point: CrashPoint?) throws {
        var generator = SeededGenerator(seed: seed)
        let namespace = try Space(root: root, timeout: .seconds(30)).existingNamespace(name)
        if let point { CrashPoint.arm(point, count: Int.random(in: 1...40, using: &generator)) }
        try trial.live(life, namespace, &generator)
        try namespace.leave()
    }

    // MARK: Reporting

    private func report() -> Report {
        var object: JSONObject = ["rounds": Int(rounds.load())]
        var isGood = ledger.kills.load() > 0
        for trial in trials {
            var inner: JSONObject = ["kills": Int(trial.ledger.kills.load())]
            for (key, word) in trial.done + trial.faults { inner.add(key, Int(word.load())) }
            inner.add("hung", Int(trial.ledger.hung.load()))
            inner.add("found", trial.found)
            object.add(trial.name, inner)
            isGood = isGood && trial.found == 0 && trial.ledger.hung.load() == 0 && !isUndone(trial)
        }
        for (key, word) in [
            ("kills", ledger.kills), ("leftBehind", leftovers), ("failures", failures), ("damage", damage),
        ] {
            object.add(key, Int(word.load()))
            isGood = isGood && (key == "kills" || word.load() == 0)
        }
        return Report(name, isGood: isGood, object)
    }
}
