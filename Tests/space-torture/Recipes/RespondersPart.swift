import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Processes that respond to several names, in stacks that go through all of them, killed while they answer and
/// otherwise, and processes that send requests.
///
/// Each request must come to one reply or one error that says why, in time; and no responder may run one twice. The
/// part plays rounds: at the end of each the requesters end first, then the responders, and nothing of either may be
/// left.
struct RespondersPart {
    private let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let ledger: RespondersLedger

    private static let roundTime = Duration.seconds(1)
    /// The least number of requests in a round: enough for each of the faults that can be planted.
    private static let requests: UInt64 = 100
    private static let points: [CrashPoint] = [
        .begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken, .snapshotTaken, .slotPublished,
        .grantSeen,
    ]

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try RespondersLedger()
    }

    func run() throws -> Report {
        try Process.playRounds(
            options,
            ledger.rounds,
            ledger.failures,
            begin: ledger.beginRound,
            hasFound: { mustBeFound.load() != 0 },
            progress: {
                "\(ledger.kills.load()) kills, \(ledger.total(.answered).load()) answers, \(ledger.runsTotal.load()) runs"
            },
            round: playRound
        )
        try workRoot.remove()
        return report()
    }

    private func playRound(_ seed: UInt64) throws -> Never {
        let base = start(seed) { namespace, _ in
            try RespondersWorker(ledger: ledger, place: ledger.place(0), plant: nil).liveAtTheBase(namespace)
        }
        let responders = try Process.supervisors(options.processes) { superviseResponder(1 + $0, seed) }
        let requesters = try Process.supervisors(options.processes) {
            superviseRequester(1 + options.processes + $0, seed)
        }
        Process.work { try work(base, responders, requesters) }
    }

    private func work(_ base: pid_t?, _ responders: [pid_t], _ requesters: [pid_t]) throws {
        let namespace = try Space(root: root, timeout: .seconds(30)).namespace(RespondersNames.namespace)
        ledger.start.store(1)
        try Process.letWork(
            for: Self.roundTime,
            until: { ledger.nextRequest.load() >= Self.requests },
            stop: ledger.stopAsking
        )
        for requester in requesters { _ = Process.wait(requester) }
        ledger.stop.store(1)
        for responder in responders { _ = Process.wait(responder) }
        if let base, Process.wait(base) != .exited(0) { _ = ledger.failures.add(1) }
        try expectNothingIsLeft(of: namespace)
        judge()
        try namespace.leave()
    }

    /// Responders of dead processes must leave the stack, and their requests must go; only this process is there to
    /// remove them.
    private func expectNothingIsLeft(of namespace: Namespace) throws {
        let deadline = MonotonicInstant.now.advanced(by: .seconds(options.patience))
        var left = 1
        while left > 0, !deadline.hasPassed {
            _ = try namespace.take(matching: ["nothing"], timeout: .milliseconds(50))
            let status = try namespace.status()
            left = status.responders.count + status.requests.count
        }
        if left > 0 {
            note("left behind: \(try namespace.status().responders) \(try namespace.status().requests)")
            _ = ledger.leftovers.add(UInt64(left))
        }
        for text in try namespace.verify() {
            note("damage: \(text)")
            _ = ledger.damage.add(1)
        }
    }

    // MARK: Supervising

    private func superviseResponder(_ index: Int, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 1_000_003)
        let place = ledger.place(index)
        while ledger.base.load() == 0, ledger.stop.load() == 0 { usleep(200) }
        while ledger.stop.load() == 0 {
            let point =
                Int.random(in: 0..<3, using: &generator) == 0 ? Self.points.randomElement(using: &generator) : nil
            let child = start(generator.next()) { namespace, generator in
                place.store(0)
                if let point { CrashPoint.arm(point, count: Int.random(in: 1...30, using: &generator)) }
                try RespondersWorker(ledger: ledger, place: place, plant: options.plant).live(namespace, &generator)
            }
            guard let child else { continue }
            // Some end by themselves, so that a responder answers also where beginning takes long.
            let isSpared = Int.random(in: 0..<8, using: &generator) == 0
            let limit =
                isSpared ? Process.sparedLife(options) : Process.life(3_000...60_000, using: &generator)
            let end = Process.wait(child, atMost: limit).0
            if end == .killed(SIGKILL), place.load() > 0 { _ = ledger.killsWhileAnswering.add(1) }
            Process.tally(end, kills: ledger.kills, failures: ledger.failures)
        }
    }

    private func superviseRequester(_ index: Int, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ UInt64(index) &* 7919)
        let place = ledger.place(index)
        while ledger.base.load() == 0, ledger.stopAsking.load() == 0 { usleep(200) }
        while ledger.stopAsking.load() == 0 {
            let child = start(generator.next()) { namespace, generator in
                try RespondersRequester(ledger: ledger, place: place, patience: options.patience)
                    .live(namespace, &generator)
            }
            guard let child else { continue }
            // Half of them end by themselves, so that a request has all the time that it was given.
            let isSpared = Bool.random(using: &generator)
            let limit =
                isSpared ? Process.sparedLife(options) : Int.random(in: 5_000...200_000, using: &generator)
            let end = Process.wait(child, atMost: limit).0
            if end == .killed(SIGKILL), isSpared { _ = ledger.hung.add(1) }
            if end == .killed(SIGKILL), place.load() > 0 {
                let request = Int(place.load()) - 1
                if ledger.outcome(of: request).outcome == .open { ledger.end(request, .killed) }
            }
            place.store(0)
            Process.tally(end, kills: ledger.requesterKills, failures: ledger.failures)
        }
    }

    private func start(_ seed: UInt64, _ body: (Namespace, inout SeededGenerator) throws -> Void) -> pid_t? {
        try? Process.startWorker {
            var generator = SeededGenerator(seed: seed)
            while ledger.start.load() == 0, ledger.stop.load() == 0 { usleep(200) }
            let namespace = try Space(root: root, timeout: .seconds(30))
                .existingNamespace(RespondersNames.namespace)
            try body(namespace, &generator)
        }
    }

    // MARK: Judging

    private func judge() {
        let runs = ledger.allRuns
        _ = ledger.runsTotal.add(UInt64(runs.count))
        var seen: Set<RespondersLedger.Run> = []
        for run in runs where !seen.insert(run).inserted {
            noteFault(ledger.doubled, "responder \(run.responder) ran request \(run.request) twice")
        }
        let base = ledger.base.load()
        for request in 0..<min(Int(ledger.nextRequest.load()), RespondersLedger.requests) {
            let (outcome, answerer) = ledger.outcome(of: request)
            _ = ledger.total(outcome).add(1)
            switch outcome {
            case .open: noteFault(ledger.unanswered, "request \(request) came to nothing")
            case .answered:
                if !seen.contains(RespondersLedger.Run(request: request, responder: answerer)) {
                    noteFault(ledger.unexplained, "\(answerer) answered request \(request) without running it")
                }
            case .nobody:
                // There is always a responder at the base: a requester that was told that there is none had asked it
                // already.
                if RespondersNames.name(of: request) == RespondersNames.based,
                    !seen.contains(RespondersLedger.Run(request: request, responder: base))
                {
                    noteFault(ledger.unexplained, "request \(request) found nobody, and was not put to the base")
                }
            default: break
            }
        }
    }

    private var mustBeZero: [(String, SharedWord64)] {
        [
            ("doubled", ledger.doubled), ("unanswered", ledger.unanswered), ("late", ledger.total(.late)),
            ("wrong", ledger.total(.wrong)), ("unexplained", ledger.unexplained), ("hung", ledger.hung),
            ("leftBehind", ledger.leftovers), ("failures", ledger.failures), ("damage", ledger.damage),
        ]
    }

    /// The fault count that the planted fault must raise.
    private var mustBeFound: SharedWord64 { options.plant == .doubled ? ledger.doubled : ledger.total(.late) }

    private func report() -> Report {
        let done = [
            ("rounds", ledger.rounds), ("kills", ledger.kills), ("killsWhileAnswering", ledger.killsWhileAnswering),
            ("requesterKills", ledger.requesterKills), ("runs", ledger.runsTotal),
            ("answered", ledger.total(.answered)), ("failed", ledger.total(.failed)),
            ("nobody", ledger.total(.nobody)), ("timedOut", ledger.total(.timedOut)), ("killed", ledger.total(.killed)),
        ]
        var object: JSONObject = [:]
        for (key, word) in done + mustBeZero { object.add(key, Int(word.load())) }
        let isGood =
            mustBeZero.allSatisfy { $0.1.load() == 0 } && ledger.total(.answered).load() > 0
            && ledger.kills.load() > 0
        return Report("responders", isGood: isGood, object)
    }
}
