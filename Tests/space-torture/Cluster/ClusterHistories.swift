import Glibc
import LinearizabilityChecker
import SeededRandom
import SharedSpace
import SpaceSystem

/// Begins one history after the other, looks at the end of each, and judges whether it is linearizable.
///
/// It is a process of its own that nothing kills. It looks at the end through any machine that answers.
struct ClusterHistories {
    let roots: [String]
    let board: ClusterHistoryBoard
    let ledger: ClusterLedger

    /// The place of the process that looks at the end.
    private static let looker = HistoryLog.processes - 1

    func work(_ generator: inout SeededGenerator) throws {
        var namespaces: [Namespace?] = roots.map { _ in nil }
        var history: UInt64 = 0
        while ledger.stop.load() == 0 {
            history += 1
            while board.isLogInUse(by: history), ledger.stop.load() == 0 { usleep(1000) }
            let log = board.log(of: history)
            log.clear()
            board.current.storeSequential(history)
            wait(.seconds(5)) { board.isOver(history) }
            board.closed.storeSequential(history)
            // A call that a process has begun ends by itself, unless the process is stopped.
            wait(.seconds(20)) { board.isQuiet(history) }
            let isSeen = lookAtEnd(history, log, &namespaces, &generator)
            judge(history, log, isSeen)
        }
        for namespace in namespaces { try? namespace?.leave() }
    }

    private func wait(_ time: Duration, until isDone: () -> Bool) {
        let deadline = MonotonicInstant.now.advanced(by: time)
        while !isDone(), !deadline.hasPassed, ledger.stop.load() == 0 { usleep(2000) }
    }

    // MARK: The end

    /// Takes what is left, and reads the cells; each call is one of the history.
    private func lookAtEnd(
        _ history: UInt64,
        _ log: HistoryLog,
        _ namespaces: inout [Namespace?],
        _ generator: inout SeededGenerator
    ) -> Bool {
        var machine = Int.random(in: roots.indices, using: &generator)
        let deadline = MonotonicInstant.now.advanced(by: .seconds(60))
        /// Makes a call on a machine that answers; `nil` if none does.
        func look(_ kind: HistoryLog.Kind, _ object: Int, _ body: (Namespace) throws(SpaceError) -> Int?) -> Int?? {
            while !deadline.hasPassed, log.noted(Self.looker) < HistoryLog.capacity {
                let noted = log.begin(Self.looker, kind, object: object)
                do throws(SpaceError) {
                    let namespace = try open(machine, &namespaces)
                    try namespace.synchronize()
                    let result = try body(namespace)
                    log.end(Self.looker, noted, result)
                    return .some(result)
                } catch {
                    if error.code != .outcomeUnknown { log.withdraw(Self.looker, noted) }
                    if !ClusterLedger.refusals.contains(error.code), error.code != .outcomeUnknown {
                        noteFault(ledger.failures, "the end of a history can't be seen: \(error)")
                    }
                    try? namespaces[machine]?.leave()
                    namespaces[machine] = nil
                    machine = (machine + 1) % roots.count
                    usleep(100_000)
                }
            }
            return nil
        }
        for object in 0..<ClusterHistoryWorker.templates {
            while true {
                let found = look(.take, object) { (namespace) throws(SpaceError) in
                    try namespace.takeIfExists(matching: board.template(history, object))?.numberOfField(3)
                }
                guard let found else { return false }
                if found == nil { break }
            }
        }
        let cell = board.cell(history)
        return look(.get, 0) { (namespace) throws(SpaceError) in
            guard case .int(let content)? = try namespace.get(cell) else { return nil }
            return content
        } != nil
    }

    private func open(_ machine: Int, _ namespaces: inout [Namespace?]) throws(SpaceError) -> Namespace {
        if let namespace = namespaces[machine] { return namespace }
        let namespace = try Space(root: roots[machine], timeout: .seconds(10)).existingNamespace(
            ClusterHistoryWorker.name
        )
        namespaces[machine] = namespace
        return namespace
    }

    // MARK: Judging

    private func judge(_ history: UInt64, _ log: HistoryLog, _ isSeen: Bool) {
        let entries = (0..<HistoryLog.processes).flatMap { log.entries(of: $0) }
        let judge = HistoryJudge(templates: ClusterHistoryWorker.templates, cells: ClusterHistoryWorker.cells)
        let faults = judge.faults(entries) { template in returning(entries.filter { $0.object == template }) }
        for fault in faults { noteFault(board.wrong, "history \(board.number).\(history): \(fault)") }
        _ = board.histories.add(1)
        _ = board.calls.add(UInt64(entries.count))
        let pending = entries.count { $0.returned == nil }
        _ = board.pending.add(UInt64(pending))
        if pending > 0 || entries.contains(where: isLost) { _ = board.disturbed.add(1) }
        if !isSeen { _ = board.unfinished.add(1) }
    }

    private func isLost(_ entry: HistoryLog.Entry) -> Bool {
        (entry.kind == .complete || entry.kind == .release) && entry.returned?.result == HistoryLog.claimLost
    }

    /// The calls by which claims return that no process has ended: their process was killed, does not know the outcome, or
    /// was told that the claim was lost.
    private func returning(_ entries: [HistoryLog.Entry]) -> [Call<TupleBag.Operation, TupleBag.Response>] {
        var returning: [Call<TupleBag.Operation, TupleBag.Response>] = []
        for process in 0..<ClusterHistoryBoard.places {
            let own = entries.filter { $0.process == process }
            for (index, claim) in own.enumerated() where claim.kind == .claim {
                let end = own[(index + 1)...].first { $0.kind == .complete || $0.kind == .release }
                if let end, end.returned != nil, !isLost(end) { continue }
                returning.append(Call(process: process, invoked: claim.invoked, returned: nil, .release))
            }
        }
        return returning
    }
}
