import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// What is tried with objects of one kind, by workers that are killed.
///
/// Its ledger is memory of all processes: there each worker says what it is about to do, and what came of it.
protocol Trial: Sendable {
    var name: String { get }
    var ledger: TrialLedger { get }
    /// What was done: what it is tried for, which must be more than nothing, and then what else.
    var done: [(String, SharedWord64)] { get }
    /// What must not be.
    var faults: [(String, SharedWord64)] { get }

    /// Before a round, in which all objects are new.
    func beginRound()
    /// Whether a life is let go on until it has done what it is there for.
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool
    /// One life of a worker.
    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws
    /// What who lives through the round does all the time.
    func attend(_ namespace: Namespace) throws
    /// Notes that a worker has been killed, and is gone.
    func bury(_ worker: Int)
    /// Holds what was said against what is there, when all workers have ended.
    func judge(_ namespace: Namespace) throws
}

extension Trial {
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool { false }
    func attend(_ namespace: Namespace) throws { usleep(1000) }
    func bury(_ worker: Int) {}

    /// How many faults were found.
    var found: Int { faults.reduce(0) { $0 + Int($1.1.load()) } }
}

/// A life of a worker: whose, and to what end.
struct Life: Sendable {
    let worker: Int
    let workers: Int
    /// The round is over, and nobody is killed any more: what was left half is settled.
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

    /// Of the whole run; 2 to 31 are the trial's own.
    func total(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }
    /// Of a round.
    func word(_ index: Int) -> SharedWord64 { total(Self.firstOfRound + index) }
    func row(_ index: Int) -> SharedWord64 { memory.word64(Self.header + index * 8) }

    func beginRound() {
        for index in 0..<(64 - Self.firstOfRound) { word(index).store(0) }
        for index in 0..<rows where row(index).load() != 0 { row(index).store(0) }
    }
}
