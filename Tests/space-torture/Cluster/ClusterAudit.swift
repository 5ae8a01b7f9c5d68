import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport

/// Compares what workers acknowledged with the contents of the replicas, and the replicas with each other.
struct ClusterAudit {
    private let ledger: ClusterLedger
    private let deaths: [KillLedger.Death]
    private var acknowledged = 0
    private var lost: [Int] = []
    private var doubled: [Int] = []
    /// There, or taken, although the cluster has said that nothing was changed.
    private var phantoms: [Int] = []
    /// Begun, never acknowledged, by no process that was killed or did not know the outcome.
    private var unexplained: [Int] = []
    private var indeterminate = 0
    /// Loose tuples that are gone, and how many may have been taken without a word.
    private var looseGone = 0
    private var looseLimit = 0
    private var counter = 0
    private var countedTwice = 0
    private var counterLimit = 0
    private var overlaps = 0
    private var differences: [String] = []
    private var damage: [String] = []
    private var setAside: [String] = []
    private var entries = 0

    private static let patience = Duration.seconds(90)

    init(_ ledger: ClusterLedger, roots: [String]) throws {
        self.ledger = ledger
        deaths = ledger.kill.allDeaths
        let names = [ClusterWorker.name, ClusterHistoryWorker.name]
        var first: Namespace?
        for name in names {
            let namespaces = try compare(name, roots)
            if first == nil { first = namespaces.first }
        }
        guard let first else { return }
        try judge(first)
        judgeHolds()
        for root in roots {
            let folder = try OwnedDescriptor.open(root, flags: O_RDONLY | O_DIRECTORY)
            guard let aside = try? OwnedDescriptor.open("\(root)/.aside", flags: O_RDONLY | O_DIRECTORY) else {
                continue
            }
            setAside += try Directory.list(aside.raw).map { "\(root): \($0)" }
            _ = consume folder
        }
    }

    // MARK: Replicas

    /// Tries again while the cluster refuses.
    private static func trying<Result>(_ body: () throws -> Result) throws -> Result {
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while true {
            do { return try body() } catch let error as SpaceError {
                if deadline.hasPassed || !ClusterLedger.refusals.contains(error.code) { throw error }
                usleep(100_000)
            }
        }
    }

    private static func open(_ name: String, _ root: String) throws -> Namespace {
        try trying { try Space(root: root, timeout: .seconds(10)).existingNamespace(name) }
    }

    /// Waits until all replicas have the same entries, and nothing is claimed any more, and compares them byte for byte.
    ///
    /// Returns: The namespace on each machine.
    private mutating func compare(_ name: String, _ roots: [String]) throws -> [Namespace] {
        let namespaces = try roots.map { try Self.open(name, $0) }
        let deadline = MonotonicInstant.now.advanced(by: Self.patience)
        var contents: [NamespaceContents] = []
        var claims = 0
        repeat {
            contents = try Self.trying {
                for namespace in namespaces { try namespace.synchronize() }
                return try namespaces.map { try NamespaceContents(of: $0) }
            }
            claims = try Self.trying { try namespaces[0].status().claims.count }
            usleep(50_000)
        } while (claims > 0 || Set(contents.map(\.entry)).count != 1) && !deadline.hasPassed
        entries += Int(contents[0].entry)
        if claims > 0 { differences.append("\(name): \(claims) claims of dead processes do not return") }
        if Set(contents.map(\.entry)).count != 1 {
            differences.append("\(name): the replicas stay at entries \(contents.map(\.entry))")
        } else {
            for (machine, other) in contents.enumerated().dropFirst() {
                differences += contents[0].differences(from: other).map { "\(name), machine \(machine): \($0)" }
            }
        }
        for (machine, namespace) in namespaces.enumerated() {
            damage += try namespace.verify().map { "\(name), machine \(machine): \($0)" }
        }
        return namespaces
    }

    // MARK: Tuples

    private mutating func judge(_ namespace: Namespace) throws {
        let exact = try namespace.matches(ClusterWorker.exact).compactMap { try $0.tuple().numberOfField(1) }
        let loose = try namespace.matches(ClusterWorker.loose).compactMap { try $0.tuple().numberOfField(1) }
        let present = Set(exact + loose)
        if present.count != exact.count + loose.count { doubled.append(-1) }
        var mayHaveTaken: Set<Int> = []
        var mayHaveWritten: Set<Int> = []
        for death in deaths {
            switch death.doing {
            case .taking where death.number == 0: looseLimit += 1
            case .taking, .completing: mayHaveTaken.insert(death.number)
            case .writing: mayHaveWritten.insert(death.number)
            case .moving:
                mayHaveWritten.insert(death.number)
                let old = Int(ledger.moved(death.number).load())
                let isMoved = present.contains(death.number) || ledger.kill.state(death.number).taken > 0
                // Both or none; that it was done, and the new tuple was taken without a word, shows nowhere.
                if isMoved, present.contains(old) { doubled.append(old) }
                mayHaveTaken.insert(old)
            default: break
            }
        }
        for number in 0..<min(Int(ledger.kill.nextNumber.load()), KillLedger.capacity) {
            let state = ledger.kill.state(number)
            let isPresent = present.contains(number)
            if state.isAcknowledged { acknowledged += 1 }
            if state.taken > 1 || state.taken == 1 && isPresent { doubled.append(number) }
            if !state.isBegun, isPresent || state.taken > 0 { phantoms.append(number) }
            if state.isBegun, !state.isAcknowledged {
                indeterminate += 1
                if !mayHaveWritten.contains(number) { unexplained.append(number) }
            }
            guard state.isAcknowledged, !isPresent, state.taken == 0 else { continue }
            indeterminate += 1
            if ClusterWorker.isLoose(number) {
                looseGone += 1
            } else if !mayHaveTaken.contains(number) {
                lost.append(number)
            }
        }
        if case .int(let content)? = try namespace.get(ClusterWorker.counter) { counter = content }
        for number in 1...max(1, counter) where ledger.setters(number).load() > 1 { countedTwice += 1 }
        counterLimit = Int(ledger.counted.load()) + deaths.count { $0.doing == .setting }
        // Nothing holds the lock any more.
        try Self.trying {
            let lock = namespace.lock(ClusterWorker.lock)
            try lock.acquireOrTell(.exclusive, timeout: .seconds(10), interruption: nil).release()
        }
    }

    /// Holds that were kept until they were released must be one after the other, in the order of their numbers.
    private mutating func judgeHolds() {
        let holds = ledger.keptHolds.sorted { $0.fencing < $1.fencing }
        for (hold, next) in zip(holds, holds.dropFirst()) where next.start < hold.end || next.fencing == hold.fencing {
            if overlaps < 8 { note("two hold the lock: \(hold) and \(next)") }
            overlaps += 1
        }
    }

    // MARK: Findings

    var isGood: Bool {
        let failures = ledger.failures.load()
        let isWhole = lost.isEmpty && doubled.isEmpty && phantoms.isEmpty && unexplained.isEmpty
        let isCounted =
            countedTwice == 0 && counter >= Int(ledger.counted.load()) && counter <= counterLimit
            && looseGone <= looseLimit
        let isFenced = overlaps == 0 && ledger.unfenced.load() == 0
        return isWhole && isCounted && isFenced && differences.isEmpty && damage.isEmpty && setAside.isEmpty
            && ledger.toldWrongly.load() == 0 && failures == 0 && acknowledged > 0
    }

    func add(to object: inout JSONObject) {
        for (what, numbers) in [
            ("lost", lost), ("doubled", doubled), ("phantoms", phantoms), ("unexplained", unexplained),
        ] where !numbers.isEmpty {
            note("\(what): \(numbers.prefix(8))")
        }
        for text in (differences + damage + setAside).prefix(8) { note(text) }
        var refusals: JSONObject = [:]
        for (index, code) in ClusterLedger.refusals.enumerated() {
            refusals.add(code.rawValue, Int(ledger.refused(index).load()))
        }
        let unknown = Int(ledger.unknown.load())
        object.add("entries", entries)
        object.add("workersKilled", Int(ledger.kill.kills(KillLedger.points.count).load()))
        var points: JSONObject = [:]
        for (index, point) in ClusterSupervisor.points.enumerated() {
            points.add(point.rawValue, Int(ledger.killedAt(index).load()))
        }
        object.add("killedAtPoints", points)
        object.add("workersStopped", Int(ledger.stops.load()))
        object.add("openEnds", deaths.count { $0.doing != .nothing })
        object.add("acknowledged", acknowledged)
        object.add("taken", Int(ledger.kill.takenCount.load()))
        object.add("outcomesUnknown", unknown)
        object.add("refused", refusals)
        object.add("claimsLost", Int(ledger.claimsLost.load()))
        object.add("lost", lost.count)
        object.add("doubled", doubled.count)
        object.add("phantoms", phantoms.count)
        object.add("unexplained", unexplained.count)
        object.add("indeterminate", indeterminate)
        object.add("looseGone", looseGone)
        object.add("looseGoneAtMost", looseLimit)
        object.add("counter", counter)
        object.add("counterAtLeast", Int(ledger.counted.load()))
        object.add("counterAtMost", counterLimit)
        object.add("countedTwice", countedTwice)
        object.add("holds", Int(ledger.holds.load()))
        object.add("overlaps", overlaps)
        object.add("unfenced", Int(ledger.unfenced.load()))
        object.add("fencedOff", Int(ledger.fencedOff.load()))
        object.add("changesTold", Int(ledger.told.load()))
        object.add("changeGaps", Int(ledger.gaps.load()))
        object.add("toldWrongly", Int(ledger.toldWrongly.load()))
        object.add("differences", differences)
        object.add("damage", damage)
        object.add("setAside", setAside)
        object.add("failures", Int(ledger.failures.load()))
    }
}
