import SharedSpace
import SpaceInspection
import SpaceSystem

/// Compares what workers acknowledged with the contents, and with the changes that a watcher was told.
struct KillAudit {
    private var acknowledged = 0
    private var lost: [Int] = []
    private var doubled: [Int] = []
    private var unexplained: [Int] = []
    private var indeterminate = 0
    private var disagreeing: [Int] = []
    private let told: KillJournal.Told
    private let damage: [String]
    private let leftovers: [String]
    private let ledger: KillLedger
    private let deaths: [KillLedger.Death]

    init(_ ledger: KillLedger, _ journal: KillJournal, _ namespace: Namespace, _ space: Space) throws {
        self.ledger = ledger
        told = journal.told
        deaths = ledger.allDeaths
        damage = try namespace.verify()
        // The next process that lists namespaces clears away what workers killed while creating or deleting left
        // behind.
        leftovers = try space.namespaceNames().filter { $0 != KillWorker.name }
        let present = try namespace.matches(KillWorker.template).compactMap { try $0.tuple().jobNumber }
        judge(Set(present))
        if Set(present).count != present.count { doubled.append(-1) }
    }

    private mutating func judge(_ present: Set<Int>) {
        // How many tuples a killed process can have taken without saying so; a PID may have had several lives.
        var mayHaveTaken: [Int32: Int] = [:]
        var mayHaveWritten: Set<Int> = []
        for death in deaths {
            if death.doing == .taking || death.doing == .completing { mayHaveTaken[death.pid, default: 0] += 1 }
            if death.doing == .writing || death.doing == .moving { mayHaveWritten.insert(death.number) }
            // Both or none: the process that moved a tuple has written the other one.
            if death.doing == .moving, told.writes[death.number] == 1 { mayHaveTaken[death.pid, default: 0] += 1 }
        }
        for number in 0..<min(Int(ledger.nextNumber.load()), KillLedger.capacity) {
            let state = ledger.state(number)
            let isPresent = present.contains(number)
            let takers = told.takers[number] ?? []
            if state.isAcknowledged { acknowledged += 1 }
            if state.taken > 1 || state.taken == 1 && isPresent { doubled.append(number) }
            if state.isBegun, !state.isAcknowledged {
                indeterminate += 1
                if !mayHaveWritten.contains(number) { unexplained.append(number) }
            }
            let isCommitted = isPresent || state.taken > 0 || !takers.isEmpty
            if state.isAcknowledged, !isPresent, state.taken == 0 {
                indeterminate += 1
                if let taker = takers.first {
                    mayHaveTaken[taker, default: 0] -= 1
                    if mayHaveTaken[taker, default: 0] < 0 { unexplained.append(number) }
                } else {
                    lost.append(number)
                }
            }
            // A watcher that fell behind was told so; then a change that it was not told proves nothing.
            if told.gaps == 0 {
                let writes = told.writes[number] ?? 0
                let isTaken = isCommitted && !isPresent
                let agrees =
                    writes == (state.isAcknowledged || isCommitted ? 1 : 0) && takers.count == (isTaken ? 1 : 0)
                if !agrees { disagreeing.append(number) }
            }
        }
    }

    func report() -> Report {
        let failures = Int(ledger.failures.load())
        let delays = ledger.delays
        var byPoint: JSONObject = [:]
        for (index, point) in KillLedger.points.enumerated() {
            byPoint.add(point.rawValue, Int(ledger.kills(index).load()))
        }
        byPoint.add("atRandom", Int(ledger.kills(KillLedger.points.count).load()))
        let waits: JSONObject = [
            "median": RawJSON(milliseconds(delays.isEmpty ? 0 : delays[delays.count / 2])),
            "max": RawJSON(milliseconds(delays.last ?? 0)),
        ]

        let object: JSONObject = [
            "kills": Int(ledger.deathCount.load()), "killsInsideAnOperation": deaths.count { $0.doing != .nothing },
            "killsByPoint": byPoint, "acknowledged": acknowledged, "taken": Int(ledger.takenCount.load()),
            "lost": lost.count, "doubled": doubled.count, "unexplained": unexplained.count,
            "indeterminate": indeterminate, "journalDisagrees": disagreeing.count, "journalGaps": told.gaps,
            "journalOutOfOrder": told.disorder, "failures": failures, "damage": damage, "leftovers": leftovers,
            "nextWriterMs": waits,
        ]
        let isGood =
            lost.isEmpty && doubled.isEmpty && unexplained.isEmpty && disagreeing.isEmpty && told.disorder == 0
            && failures == 0 && damage.isEmpty && leftovers.isEmpty && acknowledged > 0
        for (what, numbers) in [("lost", lost), ("doubled", doubled), ("unexplained", unexplained)]
        where !numbers.isEmpty {
            note("\(what): \(numbers.prefix(8))")
        }
        for number in disagreeing.prefix(8) {
            note(
                "\(number): \(ledger.state(number)), told \(told.writes[number] ?? 0) writes, taken by \(told.takers[number] ?? [])"
            )
        }
        return Report("kill", isGood: isGood, object)
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String {
        "\(Double(nanoseconds / 1000) / 1000)"
    }
}
