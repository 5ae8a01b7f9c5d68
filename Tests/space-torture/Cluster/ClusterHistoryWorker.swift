import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// A process that takes part in one history of a replicated namespace after the other, until it is killed.
///
/// It looks only after ``Namespace/synchronize(timeout:)``: a replica may be behind, and that is no fault. A call that the
/// cluster refuses has changed nothing, and is no part of the history; one with an unknown outcome is like one of a killed
/// process.
struct ClusterHistoryWorker {
    static let name = "history"
    static let templates = 2
    static let cells = 1
    private static let calls = 10

    let root: String
    /// Its place, and which machine it is on.
    let process: Int
    let machine: Int
    let board: ClusterHistoryBoard
    let ledger: ClusterLedger
    let plant: Options.Plant?

    private struct IsGone: Error {}

    func live(_ generator: inout SeededGenerator) throws {
        board.isIn(process).store(0)
        let space = try Space(root: root, timeout: .seconds(10))
        guard let namespace = try ClusterWorker.open(Self.name, in: space, ledger) else { return }
        while ledger.stop.load() == 0 {
            let history = board.current.load()
            if history <= max(board.joined(process).load(), board.closed.load()) {
                usleep(2000)
                continue
            }
            board.isIn(process).storeSequential(history)
            board.joined(process).storeSequential(history)
            defer { board.isIn(process).storeSequential(0) }
            do { try run(history, namespace, &generator) } catch is IsGone { break }
        }
        try? namespace.leave()
    }

    /// Makes a call that is noted before and after.
    ///
    /// `result`: The number that the call gives, or none.
    /// Returns: Whether the outcome is known, and the call was made.
    @discardableResult
    private func call(
        _ history: UInt64,
        _ kind: HistoryLog.Kind,
        _ object: Int,
        _ argument: Int = 0,
        expecting: Int = 0,
        _ result: () throws(SpaceError) -> Int?
    ) throws -> Bool {
        let log = board.log(of: history)
        let noted = log.begin(process, kind, object: object, argument, expecting: expecting)
        do throws(SpaceError) {
            log.end(process, noted, try result())
            _ = ledger.progress(machine).add(1)
            return true
        } catch {
            if error.code == .claimLost {
                log.end(process, noted, HistoryLog.claimLost)
                _ = ledger.claimsLost.add(1)
                return true
            }
            if try ledger.judge(error) { return false }
            log.withdraw(process, noted)
            switch error.code {
            case .namespaceDeleted, .namespaceNotFound, .closed: throw IsGone()
            default: return false
            }
        }
    }

    private func run(_ history: UInt64, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        var held: [Int: HeldClaim] = [:]
        // Templates of which this process does not know any more what it has claimed.
        var uncertain: Set<Int> = []
        var remembered: Int?
        var number = process * 1000
        for _ in 0..<Self.calls where board.closed.load() < history && ledger.stop.load() == 0 {
            let object = Int.random(in: 0..<Self.templates, using: &generator)
            let template = board.template(history, object)
            let cell = board.cell(history)
            number += 1
            switch Int.random(in: 0..<14, using: &generator) {
            case 0...3:
                try call(history, .write, object, number) { () throws(SpaceError) in
                    if plant != .lost || number % 5 != 0 {
                        try namespace.write(tuple: board.tuple(history, object, number))
                    }
                    return nil
                }
            case 4:
                try call(history, .read, object) { () throws(SpaceError) in
                    try namespace.synchronize()
                    return try namespace.readIfExists(matching: template)?.numberOfField(3)
                }
            case 5, 6, 7:
                try call(history, .take, object) { () throws(SpaceError) in
                    try namespace.synchronize()
                    guard plant == .doubled else {
                        return try namespace.takeIfExists(matching: template)?.numberOfField(3)
                    }
                    let found = try namespace.readIfExists(matching: template)
                    usleep(5000)
                    if let found { _ = try namespace.takeIfExists(matching: Template(found)) }
                    return found?.numberOfField(3)
                }
            case 8, 9:
                if held[object] != nil {
                    // Some claims are old when they end: their machine may have been given up for dead meanwhile.
                    if Int.random(in: 0..<8, using: &generator) == 0 {
                        usleep(UInt32(Int.random(in: 100_000...3_000_000, using: &generator)))
                    }
                    try end(held.removeValue(forKey: object), history, object, namespace, &uncertain, &generator)
                } else if !uncertain.contains(object) {
                    let isKnown = try call(history, .claim, object) { () throws(SpaceError) in
                        try namespace.synchronize()
                        let claim = try namespace.claimIfExists(matching: template)?.detach()
                        held[object] = claim
                        return claim?.tuple.numberOfField(3)
                    }
                    if !isKnown { uncertain.insert(object) }
                }
            case 10, 11:
                try call(history, .get, 0) { () throws(SpaceError) in
                    try namespace.synchronize()
                    if plant == .stale, let remembered { return remembered }
                    guard case .int(let content)? = try namespace.get(cell) else { return nil }
                    remembered = content
                    return content
                }
            case 12:
                try call(history, .set, 0, number) { () throws(SpaceError) in
                    try namespace.set(cell, number)
                    return nil
                }
            default:
                guard let value = try? namespace.get(cell), case .int(let old) = value else { continue }
                try call(history, .compareAndSet, 0, number, expecting: old) { () throws(SpaceError) in
                    try namespace.synchronize()
                    return try namespace.set(cell, number, ifEquals: old) ? 1 : 0
                }
            }
        }
        for (object, claim) in held { try end(claim, history, object, namespace, &uncertain, &generator) }
    }

    private func end(
        _ claim: HeldClaim?,
        _ history: UInt64,
        _ object: Int,
        _ namespace: Namespace,
        _ uncertain: inout Set<Int>,
        _ generator: inout SeededGenerator
    ) throws {
        guard let claim else { return }
        let completes = Bool.random(using: &generator)
        let isKnown = try call(history, completes ? .complete : .release, object) { () throws(SpaceError) in
            if completes {
                try namespace.complete(claim)
            } else if try !namespace.release(claim) {
                return HistoryLog.claimLost
            }
            return nil
        }
        if !isKnown { uncertain.insert(object) }
    }
}
