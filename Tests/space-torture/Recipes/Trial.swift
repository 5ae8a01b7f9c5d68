import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// A trial of objects of one kind, by workers that are killed.
///
/// Its ledger is memory of all processes: in it each worker notes what it is about to do, and the outcome.
protocol Trial: Sendable {
    var name: String { get }
    var ledger: TrialLedger { get }
    /// Counts of operations: the first is the trial's purpose, and must be more than zero.
    var done: [(String, SharedWord64)] { get }
    /// Counts of faults.
    var faults: [(String, SharedWord64)] { get }

    /// Runs before a round, in which all objects are new.
    func beginRound()
    /// Whether a life goes on until it has done its work.
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool
    /// One life of a worker.
    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws
    /// The work of the process that lives through the round.
    func attend(_ namespace: Namespace) throws
    /// Notes that a worker has been killed, and is gone.
    func bury(_ worker: Int)
    /// Compares the notes with the contents, when all workers have ended.
    func judge(_ namespace: Namespace) throws
}

extension Trial {
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool { false }
    func attend(_ namespace: Namespace) throws { usleep(1000) }
    func bury(_ worker: Int) {}

    /// How many faults were found.
    var found: Int { faults.reduce(0) { $0 + Int($1.1.load()) } }
}

/// A life of a worker: its number, and its purpose.
struct Life: Sendable {
    let worker: Int
    let workers: Int
    /// The round is over, and none is killed any more: work that was left half done is settled.
    let isLast: Bool
    let isSpared: Bool
    /// A wait that takes longer is a fault.
    let patience: Duration
    /// Whether it is to have the trial's fault.
    let isFaulty: Bool
    let stop: SharedWord64

    /// Whether it is to begin nothing more.
    var isOver: Bool { stop.loadSequential() != 0 }
}

/// The words of a trial, in memory that all processes share.
struct TrialLedger: Sendable {
    private static let header = 64 * 64
    private static let firstOfRound = 32

    private let memory: SharedMemory
    private let rows: Int

    /// `rows`: How many words of a round there are beside the first 32.
    init(rows: Int) throws {
        self.rows = rows
        memory = try SharedMemory(size: Self.header + rows * 8)
    }

    var kills: SharedWord64 { total(0) }
    /// Lives that were spared, and did not end.
    var hung: SharedWord64 { total(1) }

    /// Words of the whole run; 2 to 31 are the trial's own.
    func total(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }
    /// Words of a round.
    func word(_ index: Int) -> SharedWord64 { total(Self.firstOfRound + index) }
    func row(_ index: Int) -> SharedWord64 { memory.word64(Self.header + index * 8) }

    func beginRound() {
        for index in 0..<(64 - Self.firstOfRound) { word(index).store(0) }
        for index in 0..<rows where row(index).load() != 0 { row(index).store(0) }
    }
}
