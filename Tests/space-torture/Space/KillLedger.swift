import Glibc
import SharedSpace
import SpaceSystem

/// The steps that workers noted before and after making them: memory shared by all processes of a run, which a kill
/// leaves as it was at that instant.
///
/// Each tuple has a number, and a word here: whether its write was begun and acknowledged, and how many workers have
/// acknowledged that they took it. Each worker has a place that names the step it is in.
struct KillLedger: Sendable {
    static let capacity = 4 << 20
    static let samples = 1 << 16
    static let deaths = 1 << 20
    private static let places = 256
    /// The workers watch nothing.
    static let points = CrashPoint.allCases.filter { ![.nothingReady, .beforeLogging, .logged].contains($0) }

    enum Doing: UInt32 {
        case nothing, opening, writing, taking, moving, claiming, completing, releasing, leaving, setting, locking
    }

    private let memory: SharedMemory

    init() throws { memory = try SharedMemory(size: Self.size) }

    private static let header = 4096
    private static let numberStart = header + places * 64
    private static let sampleStart = numberStart + capacity * 4
    private static let deathStart = sampleStart + samples * 8
    private static let size = deathStart + deaths * 16

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    var stop: SharedWord64 { word(0) }
    var nextNumber: SharedWord64 { word(1) }
    var killedAt: SharedWord64 { word(2) }
    var sampleCount: SharedWord64 { word(3) }
    var deathCount: SharedWord64 { word(4) }
    var takenCount: SharedWord64 { word(5) }
    var failures: SharedWord64 { word(6) }
    /// Not 0 once the watcher is registered, whose journal the audit relies on from the first write.
    private var start: SharedWord32 { memory.word32(7 * 64) }

    /// Lets the supervisors begin.
    func begin() {
        start.store(1)
        Futex(at: start.address).wake(.max)
    }

    /// Waits until the supervisors may begin, or the run stops.
    func waitForStart() {
        while start.load() == 0, stop.load() == 0 {
            // A fault may stop the run before it begins.
            _ = try? Futex(at: start.address).wait(while: 0, for: .seconds(1))
        }
    }

    /// By point, the last for kills at a random time.
    func kills(_ point: Int) -> SharedWord64 { memory.word64(1024 + point * 8) }

    // MARK: Tuples

    private func tuple(_ number: Int) -> SharedWord32 { memory.word32(Self.numberStart + number * 4) }

    func begin(_ number: Int) { _ = tuple(number).setBits(1) }
    /// There was nothing to do after all.
    func withdraw(_ number: Int) { _ = tuple(number).keepBits(~1) }
    func acknowledge(_ number: Int) { _ = tuple(number).setBits(2) }
    func take(_ number: Int) {
        _ = tuple(number).add(256)
        _ = takenCount.add(1)
    }
    func state(_ number: Int) -> (isBegun: Bool, isAcknowledged: Bool, taken: Int) {
        let word = tuple(number).load()
        return (word & 1 != 0, word & 2 != 0, Int(word >> 8))
    }

    // MARK: Workers

    struct Place {
        let doing: SharedWord32
        let number: SharedWord32

        func begin(_ what: Doing, _ tuple: Int = 0) {
            number.store(UInt32(tuple))
            doing.storeSequential(what.rawValue)
        }
        func end() { doing.storeSequential(0) }
    }

    func place(_ worker: Int) -> Place {
        let offset = Self.header + worker * 64
        return Place(doing: memory.word32(offset), number: memory.word32(offset + 4))
    }

    // MARK: Deaths

    struct Death {
        let pid: Int32
        let doing: Doing
        let number: Int
    }

    func noteDeath(of pid: Int32, _ place: Place, point: Int) {
        _ = kills(point).add(1)
        _ = killedAt.compareExchange(expected: 0, desired: UInt64(MonotonicInstant.now.nanoseconds))
        let index = Int(deathCount.add(1))
        guard index < Self.deaths else { return }
        let record = memory.base + Self.deathStart + index * 16
        record.storeBytes(of: pid, as: Int32.self)
        (record + 4).storeBytes(of: place.doing.load(), as: UInt32.self)
        (record + 8).storeBytes(of: place.number.load(), as: UInt32.self)
    }

    var allDeaths: [Death] {
        (0..<min(Int(deathCount.load()), Self.deaths)).map { index in
            let record = memory.base + Self.deathStart + index * 16
            return Death(
                pid: record.load(as: Int32.self),
                doing: Doing(rawValue: (record + 4).load(as: UInt32.self)) ?? .nothing,
                number: Int((record + 8).load(as: UInt32.self))
            )
        }
    }

    /// Called by each worker that has written: the first call after a kill says how long recovery took.
    func noteProgress() {
        let since = killedAt.load()
        guard since != 0, killedAt.compareExchange(expected: since, desired: 0).exchanged else { return }
        let index = Int(sampleCount.add(1))
        guard index < Self.samples else { return }
        let elapsed = UInt64(MonotonicInstant.now.nanoseconds) &- since
        memory.word64(Self.sampleStart + index * 8).store(elapsed)
    }

    /// Nanoseconds from a kill to the next acknowledged write, sorted.
    var delays: [UInt64] {
        (0..<min(Int(sampleCount.load()), Self.samples)).map {
            memory.word64(Self.sampleStart + $0 * 8).load()
        }.sorted()
    }
}
