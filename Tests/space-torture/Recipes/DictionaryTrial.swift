import SeededRandom
import SharedSpaceObjects
import SpaceSystem

/// A dictionary that workers change, and are killed; the last of them observes it, and is killed too.
///
/// Each worker has keys of its own: such a key has the acknowledged value, or the one that the worker was about to set.
/// Two keys that are set in one transaction are equal for every reader. The observer's copy fits each change that it is
/// told, and ends equal.
struct DictionaryTrial: Trial {
    let name = "dictionaries"
    let ledger: TrialLedger
    private let workers: Int

    private static let keys = 4

    init(workers: Int) throws {
        self.workers = workers
        ledger = try TrialLedger(rows: workers * Self.keys * 2)
    }

    private var made: SharedWord64 { ledger.total(2) }
    private var told: SharedWord64 { ledger.total(3) }
    private var compared: SharedWord64 { ledger.total(4) }
    private var lost: SharedWord64 { ledger.total(10) }
    private var torn: SharedWord64 { ledger.total(11) }
    private var misfits: SharedWord64 { ledger.total(12) }
    private var differing: SharedWord64 { ledger.total(13) }

    var done: [(String, SharedWord64)] { [("changes", made), ("told", told), ("compared", compared)] }
    var faults: [(String, SharedWord64)] {
        [("lost", lost), ("torn", torn), ("misfits", misfits), ("differing", differing)]
    }

    // Words of a round.
    private var nextValue: SharedWord64 { ledger.word(0) }
    private var sumsBegun: SharedWord64 { ledger.word(1) }
    private var sumsEnded: SharedWord64 { ledger.word(2) }

    func beginRound() { ledger.beginRound() }

    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<(worker == workers - 1 ? 2 : 4), using: &generator) == 0
    }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let dictionary = try namespace.dictionary("d", of: Int.self)
        if life.worker == workers - 1 { return try observe(dictionary, life) }
        var entries = (0..<Self.keys).map { DictionaryEntry(ledger, life.worker * Self.keys + $0) }
        for entry in entries where !entry.settle(try dictionary.value(forKey: entry.key)) {
            noteFault(lost, "\(entry.key) is another in the dictionary")
        }
        if life.isLast {
            try dictionary.updateValue(1, forKey: end(life.worker))
            return
        }
        for _ in 0..<400 where !life.isOver {
            entries.shuffle(using: &generator)
            try change(dictionary, entries, life, Int.random(in: 0..<9, using: &generator))
            _ = made.add(1)
        }
    }

    private func change(
        _ dictionary: SharedDictionary<Int>,
        _ entries: [DictionaryEntry],
        _ life: Life,
        _ way: Int
    ) throws {
        let (entry, value) = (entries[0], Int(nextValue.add(1)) + 1)
        let (key, old) = (entry.key, entry.value)
        func expect(_ isRight: Bool) { if !isRight { noteFault(lost, "\(key) was another before") } }
        switch way {
        case 0, 1:
            try entry.change(to: value) {
                if life.isFaulty, value % 20 == 7 { return }
                expect(try dictionary.updateValue(value, forKey: key) == old)
            }
        case 2: try entry.change(to: nil) { expect(try dictionary.removeValue(forKey: key) == old) }
        case 3:
            try entry.change(to: value) {
                expect(try dictionary.compareAndSet(expected: old, new: value, forKey: key))
            }
        case 4: expect(try !dictionary.compareAndSet(expected: -1, new: value, forKey: key))
        case 5: try entry.change(to: old ?? value) { _ = try dictionary.setDefault(value, forKey: key) }
        case 6:
            let other = entries[1]
            try entry.change(to: value) {
                try other.change(to: value) {
                    try dictionary.merge([key: value, other.key: value]) { _, new in new }
                }
            }
        case 7:
            _ = sumsBegun.add(1)
            try dictionary.modify("sum") { $0 = ($0 ?? 0) + 1 }
            _ = sumsEnded.add(1)
        default:
            try dictionary.namespace.transaction { t in
                for key in ["left", "right"] { try t.dictionary(dictionary).updateValue(value, forKey: key) }
            }
            let there = try dictionary.snapshot()
            if there["left"] != there["right"] { noteFault(torn, "two keys that are set together differ") }
        }
    }

    // MARK: Observing

    private func end(_ worker: Int) -> String { "end \(worker)" }

    private func observe(_ dictionary: SharedDictionary<Int>, _ life: Life) throws {
        let changes = try dictionary.changes()
        let copy = try runTask {
            var copy: [String: Int] = [:]
            var sequence: UInt64 = 0
            var turn = 0
            for try await change in changes {
                turn += 1
                _ = told.add(1)
                if life.isFaulty, turn % 20 == 7 { continue }
                if !fits(change, copy, after: sequence) {
                    noteFault(misfits, "change \(change.sequence) does not fit: \(change.event)")
                }
                sequence = change.sequence
                change.apply(to: &copy)
                if (0..<(workers - 1)).allSatisfy({ copy[end($0)] != nil }) { break }
            }
            return copy
        }
        _ = compared.add(1)
        if try dictionary.snapshot() != copy { noteFault(differing, "the observer's copy differs at the end") }
    }

    private func fits(_ change: DictionaryChange<Int>, _ copy: [String: Int], after sequence: UInt64) -> Bool {
        switch change.event {
        case .reset: change.sequence >= sequence
        case .set(let key, _, let old): change.sequence > sequence && copy[key] == old
        case .unset(let key, let old): change.sequence > sequence && old != nil && copy[key] == old
        case .removed: false
        }
    }

    func judge(_ namespace: Namespace) throws {
        let sum = try namespace.dictionary("d", of: Int.self).value(forKey: "sum") ?? 0
        if sum < Int(sumsEnded.load()) || sum > Int(sumsBegun.load()) {
            noteFault(
                lost,
                "\(sumsEnded.load()) of \(sumsBegun.load()) additions were acknowledged, and the sum is \(sum)"
            )
        }
    }
}

/// A key that one worker alone sets: its acknowledged value, and the one that the worker may be about to set.
struct DictionaryEntry {
    let key: String
    private let had: SharedWord64
    private let coming: SharedWord64

    init(_ ledger: TrialLedger, _ index: Int) {
        key = "key \(index)"
        had = ledger.row(2 * index)
        coming = ledger.row(2 * index + 1)
    }

    /// The acknowledged value; 0 in the ledger stands for none.
    var value: Int? { had.load() == 0 ? nil : Int(had.load()) }

    func change(to value: Int?, _ body: () throws -> Void) throws {
        coming.store(UInt64(value ?? 0) + 1)
        try body()
        had.store(UInt64(value ?? 0))
        coming.store(0)
    }

    /// Returns whether the value found at the beginning of a life is the acknowledged one, or the one that the life
    /// before was about to set.
    func settle(_ there: Int?) -> Bool {
        let there = UInt64(there ?? 0)
        let isRight = there == had.load() || coming.load() == there + 1
        had.store(there)
        coming.store(0)
        return isRight
    }
}
