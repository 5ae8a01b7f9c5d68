import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Workers that write, read, take, claim and move in the near end and in LMDB, killed at named places and at random
/// times.
///
/// Unlike `kill`, it has no watcher, which would have every change journaled and thus keep the near end empty. So a
/// worker notes which tuple it is about to take before it takes it, by its number: an acknowledged tuple that is gone
/// must be one that a worker has taken, or that a killed one was about to take.
struct NearPart: SupervisedPart {
    let options: Options
    private let workRoot: WorkRoot
    private let ledger: KillLedger

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try KillLedger()
    }

    func work(_ supervisors: [pid_t]) throws -> Report {
        let space = try Space(root: workRoot.path, timeout: .seconds(30))
        let namespace = try space.namespace(KillWorker.name)
        ledger.begin()
        let start = MonotonicInstant.now
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds), ledger.stop.load() == 0,
            !(options.isToFail && ledger.takenCount.load() >= Self.revealingTakes)
        {
            sleep(1)
            // A full ring of 4, a full one of 256, and none.
            let seconds = Int(MonotonicInstant.now.duration(since: start).components.seconds)
            namespace.useNearEnd(of: [256, 4, 4, 0][seconds % 4])
            guard seconds % 5 == 0 else { continue }
            note("\(ledger.deathCount.load()) kills, \(ledger.takenCount.load()) taken")
        }
        ledger.stop.store(1)
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        // A tick returns the claims of the dead and repairs what the last of them left unfinished.
        _ = try namespace.take(matching: ["nothing"], timeout: .milliseconds(700))
        let report = try audit(namespace)
        try namespace.leave()
        try workRoot.remove()
        return report
    }

    func supervise(_ worker: Int) {
        ledger.supervise(worker, options, at: Self.points) { place, point, generator in
            try live(place, armed: point, &generator)
        }
    }

    /// After so many takes a safeguard that was left out has shown itself, also on a busy machine: there it does so in one
    /// of 800, else in one of 70.
    private static let revealingTakes: UInt64 = 20_000

    private static let points: [CrashPoint] = [
        .gateTaken, .begun, .beforeCommit, .afterCommit, .granting, .startRaised, .granted, .lockForgotten,
        .gateReleased, .snapshotTaken, .nearFilled, .nearWritten, .nearTaking, .nearTaken, .nearClaiming, .nearClaimed,
        .nearStored, .marking, .marked,
        .grantSeen, .rearmed, .slotPublished, .placeAwaited, .placeRaised,
    ]

    // MARK: Workers

    private func live(_ place: KillLedger.Place, armed point: CrashPoint?, _ generator: inout SeededGenerator) throws {
        place.end()
        if let point { CrashPoint.arm(point, count: Int.random(in: 1...20, using: &generator)) }
        let namespace = try Space(root: workRoot.path, timeout: .seconds(30)).existingNamespace(KillWorker.name)
        for _ in 0..<Int.random(in: 20...400, using: &generator) where ledger.stop.load() == 0 {
            let backlog = Int(ledger.nextNumber.load()) - Int(ledger.takenCount.load())
            switch Int.random(in: 0..<16, using: &generator) {
            case 0..<(backlog > 600 ? 0 : 7): try write(namespace, place, &generator)
            case 12...14: try claim(namespace, place, &generator)
            // A large cell takes the ring over.
            case 15: try namespace.set("cell", String(repeating: "c", count: Bool.random(using: &generator) ? 1 : 2000))
            default: try take(namespace, place, &generator)
            }
        }
        try namespace.leave()
    }

    private func write(_ namespace: Namespace, _ place: KillLedger.Place, _ generator: inout SeededGenerator) throws {
        let number = Int(ledger.nextNumber.add(1))
        guard number < KillLedger.capacity else { return ledger.stop.store(1) }
        place.begin(.writing, number)
        ledger.begin(number)
        if options.plant != .lost || number % 50 != 0 {
            // Some are too long for the ring.
            let isLong = Int.random(in: 0..<32, using: &generator) == 0
            let body = [UInt8](repeating: 7, count: isLong ? 2000 : Int.random(in: 0..<600, using: &generator))
            try namespace.write("job", number, body)
        }
        ledger.acknowledge(number)
        place.end()
    }

    private func take(_ namespace: Namespace, _ place: KillLedger.Place, _ generator: inout SeededGenerator) throws {
        let order: MatchOrder = Bool.random(using: &generator) ? .oldestFirst : .newestFirst
        guard let (_, number, _) = try namespace.readIfExists("job", any(Int.self), any([UInt8].self), order: order)
        else {
            // A waiter takes nothing here: it would not know what it is about to take.
            _ = try namespace.read("job", any(Int.self), any([UInt8].self), timeout: .milliseconds(5))
            return
        }
        if options.plant == .doubled {
            usleep(200)
            _ = try namespace.takeIfExists("job", number, any([UInt8].self))
            return ledger.take(number)
        }
        place.begin(.taking, number)
        if try namespace.takeIfExists("job", number, any([UInt8].self)) != nil { ledger.take(number) }
        place.end()
    }

    private func claim(_ namespace: Namespace, _ place: KillLedger.Place, _ generator: inout SeededGenerator) throws {
        place.begin(.claiming)
        let deadline: Duration? = Int.random(in: 0..<8, using: &generator) == 0 ? .seconds(60) : nil
        guard let claim = try namespace.claimIfExists(matching: ["job", .any, .any], deadline: deadline),
            case .int(let value)? = claim.tuple.fields.dropFirst().first
        else { return place.end() }
        let number = Int(value)
        if Bool.random(using: &generator) {
            place.begin(.releasing, number)
            try claim.release()
        } else {
            place.begin(.completing, number)
            try claim.complete()
            ledger.take(number)
        }
        place.end()
    }

    // MARK: Audit

    private func audit(_ namespace: Namespace) throws -> Report {
        let damage = try namespace.verify()
        let present = try namespace.matches(["job", .any, .any]).compactMap { match -> Int? in
            guard case .int(let number)? = try match.tuple().fields.dropFirst().first else { return nil }
            return Int(number)
        }
        var (acknowledged, lost, doubled, indeterminate) = (0, [Int](), [Int](), 0)
        if Set(present).count != present.count { doubled.append(-1) }
        let there = Set(present)
        var takenByTheDead = Set<Int>()
        for death in ledger.allDeaths where death.doing == .taking || death.doing == .completing {
            takenByTheDead.insert(death.number)
        }
        for number in 0..<min(Int(ledger.nextNumber.load()), KillLedger.capacity) {
            let state = ledger.state(number)
            if state.isAcknowledged { acknowledged += 1 }
            if state.taken > 1 || state.taken == 1 && there.contains(number) { doubled.append(number) }
            guard state.isAcknowledged, !there.contains(number), state.taken == 0 else { continue }
            if takenByTheDead.contains(number) { indeterminate += 1 } else { lost.append(number) }
        }
        for (what, numbers) in [("lost", lost), ("doubled", doubled)] where !numbers.isEmpty {
            note("\(what): \(numbers.prefix(8))")
        }
        let failures = Int(ledger.failures.load())
        let object: JSONObject = [
            "kills": Int(ledger.deathCount.load()), "acknowledged": acknowledged,
            "taken": Int(ledger.takenCount.load()), "lost": lost.count, "doubled": doubled.count,
            "takenByTheDead": indeterminate, "failures": failures, "damage": damage,
        ]
        let isGood = lost.isEmpty && doubled.isEmpty && failures == 0 && damage.isEmpty && acknowledged > 0
        return Report("near", isGood: isGood, object)
    }
}
