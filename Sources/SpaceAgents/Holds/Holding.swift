import SharedSpace
import SpaceSystem
import TupleCoding

/// What agents hold by name.
struct Holding {
    let namespace: Namespace

    /// What became of a wish.
    enum Outcome {
        /// The names that the agent has now, and those of them that it did not have before.
        case granted([HoldName], new: [HoldName])
        /// What is in the way, how many wait before the agent, and the circle of agents if there is one.
        case refused([HoldRules.Obstacle], ahead: Int, deadlock: [AgentName]?)
    }

    private var rules: HoldRules {
        get throws { try HoldRules { try namespace.readAll(matching: $0) } }
    }

    // MARK: Holding

    /// Holds all of some names, or none.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - who: The agent.
    ///   - why: The reason that refused agents are told.
    ///   - wait: How long to wait.
    ///   - interruption: Ends the wait.
    /// - Returns: What became of it. A wait that would never end because of a deadlock ends at once.
    /// - Throws: `cancelled` if the wait is ended.
    func hold(
        _ names: [HoldName],
        for who: AgentName,
        why: String,
        wait: Duration,
        interruption: Interruption
    ) throws -> Outcome {
        var last: Outcome?
        var turn: Int?
        let deadline = MonotonicInstant.now.advanced(by: wait)
        let isWaiting = wait > .zero
        defer { if let turn { try? leave(who, turn) } }
        // If a program that is not an agent ends, no change of the namespace says so.
        func usesPort() -> Bool {
            guard case .refused(let obstacles, _, _)? = last else { return false }
            return obstacles.contains(where: \.isTaken)
        }
        let granted = try namespace.wait(
            until: deadline,
            interruption: interruption,
            looksAgain: { usesPort() ? Self.portInterval : nil }
        ) { () -> Outcome? in
            let ends = isWaiting ? deadline : nil
            let outcome = try attempt(names, for: who, why: why, turn: &turn, until: ends)
            last = outcome
            switch outcome {
            case .granted, .refused(_, _, deadlock: .some): return outcome
            case .refused: return nil
            }
        }
        if case .granted? = granted { turn = nil }
        guard let outcome = granted ?? last else {
            return .refused([], ahead: 0, deadlock: nil)
        }
        return outcome
    }

    /// How often a wait looks whether a program still uses a port.
    private static let portInterval = Duration.milliseconds(300)
    /// How long an ask may outlive its wait: the server that was to end it may be suspended.
    private static let grace = Duration.seconds(5)

    /// Takes the names if all are free, or else writes down that the agent waits, if it does.
    private func attempt(
        _ names: [HoldName],
        for who: AgentName,
        why: String,
        turn: inout Int?,
        until deadline: MonotonicInstant?
    ) throws -> Outcome {
        let known = try rules
        let own = turn ?? known.asks.first { $0.who == who && $0.isLeft(for: names) }?.turn
        let first = known.verdict(on: names, for: who, turn: own, isFree: FreePorts.isFree)
        let now = Clock.realtimeMilliseconds()
        if !first.obstacles.isEmpty {
            let ask = AskRow(turn: own ?? .max, who: who, names: names, why: why, since: now, waits: true)
            if let deadline, turn == nil { turn = try line(up: ask, for: deadline.remaining) }
            // In a circle only the last agent to ask is refused, so that the others go on once it releases its holds.
            let deadlock = known.deadlocks(with: ask).first { $0.map(\.turn).max() == ask.turn }
            return .refused(first.obstacles, ahead: first.ahead, deadlock: deadlock?.map(\.who))
        }
        // The ports were checked outside of the transaction, which must be short.
        let free = Set(first.granted)
        let verdict = try namespace.transaction { t in
            let rules = try HoldRules { try t.readAll(matching: $0) }
            let verdict = rules.verdict(on: names, for: who, turn: own) { free.contains(HoldName(ofPort: $0)) }
            guard verdict.obstacles.isEmpty else { return verdict }
            for name in verdict.granted where !verdict.kept.contains(name) {
                let row = HoldRow(name: name, who: who, why: why, since: now)
                try t.write(row, endingWith: who.process, expires: AgentLimits.deadline)
            }
            if let own { try t.takeAll(matching: AskRow.of(who, turn: own)) }
            return verdict
        }
        guard verdict.obstacles.isEmpty else {
            return .refused(verdict.obstacles, ahead: verdict.ahead, deadlock: nil)
        }
        // This comes after the commit, so that waiting agents find the agent among the processes whose ends they hear.
        namespace.core.claimants.ring()
        return .granted(verdict.granted, new: verdict.granted.filter { !verdict.kept.contains($0) })
    }

    /// Gives the agent a turn, or lets it keep the turn from its last call.
    private func line(up ask: AskRow, for wait: Duration) throws -> Int {
        var ask = ask
        return try namespace.transaction { t in
            let old: [AskRow] = try t.rows(AskRow.of(ask.who))
            let left = old.filter { $0.isLeft(for: ask.names) }.min { $0.turn < $1.turn }
            if let left {
                (ask.turn, ask.since) = (left.turn, left.since)
                try t.takeAll(matching: AskRow.of(ask.who, turn: left.turn))
            } else {
                ask.turn = try t.increment("turns")
            }
            // The turn also ends with this server: no agent waits behind a server that was killed.
            try t.write(tuple: ask.tuple, expires: wait + Self.grace, lifetime: .session)
            return ask.turn
        }
    }

    /// Ends a wait; its turn is kept for the next call.
    private func leave(_ who: AgentName, _ turn: Int) throws {
        try namespace.transaction { t in
            let asks: [AskRow] = try t.rows(AskRow.of(who, turn: turn))
            guard var ask = asks.first else { return }
            try t.takeAll(matching: AskRow.of(who, turn: turn))
            ask.waits = false
            try t.write(ask, endingWith: who.process, expires: AgentLimits.turn)
        }
    }

    // MARK: Letting go

    /// Releases names, or everything that an agent holds.
    ///
    /// - Parameters:
    ///   - names: The names; `nil` for all. A range of ports stands for those in it.
    ///   - who: The agent.
    /// - Returns: The names that it held.
    /// - Throws: What a transaction throws.
    func letGo(_ names: [HoldName]?, by who: AgentName) throws -> [HoldName] {
        try namespace.transaction { t in
            let own: [HoldRow] = try t.rows(["hold", .any, who.process.agentKey, who.label, .any, .any])
            let gone = own.map(\.name).filter { held in
                names?.contains { name in
                    if case .ports = name.kind { return name.overlaps(held) }
                    return name == held
                } ?? true
            }
            for name in gone {
                try t.takeAll(matching: ["hold", name.text, who.process.agentKey, who.label, .any, .any])
            }
            // A call that waits at the same time goes on.
            if names == nil { try t.takeAll(matching: AskRow.left(by: who)) }
            return gone
        }
    }
}
