import Glibc
import SeededRandom
import SharedSpaceObjects
import SpaceInspection
import SpaceSystem

/// Editors of one ordered set, killed at named places and at random times, and observers of it in other processes,
/// killed too.
///
/// The part plays rounds: each has an ordered set of its own, and ends when all editors have ended. Then every living
/// observer compares its copy with the set, and the audit compares the acknowledged edits with the journal and with the
/// contents.
struct CollectionsPart {
    private let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let ledger: CollectionsLedger

    private static let roundTime = Duration.milliseconds(700)
    /// The least number of edits in a round: enough for each of the faults that can be planted.
    private static let edits: UInt64 = 100
    private static let points: [CrashPoint] = [
        .gateTaken, .begun, .beforeCommit, .afterCommit, .gateReleased, .rung, .snapshotTaken,
    ]

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try CollectionsLedger(editors: options.processes)
    }

    func run() throws -> Report {
        try Process.playRounds(
            options,
            ledger.rounds,
            ledger.failures,
            begin: ledger.beginRound,
            hasFound: { mustBeFound.allSatisfy { $0.load() != 0 } },
            progress: {
                "\(ledger.rounds.load()) rounds, \(ledger.kills.load()) kills, \(ledger.acknowledged.load()) edits"
            },
            round: playRound
        )
        try workRoot.remove()
        return report()
    }

    private func playRound(_ seed: UInt64) throws -> Never {
        let name = "round-\(ledger.rounds.load())"
        let editors = try Process.supervisors(options.processes) { superviseEditor($0, name, seed) }
        let observers = try Process.supervisors(CollectionsLedger.observers) { superviseObserver($0, name, seed) }
        Process.work { try work(in: name, editors, observers) }
    }

    private func work(in name: String, _ editors: [pid_t], _ observers: [pid_t]) throws {
        let namespace = try Space(root: root, timeout: .seconds(30)).namespace(name)
        let set = try namespace.orderedSet(CollectionsLedger.name, of: Int.self)
        let journal = CollectionsJournal()
        let changes = try set.changes()
        Task.detached { await journal.read(changes) }
        // The sequence reads the initial contents on its first call; it would not tell edits made before that call.
        journal.waitForBeginning()
        let enough = ledger.acknowledged.load() + Self.edits
        ledger.start.store(1)
        try Process.letWork(for: Self.roundTime, until: { ledger.acknowledged.load() >= enough }, stop: ledger.stop)
        for editor in editors { _ = Process.wait(editor) }
        try set.append(0)
        ledger.ending.store(1)
        for observer in observers { _ = Process.wait(observer) }
        journal.wait()
        var audit = CollectionsAudit(ledger, journal.told)
        audit.judge(try set.elements())
        for text in try namespace.verify() {
            note("damage: \(text)")
            _ = ledger.damage.add(1)
        }
        try namespace.leave()
    }

    // MARK: Supervising

    private func superviseEditor(_ editor: Int, _ name: String, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ UInt64(editor) &* 1_000_003)
        let everyone = UInt64(1 << CollectionsLedger.observers) - 1
        while ledger.stop.load() == 0, ledger.ready.load() & everyone != everyone { usleep(200) }
        while ledger.stop.load() == 0 {
            let point = Bool.random(using: &generator) ? Self.points.randomElement(using: &generator) : nil
            let childSeed = generator.next()
            let child = start(name, childSeed) { namespace, generator in
                if let point { CrashPoint.arm(point, count: Int.random(in: 1...200, using: &generator)) }
                try CollectionsEditor(ledger: ledger, editor: editor, plant: options.plant).live(namespace, &generator)
            }
            guard let child else { continue }
            Process.tally(
                Process.wait(child, atMost: Process.life(1_000...60_000, using: &generator)).0,
                kills: ledger.kills,
                failures: ledger.failures
            )
        }
    }

    private func superviseObserver(_ observer: Int, _ name: String, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ UInt64(observer) &* 7919)
        while ledger.start.load() == 0 { usleep(200) }
        while true {
            // An observer that begins after the last edit lives until it has compared its copy.
            let isLast = ledger.ending.load() != 0
            let childSeed = generator.next()
            let child = start(name, childSeed) { namespace, generator in
                try CollectionsObserver(ledger: ledger, observer: observer, plant: options.plant)
                    .live(namespace, &generator)
            }
            guard let child else { continue }
            // No observer is killed before all are registered: until then there is nothing to observe.
            while ledger.ready.load() & 1 << UInt64(observer) == 0, !Process.hasEnded(child) { usleep(200) }
            let limit =
                isLast ? Process.sparedLife(options) : Process.life(5_000...300_000, using: &generator)
            let (end, wasKilledHere) = Process.wait(child, atMost: limit)
            if isLast, wasKilledHere {
                note("observer \(observer) was not told of the last edit")
                _ = ledger.failures.add(1)
            }
            Process.tally(end, kills: ledger.observerKills, failures: ledger.failures)
            if isLast || end == .exited(0) && ledger.ending.load() != 0 { return }
        }
    }

    private func start(
        _ name: String,
        _ seed: UInt64,
        _ body: (Namespace, inout SeededGenerator) throws -> Void
    ) -> pid_t? {
        try? Process.startWorker {
            var generator = SeededGenerator(seed: seed)
            let namespace = try Space(root: root, timeout: .seconds(30)).existingNamespace(name)
            try body(namespace, &generator)
            try namespace.leave()
        }
    }

    // MARK: Reporting

    private var mustBeZero: [(String, SharedWord64)] {
        [
            ("lost", ledger.lost), ("doubled", ledger.doubled), ("unmade", ledger.unmade),
            ("unexplained", ledger.unexplained), ("misfits", ledger.misfits), ("differing", ledger.differing),
            ("failures", ledger.failures), ("damage", ledger.damage),
        ]
    }

    /// The fault count that the planted fault must raise.
    private var mustBeFound: [SharedWord64] {
        options.plant == .lost ? [ledger.unmade, ledger.lost] : [ledger.differing]
    }

    private func report() -> Report {
        let done = [
            ("rounds", ledger.rounds), ("kills", ledger.kills), ("observerKills", ledger.observerKills),
            ("resumed", ledger.resumed), ("acknowledged", ledger.acknowledged), ("indeterminate", ledger.indeterminate),
            ("changesTold", ledger.changesTold), ("compared", ledger.compared),
        ]
        var object: JSONObject = [:]
        for (key, word) in done + mustBeZero { object.add(key, Int(word.load())) }
        let isGood =
            mustBeZero.allSatisfy { $0.1.load() == 0 } && ledger.acknowledged.load() > 0 && ledger.kills.load() > 0
            && ledger.compared.load() >= ledger.rounds.load() * UInt64(CollectionsLedger.observers)
        return Report("collections", isGood: isGood, object)
    }
}
