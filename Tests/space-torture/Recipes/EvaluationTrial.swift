import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// Workers that evaluate tuples, and are killed while the programs run.
///
/// An acknowledged tuple is there once; an unacknowledged one once or not at all; the tuple of a program that failed
/// never. No program outlives the process that waits for it.
struct EvaluationTrial: Trial {
    let name = "evaluations"
    let ledger: TrialLedger
    /// How long the endless programs sleep: a number that no other process has among its arguments.
    private let sleep = "3600.0\(getpid())"

    private static let tuples = 1 << 14
    private static let begun: UInt64 = 1
    private static let isToFail: UInt64 = 2
    private static let written: UInt64 = 4

    init() throws { ledger = try TrialLedger(rows: Self.tuples) }

    private var acknowledged: SharedWord64 { ledger.total(2) }
    private var failed: SharedWord64 { ledger.total(3) }
    private var timedOut: SharedWord64 { ledger.total(4) }
    private var lost: SharedWord64 { ledger.total(10) }
    private var doubled: SharedWord64 { ledger.total(11) }
    private var unexplained: SharedWord64 { ledger.total(12) }
    private var orphans: SharedWord64 { ledger.total(13) }

    var done: [(String, SharedWord64)] { [("written", acknowledged), ("failed", failed), ("timedOut", timedOut)] }
    var faults: [(String, SharedWord64)] {
        [("lost", lost), ("doubled", doubled), ("unexplained", unexplained), ("orphans", orphans)]
    }

    private var next: SharedWord64 { ledger.word(0) }

    func beginRound() { ledger.beginRound() }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        if life.isLast { return try evaluate(0, isSuspending: false, life, namespace) }
        while !life.isOver {
            let way = Int.random(in: 0..<8, using: &generator)
            try evaluate(way, isSuspending: Bool.random(using: &generator), life, namespace)
        }
    }

    private func evaluate(_ way: Int, isSuspending: Bool, _ life: Life, _ namespace: Namespace) throws {
        let number = Int(next.add(1))
        guard number < Self.tuples else { return life.stop.store(1) }
        let tuple = "[\"done\",\(number)]"
        let isEndless = way > 6
        let (words, expected): ([String], SpaceError.Code?) =
            switch way {
            case 0...3: (["/bin/echo", tuple], nil)
            case 4: (["/bin/sh", "-c", "echo '\(tuple)'; exec sleep 0.002"], nil)
            case 5: (["/bin/sh", "-c", "echo '\(tuple)'; exit 3"], .evaluationFailed)
            case 6: (["/bin/sh", "-c", "printf '[\"done\",'"], .evaluationFailed)
            default: (["/bin/sleep", sleep], nil)
            }
        ledger.row(number).store(Self.begun | (expected == nil && !isEndless ? 0 : Self.isToFail))
        let timeout = isEndless ? .milliseconds(2) : life.patience
        if life.isFaulty, number % 5 == 2 { return ledger.row(number).store(Self.begun | Self.written) }
        do {
            let id =
                isSuspending
                ? try runTask { try await namespace.evaluate(words, timeout: timeout) }
                : try namespace.evaluate(words, timeout: timeout)
            if id == nil, isEndless {
                _ = timedOut.add(1)
                return
            }
            guard id != nil else { throw UsageError(text: "an evaluation did not end in \(timeout)") }
            _ = acknowledged.add(1)
            _ = ledger.row(number).setBits(Self.written)
        } catch let error as SpaceError where error.code == expected {
            _ = failed.add(1)
        }
    }

    func judge(_ namespace: Namespace) throws {
        var there: [Int: Int] = [:]
        for tuple in try namespace.readAll() {
            guard tuple.fields.count == 2, tuple.fields[0] == .string("done"), case .int(let number) = tuple.fields[1]
            else {
                noteFault(unexplained, "there is \(tuple.json)")
                continue
            }
            there[Int(number), default: 0] += 1
        }
        for number in 0..<min(Int(next.load()), Self.tuples) {
            let word = ledger.row(number).load()
            let times = there.removeValue(forKey: number) ?? 0
            if times > 1 { noteFault(doubled, "tuple \(number) is there \(times) times") }
            if times == 0, word & Self.written != 0 { noteFault(lost, "tuple \(number) was written, and is not there") }
            if times > 0, word & Self.isToFail != 0 {
                noteFault(unexplained, "tuple \(number) is of a program that failed")
            }
        }
        for number in there.keys { noteFault(unexplained, "tuple \(number) was evaluated by nobody") }
        // prctl(2), PR_SET_PDEATHSIG: the signal is sent when the parent dies, and takes a moment to arrive.
        let deadline = MonotonicInstant.now.advanced(by: .seconds(10))
        while case let left = try sleepers(), !left.isEmpty {
            if deadline.hasPassed {
                noteFault(orphans, "\(left.count) programs run on, and who waited for them has ended")
                // The programs have inherited the pipe by which the part reports.
                return left.forEach { kill($0, SIGKILL) }
            }
            usleep(1000)
        }
    }

    /// The programs of the trial that are running.
    private func sleepers() throws -> [Int32] {
        let folder = try OwnedDescriptor.open("/proc", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw).compactMap(Int32.init).filter { pid in
            guard let file = try? OwnedDescriptor.open("/proc/\(pid)/cmdline", flags: O_RDONLY) else { return false }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = bytes.withUnsafeMutableBytes { read(file.raw, $0.baseAddress, $0.count) }
            return bytes.prefix(max(0, count)).split(separator: 0).contains { $0.elementsEqual(sleep.utf8) }
        }
    }
}
