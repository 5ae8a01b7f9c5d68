import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Workers that hold locks, permits and leadership, and work on a queue's items, killed at named places and at random
/// times.
///
/// Each notes what it holds, beside its PID, in memory that all share, before it looks at the notes of the others: so
/// two processes that hold something exclusive see each other. Overlaps and falling fencing numbers must be 0, and so
/// must items that were done twice or are lost.
struct RecipesPart: SupervisedPart {
    let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let ledger: RecipesLedger

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try RecipesLedger(workers: options.processes)
    }

    func work(_ supervisors: [pid_t]) throws -> Report {
        let space = try Space(root: root, timeout: .seconds(30))
        let namespace = try space.namespace(RecipesWorker.name)
        spendTime {
            options.isToFail && ledger.overlaps.load() > 0
        } hasBegun: {
            ledger.entries.load() > 0
        } progress: {
            "\(ledger.kills.load()) kills, \(ledger.entries.load()) held, \(ledger.completed.load()) done"
        }
        ledger.stop.store(1)
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        let report = try audit(namespace)
        try namespace.leave()
        try workRoot.remove()
        return report
    }

    /// Forks one worker after the other, each to be killed.
    func supervise(_ worker: Int) {
        var generator = SeededGenerator(seed: options.seed &+ UInt64(worker) &* 1_000_003)
        let points: [CrashPoint] = [.begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .slotPublished]
        while ledger.stop.load() == 0 {
            let point = Bool.random(using: &generator) ? points.randomElement(using: &generator) : nil
            var childGenerator = SeededGenerator(seed: generator.next())
            let child = try? Process.startWorker {
                do {
                    if let point { CrashPoint.arm(point, count: Int.random(in: 1...20, using: &childGenerator)) }
                    try RecipesWorker(root: root, ledger: ledger, worker: worker, plant: options.plant)
                        .live(&childGenerator)
                } catch let error as SpaceError where error.code == .namespaceNotFound {
                    // The namespace is not there yet, or not any more.
                }
            }
            guard let child else { continue }
            switch Process.wait(child, atMost: Process.life(2_000...60_000, using: &generator)).0 {
            case .killed(SIGKILL): _ = ledger.kills.add(1)
            case .exited(0): break
            default: _ = ledger.failures.add(1)
            }
            ledger.places.leave(worker)
        }
    }

    private func audit(_ namespace: Namespace) throws -> Report {
        let queue = namespace.queue(RecipesWorker.name)
        // An item that the last of the dead had taken returns to the next process that asks.
        while let item = try queue.take(timeout: .milliseconds(300)) {
            ledger.done(try item.content()).add(1)
            try item.complete()
        }
        var (lost, doubled) = (0, 0)
        for number in 0..<min(Int(ledger.nextItem.load()), RecipesLedger.items) {
            let word = ledger.done(number).load()
            if word & 0xFF > 1 { doubled += 1 }
            // Done by a worker that was killed before it could say so: it noted before that it was about to.
            if word & RecipesLedger.acknowledged != 0, word & 0xFF == 0, word & RecipesLedger.completing == 0 {
                lost += 1
            }
        }
        let damage = try namespace.verify() + (namespace.status().holds.isEmpty ? [] : ["something is still held"])
        let object: JSONObject = [
            "kills": Int(ledger.kills.load()), "held": Int(ledger.entries.load()),
            "completed": Int(ledger.completed.load()), "overlaps": Int(ledger.overlaps.load()),
            "unfenced": Int(ledger.unfenced.load()), "lost": lost, "doubled": doubled,
            "failures": Int(ledger.failures.load()), "damage": damage,
        ]
        let isGood =
            ledger.overlaps.load() == 0 && ledger.unfenced.load() == 0 && lost == 0 && doubled == 0
            && ledger.failures.load() == 0 && damage.isEmpty && ledger.entries.load() > 0
        return Report("recipes", isGood: isGood, object)
    }
}

/// The memory that all workers share.
struct RecipesLedger: Sendable {
    static let items = 1 << 20
    static let acknowledged: UInt32 = 1 << 8
    static let completing: UInt32 = 1 << 9
    private static let header = 4096 * 4

    let workers: Int
    private let memory: SharedMemory

    init(workers: Int) throws {
        self.workers = workers
        memory = try SharedMemory(size: Self.header + Self.items * 4)
    }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    var stop: SharedWord64 { word(0) }
    var kills: SharedWord64 { word(1) }
    var entries: SharedWord64 { word(2) }
    var completed: SharedWord64 { word(3) }
    var overlaps: SharedWord64 { word(4) }
    var unfenced: SharedWord64 { word(5) }
    var failures: SharedWord64 { word(6) }
    var nextItem: SharedWord64 { word(7) }
    /// The last fencing number of each of three things.
    func fencing(_ thing: Int) -> SharedWord64 { word(8 + thing) }
    /// The hold of each worker: the thing, and below it in 4 bits the mode.
    var places: HeldPlaces {
        HeldPlaces(workers: workers, patience: .seconds(5)) { worker in memory.word64(4096 + worker * 8) }
    }
    func done(_ number: Int) -> SharedWord32 { memory.word32(Self.header + number % Self.items * 4) }
}

/// One life of a worker.
struct RecipesWorker {
    let root: String
    let ledger: RecipesLedger
    let worker: Int
    let plant: Options.Plant?

    static let name = "recipes"
    private static let groups = 3

    private enum Mode: UInt32 { case exclusive = 1, shared = 2 }

    func live(_ generator: inout SeededGenerator) throws {
        let space = try Space(root: root, timeout: .seconds(30))
        let namespace = try space.existingNamespace(Self.name)
        for _ in 0..<200 where ledger.stop.load() == 0 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: try hold(0, .exclusive) { try namespace.lock("lock").acquire(timeout: .seconds(30)) }
            case 2: try hold(0, .shared) { try namespace.lock("lock").acquire(.shared, timeout: .seconds(30)) }
            case 3:
                // With one permit a semaphore is a lock.
                try hold(1, .exclusive) { try namespace.semaphore("one", permits: 1).acquire(timeout: .seconds(30)) }
            case 4: try put(namespace, &generator)
            default: try work(namespace)
            }
        }
        try namespace.leave()
    }

    private func hold(_ thing: Int, _ mode: Mode, _ acquire: () throws -> Hold?) throws {
        if plant == .doubled {
            enter(thing, mode)
            // Without the lock only luck keeps two workers apart.
            usleep(200)
            return ledger.places.leave(worker)
        }
        guard let hold = try acquire() else { throw UsageError(text: "a hold was not to be had in time") }
        if mode == .exclusive {
            if ledger.fencing(thing).load() >= hold.fencing { _ = ledger.unfenced.add(1) }
            ledger.fencing(thing).store(hold.fencing)
        }
        enter(thing, mode)
        ledger.places.leave(worker)
        try hold.release()
    }

    private func enter(_ thing: Int, _ mode: Mode) {
        _ = ledger.entries.add(1)
        let overlaps = ledger.places.enter(worker, UInt32(thing) << 4 | mode.rawValue) { other in
            other >> 4 == UInt32(thing) && (mode == .exclusive || other & 0xF == Mode.exclusive.rawValue)
        }
        _ = ledger.overlaps.add(overlaps)
    }

    // MARK: The queue

    private func put(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let number = Int(ledger.nextItem.add(1))
        guard number < RecipesLedger.items else { return ledger.stop.store(1) }
        try namespace.queue(Self.name).put(
            number,
            priority: Int.random(in: 0..<3, using: &generator),
            delay: .milliseconds(max(0, Int.random(in: -3...3, using: &generator))),
            group: "group \(number % Self.groups)"
        )
        _ = ledger.done(number).setBits(RecipesLedger.acknowledged)
    }

    private func work(_ namespace: Namespace) throws {
        // Half of the workers have a time to run that they never outrun: its rows must survive their deaths too.
        let ttr = worker.isMultiple(of: 2) ? Duration.seconds(600) : nil
        guard let item = try namespace.queue(Self.name).take(timeout: .milliseconds(5), deadline: ttr) else { return }
        let number: Int = try item.content()
        enter(2 + number % Self.groups, .exclusive)
        _ = ledger.done(number).setBits(RecipesLedger.completing)
        ledger.places.leave(worker)
        try item.complete()
        _ = ledger.done(number).add(1)
        _ = ledger.completed.add(1)
    }
}
