/// Processes of which each waits for the next, and the last for the first.
package struct Deadlock: Hashable, Sendable {
    /// A process and what it waits for; the next step's process can end the wait.
    package typealias Step = WaitGraph.Wait

    /// Why a circle may end by itself.
    package enum Doubt: Hashable, Sendable {
        /// A wait of the circle has a time-out, which passes at this time, in milliseconds since 1970.
        case ends(Int64)
        /// The process `by` ends the process of the circle when a time limit has passed.
        case limited(Int32, by: Int32)
        /// A process waits for a command, and a part of the command does something else than wait.
        case command(Int32)
        /// The process waits for what it holds itself; another of its tasks or threads may release the hold.
        case own
        /// Another process, on which the circle depends, may go on.
        case other
    }

    /// The steps: one if a process waits for itself, or more; the first is that of the process with the smallest PID.
    package let steps: [Step]
    /// Why the circle may end by itself; `nil`: it does not.
    package let doubt: Doubt?

    /// The circles among processes that wait: those that don't end by themselves, and those that may.
    ///
    /// A circle may end by itself if it would be a deadlock only without time-outs, and only if each command waited as
    /// a whole. Such circles that share a process with a deadlock are left out.
    ///
    /// - Parameters:
    ///   - waits: The waits.
    ///     A process that has waited for a second for what it holds itself is a circle that may end.
    ///   - limiters: Returns the processes that end a process when a time limit has passed; it is called only if there is
    ///     a circle.
    /// - Returns: The circles.
    static func all(
        in waits: [WaitGraph.Wait],
        limiters: (Int32) -> [Int32]
    ) -> (deadlocks: [Deadlock], doubtful: [Deadlock]) {
        func lasts(_ wait: Step) -> Bool { wait.ends == nil && !wait.mayGoOn }
        var known: [Int32: [Int32]] = [:]
        func knownLimiters(of pid: Int32) -> [Int32] {
            let found = known[pid] ?? limiters(pid)
            known[pid] = found
            return found
        }
        /// The processes of a circle with a time limit that does not hold for the whole circle, and the process that sets
        /// the limit. A limit for all processes, as for a whole job, lets none of them go on.
        func limitedProcesses(of circle: [Step]) -> [(pid: Int32, limiter: Int32)] {
            circle.compactMap { step in
                let limiter = knownLimiters(of: step.pid).first { limiter in
                    !circle.allSatisfy { $0.pid == limiter || knownLimiters(of: $0.pid).contains(limiter) }
                }
                return limiter.map { (step.pid, $0) }
            }
        }
        var limited: Set<Int32> = []
        func lastingCircles() -> [[Step]] { circles(in: waits) { lasts($0) && !limited.contains($0.pid) } }
        var sure = lastingCircles()
        while case let found = sure.flatMap({ limitedProcesses(of: $0) }), !found.isEmpty {
            limited.formUnion(found.map(\.pid))
            sure = lastingCircles()
        }
        let named = Set(sure.flatMap { $0.map(\.pid) })
        let doubtful = circles(in: waits) { _ in true }.filter { !$0.contains { named.contains($0.pid) } }
        func doubt(of circle: [Step]) -> Doubt {
            if let end = circle.compactMap(\.ends).min() { return .ends(end) }
            if let (pid, limiter) = limitedProcesses(of: circle).first { return .limited(pid, by: limiter) }
            return circle.first(where: \.mayGoOn).map { .command($0.pid) } ?? .other
        }
        let own = waits.filter { wait in
            wait.blockers.allSatisfy { $0 == wait.pid } && !named.contains(wait.pid)
                && DeadlockWatch.hasLasted(since: wait.since ?? 0)
        }
        return (
            sure.map { Deadlock($0, doubt: nil) },
            doubtful.map { Deadlock($0, doubt: doubt(of: $0)) }
                + own.map { Deadlock([$0], doubt: $0.ends.map { .ends($0) } ?? .own) }
        )
    }

    /// The circles among processes that wait; `lasts` says whether only its blockers can end a wait.
    ///
    /// First, repeatedly, each process is left out that has a wait which can end: enough of the processes that the wait
    /// needs go on, or its turn comes even if the processes that don't go on stay where they are. The remaining
    /// processes are stuck. From each of them the way to a stuck process that it waits for ends in a circle.
    /// Complexity: O(n²) for n waits, in the worst case.
    private static func circles(in waits: [Step], lasts: (Step) -> Bool) -> [[Step]] {
        let waitsOf = Dictionary(grouping: waits, by: \.pid)
        var stuck = Set(waitsOf.keys)
        // The queues, with the waits of their places.
        var queues: [ObjectIdentifier: (queue: TurnQueue, waits: [Int: Step])] = [:]
        for wait in waits {
            guard let turn = wait.turn else { continue }
            queues[ObjectIdentifier(turn.queue), default: (turn.queue, [:])].waits[turn.index] = wait
        }
        func goesOn(_ blocker: Int32, for pid: Int32) -> Bool { blocker == pid || !stuck.contains(blocker) }
        func canEnd(_ wait: Step) -> Bool {
            if !lasts(wait) { return true }
            // Its queue has decided already.
            if wait.turn != nil { return false }
            return wait.needsAll
                ? wait.blockers.allSatisfy { goesOn($0, for: wait.pid) }
                : wait.blockers.contains { goesOn($0, for: wait.pid) }
        }
        while true {
            let before = stuck.count
            for (queue, waits) in queues.values { queue.free(&stuck) { index in waits[index].map(lasts) ?? true } }
            stuck.subtract(stuck.filter { waitsOf[$0]?.contains(where: canEnd) ?? true })
            if stuck.count == before { break }
        }

        /// A wait of a stuck process, and the stuck process that it waits for.
        func next(after pid: Int32) -> (step: Step, blocker: Int32)? {
            for var wait in waitsOf[pid] ?? [] {
                if let turn = wait.turn {
                    guard let blocker = turn.queue.blocker(of: turn.index, isStuck: stuck.contains) else { continue }
                    wait.isBehind = !blocker.isHolding
                    return (wait, blocker.pid)
                }
                if let blocker = wait.blockers.first(where: { $0 != pid && stuck.contains($0) }) {
                    return (wait, blocker)
                }
            }
            return nil
        }

        var circles: [[Step]] = []
        var seen: Set<Int32> = []
        for start in stuck.sorted() where !seen.contains(start) {
            var way: [Step] = []
            var place: [Int32: Int] = [:]
            var pid = start
            while seen.insert(pid).inserted, let (step, blocker) = next(after: pid) {
                place[pid] = way.count
                way.append(step)
                pid = blocker
            }
            if let entrance = place[pid] { circles.append(Array(way[entrance...])) }
        }
        return circles
    }

    /// Makes a deadlock of steps that form a circle, from any of them on.
    private init(_ circle: [Step], doubt: Doubt?) {
        let first = circle.indices.min { circle[$0].pid < circle[$1].pid } ?? 0
        steps = Array(circle[first...] + circle[..<first])
        self.doubt = doubt
    }

    /// The process that a step's process waits for.
    package func blocker(of index: Int) -> Int32 { steps[(index + 1) % steps.count].pid }
}
