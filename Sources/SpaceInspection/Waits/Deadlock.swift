/// Processes each of which waits for the next, and the last for the first.
package struct Deadlock: Hashable, Sendable {
    /// A process and what it waits for; the next step's process can end the wait.
    package struct Step: Hashable, Sendable {
        package let pid: Int32
        package let subject: WaitGraph.Subject
    }

    /// At least two steps; the first is that of the process with the smallest PID.
    package let steps: [Step]

    /// The deadlocks among processes that wait.
    ///
    /// First those processes are left out, again and again, one of whose waits can end: all of the processes that it
    /// needs go on. The others are stuck. From each of them the way to a stuck process that it waits for ends in a
    /// circle. Complexity: O(n²) for n waits, in the worst case.
    static func all(in waits: [WaitGraph.Wait]) -> [Deadlock] {
        let waitsOf = Dictionary(grouping: waits, by: \.pid)
        var stuck = Set(waitsOf.keys)
        func goesOn(_ blocker: Int32, for pid: Int32) -> Bool { blocker == pid || !stuck.contains(blocker) }
        func canEnd(_ wait: WaitGraph.Wait) -> Bool {
            wait.needsAll
                ? wait.blockers.allSatisfy { goesOn($0, for: wait.pid) }
                : wait.blockers.contains { goesOn($0, for: wait.pid) }
        }
        while true {
            let free = stuck.filter { waitsOf[$0]?.contains(where: canEnd) ?? true }
            if free.isEmpty { break }
            stuck.subtract(free)
        }

        /// A wait of a stuck process, and the stuck process that it waits for.
        func next(after pid: Int32) -> (step: Step, blocker: Int32)? {
            for wait in waitsOf[pid] ?? [] {
                if let blocker = wait.blockers.first(where: { $0 != pid && stuck.contains($0) }) {
                    return (Step(pid: pid, subject: wait.subject), blocker)
                }
            }
            return nil
        }

        var deadlocks: [Deadlock] = []
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
            guard let entrance = place[pid] else { continue }
            deadlocks.append(Deadlock(Array(way[entrance...])))
        }
        return deadlocks
    }

    /// Makes a deadlock of steps that form a circle, from any of them on.
    private init(_ circle: [Step]) {
        let first = circle.indices.min { circle[$0].pid < circle[$1].pid } ?? 0
        steps = Array(circle[first...] + circle[..<first])
    }
}
