import SpaceInspection
import SpaceSystem

/// Who waits for whom, as text and JSON.
struct WaitReport {
    let graph: WaitGraph
    let now: Int64
    /// What a process runs, for people.
    let command: (Int32) -> String

    init(
        _ graph: WaitGraph,
        now: Int64 = Clock.realtimeMilliseconds(),
        command: @escaping (Int32) -> String = { ProcessText.command(of: $0) ?? "-" }
    ) {
        self.graph = graph
        self.now = now
        self.command = command
    }

    // MARK: Words

    /// What is waited for, on an arrow of a picture: `lock db`.
    static func label(_ subject: WaitGraph.Subject) -> String {
        if case .command = subject { "runs" } else { "\(subject.type) \(subject.name.text)" }
    }

    /// A line for each circle, and how it ends.
    static func lines(_ circles: [Deadlock], naming: Bool = false, now: Int64) -> [String] {
        circles.map { circle in
            let text = circle.text(naming: naming)
            return switch circle.doubt {
            case nil: "deadlock: \(text). End one of them, or let them wait with a time-out"
            case .ends(let end)?: "a circle that ends by itself \(PeopleText.relative(end, to: now)): \(text)"
            case .limited(let pid, let limiter)?:
                "a circle that \(limiter) ends when a time has passed, with \(pid): \(text)"
            case .command(let pid)?:
                "perhaps a deadlock: \(text). The command of \(pid) may go on by itself"
            case .own?:
                "perhaps a deadlock: \(text), itself. It goes on if another of its tasks or threads releases that"
            case .other?: "perhaps a deadlock: \(text). It depends on a process that may go on by itself"
            }
        }
    }

    // MARK: The tree

    /// A tree: each process, and below it those that wait for it.
    func tree() -> [String] {
        var lines = Self.lines(graph.deadlocks + graph.doubtful, now: now)
        guard !graph.waits.isEmpty else { return ["no process waits for another"] }
        if !lines.isEmpty { lines.append("") }
        var waitersOf: [Int32: [WaitGraph.Wait]] = [:]
        for wait in graph.waits {
            for blocker in Set(wait.blockers).sorted() { waitersOf[blocker, default: []].append(wait) }
        }
        var drawn: Set<Int32> = []

        func draw(_ pid: Int32, _ why: String, first: String, rest: String) {
            let isNew = drawn.insert(pid).inserted
            let text = PeopleText.escaped("\(pid)  \(isNew ? command(pid) : "see above")\(why)")
            lines.append(first + text)
            guard isNew else { return }
            let waits = waitersOf[pid] ?? []
            for (index, wait) in waits.enumerated() {
                let isLast = index + 1 == waits.count
                let since = wait.since.map { ", began \(PeopleText.relative($0, to: now))" } ?? ""
                draw(
                    wait.pid,
                    "  waits for \(wait.subject.phrase)\(since)",
                    first: "\(rest)\(isLast ? "└─ " : "├─ ")",
                    rest: "\(rest)\(isLast ? "   " : "│  ")"
                )
            }
        }

        let waiting = Set(graph.waits.map(\.pid))
        // First the processes that don't wait; then the circles.
        for pid in waitersOf.keys.sorted() where !waiting.contains(pid) { draw(pid, "", first: "", rest: "") }
        for pid in graph.deadlocks.compactMap(\.steps.first?.pid) + waitersOf.keys.sorted() where !drawn.contains(pid) {
            draw(pid, "", first: "", rest: "")
        }
        return lines
    }
}
