import SharedSpace
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

    /// What is waited for: `the lock "db"`.
    static func phrase(_ subject: WaitGraph.Subject) -> String {
        switch subject {
        case .hold(let kind, let name): "the \(kind) \(name.text.quotedForPeople)"
        case .answer(let name): "the answer to \(name.text.quotedForPeople)"
        case .command: "the end of its command"
        }
    }

    /// What is waited for, on an arrow of a picture: `lock db`.
    static func label(_ subject: WaitGraph.Subject) -> String {
        switch subject {
        case .hold(let kind, let name): "\(kind) \(name.text)"
        case .answer(let name): "request \(name.text)"
        case .command: "runs"
        }
    }

    /// A line for each deadlock.
    static func lines(_ deadlocks: [Deadlock]) -> [String] {
        deadlocks.map { deadlock in
            let steps = deadlock.steps
            let parts = steps.indices.map { index in
                let blocker = steps[(index + 1) % steps.count].pid
                return switch steps[index].subject {
                case .hold: "\(steps[index].pid) waits for \(phrase(steps[index].subject)) of \(blocker)"
                case .answer: "\(steps[index].pid) waits for \(phrase(steps[index].subject)) from \(blocker)"
                case .command: "\(steps[index].pid) waits for its command \(blocker)"
                }
            }
            return "deadlock: \(parts.joined(separator: "; ")). End one of them, or let them wait with a time-out"
        }
    }

    // MARK: JSON

    /// A deadlock as JSON: a list of its steps.
    static func json(_ deadlock: Deadlock) -> String {
        let steps = deadlock.steps
        let objects = steps.indices.map { index in
            var object = JSONObject()
            object.add("pid", steps[index].pid)
            switch steps[index].subject {
            case .hold(let kind, let name):
                object.add("type", kind)
                object.add("name", name.text)
            case .answer(let name):
                object.add("type", "request")
                object.add("name", name.text)
            case .command:
                object.add("type", "command")
                object.add("name", String?.none)
            }
            object.add("waits_for", steps[(index + 1) % steps.count].pid)
            return object.line
        }
        return "[\(objects.joined(separator: ","))]"
    }

    // MARK: The tree

    /// A tree: each process, and below it those that wait for it.
    func tree() -> [String] {
        var lines = Self.lines(graph.deadlocks)
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
                    "  waits for \(Self.phrase(wait.subject))\(since)",
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
