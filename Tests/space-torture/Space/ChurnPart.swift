import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Processes whose threads open, use and drop handles of the same namespaces at random, fork, start programs, cancel,
/// and end in the middle of it.
///
/// Each acknowledged tuple must be there or taken by exactly one process, no call may fail, and no process may end by
/// itself: a handle works from its opening to its end, whatever other threads open and close meanwhile.
struct ChurnPart: SupervisedPart {
    let options: Options
    private let workRoot: WorkRoot
    private let ledger: ChurnLedger

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try ChurnLedger()
    }

    func work(_ supervisors: [pid_t]) throws -> Report {
        let space = try Space(root: workRoot.path, timeout: .seconds(30))
        try prepare(space)
        ledger.start.store(1)
        spendTime {
            ledger.stop.load() != 0 || options.isToFail && ledger.faults > 0
        } hasBegun: {
            ledger.written.load() > 0
        } progress: {
            "\(ledger.openings.load()) openings, \(ledger.written.load()) written, \(ledger.taken.load()) taken"
        }
        ledger.stop.store(1)
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        // After a planted fault the files may be in any state.
        let isToBeAudited = !(options.isToFail && ledger.faults > 0)
        let (damage, leftovers) = isToBeAudited ? try audit(space) : ([], [])
        let report = report(damage, leftovers)
        try workRoot.remove()
        return report
    }

    /// Makes the persistent namespaces; the large one takes long to close.
    private func prepare(_ space: Space) throws {
        for (index, name) in ChurnWorker.names.enumerated() where index != ChurnWorker.passing {
            let namespace = try space.namespace(name, options: ChurnWorker.options(index))
            guard name == "large" else { continue }
            let block = Value.bytes([UInt8](repeating: 1, count: 1 << 20))
            for number in 0..<16 { try namespace.set("block \(number)", block) }
        }
    }

    /// Forks one worker after the other.
    func supervise(_ worker: Int) {
        var generator = SeededGenerator(seed: options.seed &+ UInt64(worker) &* 1_000_003)
        while ledger.start.load() == 0, ledger.stop.load() == 0 { usleep(500) }
        while ledger.stop.load() == 0 {
            var childGenerator = SeededGenerator(seed: generator.next())
            // Mostly the namespaces that live long enough for many openings of many threads.
            let end =
                [.joined, .joined, .left, .cut, .killed].randomElement(using: &generator) ?? ChurnWorker.End.joined
            let churner = ChurnWorker(
                root: workRoot.path,
                ledger: ledger,
                plant: options.plant,
                turns: end == .joined ? 200 : .max,
                end: end
            )
            guard let child = try? Process.startWorker({ try churner.live(&childGenerator) }) else { continue }
            let limit = end == .killed ? Int.random(in: 500...80_000, using: &generator) : Process.sparedLife(options)
            let (ended, wasKilledHere) = Process.wait(child, atMost: limit)
            if end == .killed, ended == .killed(SIGKILL) {
                _ = ledger.kills.add(1)
            } else if ended != .exited(0) {
                noteFault(
                    ledger.failures,
                    wasKilledHere ? "a worker did not end" : "a worker ended by itself: \(ended)"
                )
            }
        }
    }

    // MARK: The audit

    /// Compares the acknowledged tuples with the stored ones.
    ///
    /// - Returns: What the full check finds, and which namespaces are there and should not be.
    private func audit(_ space: Space) throws -> (damage: [String], leftovers: [String]) {
        var present: [[Int]] = []
        var damage: [String] = []
        for name in ChurnWorker.names.dropLast() {
            let namespace = try space.existingNamespace(name)
            damage += try namespace.verify()
            present.append(try namespace.matches(["job", .any]).compactMap { try $0.tuple().jobNumber })
        }
        let sets = present.map(Set.init)
        for (numbers, set) in zip(present, sets) where numbers.count != set.count {
            noteFault(ledger.doubled, "a tuple is there twice")
        }
        for number in 0..<min(Int(ledger.nextNumber.load()), ChurnLedger.capacity) {
            let state = ledger.state(number)
            let places = sets.indices.filter { sets[$0].contains(number) }
            if state.has(.written), !state.has(.taking), places.isEmpty {
                noteFault(ledger.lost, "\(number) was written, and is gone")
            }
            if state.has(.taken), !places.isEmpty { noteFault(ledger.doubled, "\(number) was taken, and is there") }
            if !places.isEmpty, places != [state.namespace] { noteFault(ledger.doubled, "\(number) is elsewhere") }
        }
        return (damage, try space.namespaceNames().filter { !ChurnWorker.names.dropLast().contains($0) })
    }

    private func report(_ damage: [String], _ leftovers: [String]) -> Report {
        var object: JSONObject = [:]
        let counts = [
            ("openings", ledger.openings), ("written", ledger.written), ("taken", ledger.taken),
            ("cancelled", ledger.cancellations), ("leftUnderOthers", ledger.left), ("forks", ledger.forks),
            ("stuckChildren", ledger.stuckChildren), ("programs", ledger.programs), ("exits", ledger.exits),
            ("kills", ledger.kills), ("lost", ledger.lost), ("doubled", ledger.doubled), ("errors", ledger.errors),
            ("failures", ledger.failures),
        ]
        for (name, word) in counts { object.add(name, Int(word.load())) }
        object.add("faults", ledger.faults + damage.count + leftovers.count)
        object.add("damage", damage)
        object.add("leftovers", leftovers)
        let isGood = ledger.faults == 0 && damage.isEmpty && leftovers.isEmpty && ledger.written.load() > 0
        return Report("churn", isGood: isGood, object)
    }
}
