import SpaceRecipes
import SpaceSystem

// How a hold is decided.
//
// What an agent holds is a row that ends with it. An agent that must wait writes an "ask" row, which has a turn. A
// waiting agent looks again after each change. It takes all names in one transaction, as soon as none of them conflicts
// with the hold of another agent, or with what an agent with an earlier turn asks for. So holds are all or none, and
// are given in the order of asking; agents that ask for other things may overtake. If a waiting call ends without
// success, its ask stays for a minute, but has no right to be served first. So the next call for the same names goes on
// with the same turn. Each waiting call has an ask and a turn of its own, even if several calls of one agent wait at
// once.

/// Who holds what, and who waits, at one moment.
struct HoldRules {
    let holds: [HoldRow]
    let asks: [AskRow]

    /// Reads the rows; those of processes that have ended don't count.
    ///
    /// `read`: Gives what matches a template.
    init(reading read: (Template) throws -> [Tuple]) throws {
        holds = try read(HoldRow.all).compactMap { HoldRow($0.fields) }.filter(\.who.isAlive)
        asks = try read(AskRow.all).compactMap { AskRow($0.fields) }.filter(\.who.isAlive).sorted { $0.turn < $1.turn }
    }

    /// What is in the way of a name.
    struct Obstacle {
        let name: HoldName
        /// What others hold of it.
        let holds: [HoldRow]
        /// Those before the asker that wait for it.
        let ahead: [AskRow]
        /// Whether a program that is no agent has the port.
        var isTaken = false
        /// Whether other names of the same call take everything that is free for it.
        var isOwn = false
    }

    /// The rows to write for an agent, or the obstacles.
    struct Verdict {
        /// The names that the agent gets, in the order of its wishes: of a range, the port.
        var granted: [HoldName] = []
        /// Those of them that it has already.
        var kept: Set<HoldName> = []
        var obstacles: [Obstacle] = []

        /// How many wait before the agent.
        var ahead: Int { Set(obstacles.flatMap { $0.ahead.map(\.turn) }).count }
    }

    /// Decides about the wishes of an agent.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - who: The agent.
    ///   - turn: Its turn; `nil` if it has none yet, and then all that wait stand before it.
    ///   - isFree: Whether no program has a port.
    /// - Returns: What the agent gets, or what is in the way.
    func verdict(on names: [HoldName], for who: AgentName, turn: Int?, isFree: (Int) -> Bool) -> Verdict {
        var verdict = Verdict()
        let others = holds.filter { $0.who != who }
        let before = asks.filter { $0.waits && $0.who != who && $0.turn < turn ?? .max }
        let own = Set(holds.filter { $0.who == who }.map(\.name))
        for name in names {
            if case .ports = name.kind { continue }
            if own.contains(name) {
                verdict.kept.insert(name)
                continue
            }
            let ahead = before.filter { $0.names.contains { $0.overlaps(name) } }
            let conflicts = others.filter { $0.name.overlaps(name) }
            if !conflicts.isEmpty || !ahead.isEmpty {
                verdict.obstacles.append(Obstacle(name: name, holds: conflicts, ahead: ahead))
            }
        }
        // What the agent has is kept if that leaves a port for each of its names.
        var choice = PortChoice(of: names, own: own, others: others, before: before)
        choice.choose(keepsOwn: true, isFree: isFree)
        if !choice.obstacles.isEmpty { choice.choose(keepsOwn: false, isFree: isFree) }
        verdict.obstacles += choice.obstacles
        guard verdict.obstacles.isEmpty else { return verdict }
        verdict.granted = names.map { choice.chosen[$0] ?? $0 }
        verdict.kept.formUnion(verdict.granted.filter(own.contains))
        return verdict
    }

    // MARK: Deadlocks

    /// The circles of asks: each ask waits for an agent that holds what it asks for, or that is before it in turn, and
    /// that agent waits by the next ask of the circle.
    ///
    /// The wait graph of locks finds them. The graph knows only numbers, so each ask and each agent gets a number here:
    /// an agent waits until all of its asks have ended.
    ///
    /// - Parameter asking: What the caller asks for beside what the rows say.
    /// - Returns: The circles.
    func deadlocks(with asking: AskRow? = nil) -> [[AskRow]] {
        var asks = asks.filter { $0.turn != asking?.turn }
        if let asking { asks.insert(asking, at: 0) }
        // An agent that waits for something else now has given up what it waited for before.
        let waiting = Set(asks.filter(\.waits).map(\.who))
        asks.removeAll { !$0.waits && waiting.contains($0.who) }
        // The asks have the numbers from 1 on, and the agents the numbers after them.
        var names: [AgentName] = []
        func number(_ who: AgentName) -> Int32 {
            let index = names.firstIndex(of: who) ?? names.endIndex
            if index == names.endIndex { names.append(who) }
            return Int32(asks.count + 1 + index)
        }
        func wait(_ pid: Int32, _ ask: AskRow, for blockers: [Int32], needsAll: Bool) -> WaitGraph.Wait {
            let subject = WaitGraph.Subject.hold(kind: "hold", name: Name(ask.names.first?.text ?? ""))
            return WaitGraph.Wait(pid: pid, subject: subject, blockers: blockers, needsAll: needsAll, since: ask.since)
        }
        var waits: [WaitGraph.Wait] = []
        for (index, ask) in asks.enumerated() {
            // If a name has no alternative, everything in its way has to go; for a range of ports, one port is enough.
            var firm: Set<AgentName> = []
            var ports: Set<AgentName> = []
            let verdict = verdict(on: ask.names, for: ask.who, turn: ask.turn) { _ in true }
            for obstacle in verdict.obstacles {
                let blockers = obstacle.holds.map(\.who) + obstacle.ahead.map(\.who)
                if case .ports = obstacle.name.kind { ports.formUnion(blockers) } else { firm.formUnion(blockers) }
            }
            let blockers = firm.isEmpty ? ports : firm
            guard !blockers.isEmpty else { continue }
            let numbers = blockers.map(number).sorted()
            waits.append(wait(Int32(index + 1), ask, for: numbers, needsAll: !firm.isEmpty))
        }
        for (who, own) in Dictionary(grouping: waits.map(\.pid), by: { asks[Int($0) - 1].who }) {
            waits.append(wait(number(who), asks[Int(own[0]) - 1], for: own, needsAll: true))
        }
        let nothing = ProcessView(
            parent: { _ in nil },
            children: { _ in [] },
            command: { _ in nil },
            waitsForChild: { _ in false }
        )
        let circles = WaitGraph(waits, busy: [], processes: nothing).deadlocks.map { deadlock in
            deadlock.steps.map { Int($0.pid) - 1 }.filter(asks.indices.contains).map { asks[$0] }
        }
        // Agents that do not wait now have gone on to something else.
        return circles.filter { $0.contains(where: \.waits) }
    }
}
