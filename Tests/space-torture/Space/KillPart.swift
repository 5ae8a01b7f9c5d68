import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import Synchronization

/// Workers that write, take, claim, complete, release, come and go, killed at named places and at random times.
///
/// Lost, doubled and unexplained must be 0: an acknowledged tuple is there, or exactly one process took it; or a
/// process killed in the middle of its take took it, and then the journal names that process.
struct KillPart: SupervisedPart {
    let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let ledger: KillLedger

    /// How many deaths show a fault a dozen times: a claim that does not return shows in one death of 70, the other
    /// faults in one of 20.
    private var revealingDeaths: UInt64 { options.leftOut == .deadClaims ? 800 : 300 }

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try KillLedger()
    }

    func work(_ supervisors: [pid_t]) throws -> Report {
        let space = try Space(root: root, timeout: .seconds(30))
        let namespace = try space.namespace(KillWorker.name)
        let journal = KillJournal()
        let changes = try namespace.changes()
        Task { await journal.read(changes) }
        ledger.begin()
        // If there is a fault to find, the run ends once so many were killed that it shows.
        spendTime {
            ledger.stop.load() != 0 || options.isToFail && ledger.deathCount.load() >= revealingDeaths
        } hasBegun: {
            ledger.takenCount.load() > 0
        } progress: {
            "\(ledger.deathCount.load()) kills, \(ledger.nextNumber.load()) written, \(ledger.takenCount.load()) taken"
        }
        ledger.stop.store(1)
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        // A tick returns the claims of the dead and repairs what the last of them left unfinished.
        _ = try namespace.take(matching: ["nothing"], timeout: .milliseconds(700))
        try namespace.write("end")
        while !journal.isDone { usleep(1000) }
        let report = try KillAudit(ledger, journal, namespace, space).report()
        try namespace.leave()
        try workRoot.remove()
        return report
    }

    func supervise(_ worker: Int) {
        ledger.supervise(worker, options, at: KillLedger.points) { place, point, generator in
            let killed = KillWorker(
                root: root,
                ledger: ledger,
                place: place,
                plant: options.plant,
                ownName: "own-\(worker)"
            )
            try killed.live(armed: point, generator: &generator)
        }
    }
}

/// The changes told to a watcher that lives through the whole run.
final class KillJournal: Sendable {
    struct Told {
        var writes: [Int: Int] = [:]
        /// The process that took a tuple for good.
        var takers: [Int: [Int32]] = [:]
        var gaps = 0
        var disorder = 0
        var isDone = false
    }

    private let state = Mutex(Told())

    var told: Told { state.withLock { $0 } }
    var isDone: Bool { state.withLock { $0.isDone } }

    /// Reads changes until the tuple that ends the run.
    func read(_ changes: Changes) async {
        var last: UInt64 = 0
        do {
            for try await change in changes {
                let isEnd = change.tuple == ["end"]
                state.withLock { $0.note(change, after: last) }
                last = change.lastSequence > change.sequence ? change.lastSequence : change.sequence
                if isEnd { break }
            }
        } catch {
            note("the watcher failed: \(error)")
            state.withLock { $0.disorder += 1 }
        }
        state.withLock { $0.isDone = true }
    }
}

extension KillJournal.Told {
    mutating func note(_ change: Change, after last: UInt64) {
        if change.sequence <= last { disorder += 1 }
        if change.kind == .gap { gaps += 1 }
        guard let number = change.tuple?.jobNumber else { return }
        switch change.kind {
        case .write: writes[number, default: 0] += 1
        case .take, .complete: takers[number, default: []].append(change.pid)
        default: break
        }
    }
}
