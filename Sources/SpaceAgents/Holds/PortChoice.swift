// Which ports the names of one call get.
//
// The range with the smallest upper end chooses first, and takes its smallest free port. So each range gets a port if
// there is any way to give each its own. The reason: suppose that a range gets none, and let p be the next free port
// below it. The ranges that have the ports between p and the upper end of that range begin above p (else they would
// have taken p), and end no later. Together with that range they are more than these ports, so no other choice has a
// port for each of them either.

/// The choice of a port for each range of ports that an agent asks for.
struct PortChoice {
    private let names: [(name: HoldName, range: ClosedRange<Int>)]
    private let own: Set<HoldName>
    private let others: [HoldRow]
    private let before: [AskRow]

    /// The port of each name that has one.
    private(set) var chosen: [HoldName: HoldName] = [:]
    private(set) var obstacles: [HoldRules.Obstacle] = []

    /// Prepares a choice.
    ///
    /// - Parameters:
    ///   - names: What the agent asks for, including names that are no ports.
    ///   - own: What it holds.
    ///   - others: What others hold.
    ///   - before: Those that wait before it.
    init(of names: [HoldName], own: Set<HoldName>, others: [HoldRow], before: [AskRow]) {
        self.names = names.compactMap { name in
            if case .ports(let range) = name.kind { (name, range) } else { nil }
        }
        .sorted { ($0.range.upperBound, -$0.range.lowerBound) < ($1.range.upperBound, -$1.range.lowerBound) }
        (self.own, self.others, self.before) = (own, others, before)
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - keepsOwn: Whether a name gets a port that the agent has already before any other.
    ///   - isFree: Whether no program has a port.
    mutating func choose(keepsOwn: Bool, isFree: (Int) -> Bool) {
        (chosen, obstacles) = ([:], [])
        for (name, range) in names {
            let taken = Set(chosen.values)
            if keepsOwn {
                let had = range.lazy.map { HoldName(ofPort: $0) }.first { own.contains($0) && !taken.contains($0) }
                if let had {
                    chosen[name] = had
                    continue
                }
            }
            let ahead = before.filter { $0.names.contains { $0.overlaps(name) } }
            let held = others.filter { $0.name.overlaps(name) }
            // Those before that want a port of the same range get one each.
            var skipped = ahead.count
            var (sawForeign, sawOwn) = (false, false)
            let port = range.first { port in
                let candidate = HoldName(ofPort: port)
                guard !held.contains(where: { $0.name.overlaps(candidate) }) else { return false }
                guard !taken.contains(candidate) else {
                    sawOwn = true
                    return false
                }
                if own.contains(candidate) { return true }
                guard isFree(port) else {
                    sawForeign = true
                    return false
                }
                if skipped > 0 {
                    skipped -= 1
                    return false
                }
                return true
            }
            if let port {
                chosen[name] = HoldName(ofPort: port)
            } else {
                let obstacle = HoldRules.Obstacle(
                    name: name,
                    holds: held,
                    ahead: ahead,
                    isTaken: sawForeign,
                    isOwn: sawOwn
                )
                obstacles.append(obstacle)
            }
        }
    }
}
