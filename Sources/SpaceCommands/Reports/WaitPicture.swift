import SpaceInspection

/// Who waits for whom, as a picture: for dot(1), or as SVG.
struct WaitPicture {
    let report: WaitReport
    private let processes: [Int32]
    private let arrows: [Arrow]

    /// An arrow from a process that waits to one that can end its wait.
    private struct Arrow: Hashable {
        let from: Int32
        let to: Int32
        let label: String
        let isDeadly: Bool
    }

    init(_ report: WaitReport) {
        self.report = report
        let waits = report.graph.waits
        processes = Set(waits.flatMap { [$0.pid] + $0.blockers }).sorted()
        var deadly: Set<[Int32]> = []
        for deadlock in report.graph.deadlocks {
            let pids = deadlock.steps.map(\.pid)
            for index in pids.indices { deadly.insert([pids[index], pids[(index + 1) % pids.count]]) }
        }
        arrows = waits.flatMap { wait in
            Set(wait.blockers).sorted().map { blocker in
                Arrow(
                    from: wait.pid,
                    to: blocker,
                    label: WaitReport.label(wait.subject),
                    isDeadly: deadly.contains([wait.pid, blocker])
                )
            }
        }
    }

    // MARK: dot

    /// The graph in the language of dot(1).
    func dot() -> [String] {
        var lines = ["digraph waits {", "  rankdir=LR", "  node [shape=box, fontname=\"sans-serif\"]"]
        lines.append("  edge [fontname=\"sans-serif\", fontsize=10]")
        for pid in processes {
            lines.append("  p\(pid) [label=\"\(pid)\\n\(Self.quoted(report.command(pid)))\"]")
        }
        for arrow in arrows {
            let color = arrow.isDeadly ? ", color=red, fontcolor=red" : ""
            lines.append("  p\(arrow.from) -> p\(arrow.to) [label=\"\(Self.quoted(arrow.label))\"\(color)]")
        }
        return lines + ["}"]
    }

    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in PeopleText.escaped(text) {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted
    }

    // MARK: SVG

    private static let box = (width: 230, height: 48)
    private static let gap = (x: 170, y: 26)
    private static let margin = 24

    /// The graph as an SVG document: on the right the processes that don't wait, and each waiter left of what it waits for.
    func svg() -> [String] {
        let columns = columns()
        let last = columns.count - 1
        let rows = columns.map(\.count).max() ?? 0
        let width = Self.margin * 2 + columns.count * Self.box.width + max(0, last) * Self.gap.x
        // Arrows that go back to the left pass above the boxes.
        let top = Self.margin + 46
        let height = top + Self.margin + max(1, rows) * (Self.box.height + Self.gap.y)
        var place: [Int32: (x: Int, y: Int)] = [:]
        for (column, pids) in columns.enumerated() {
            for (row, pid) in pids.enumerated() {
                place[pid] = (
                    Self.margin + (last - column) * (Self.box.width + Self.gap.x),
                    top + row * (Self.box.height + Self.gap.y)
                )
            }
        }
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
                + #"viewBox="0 0 \#(width) \#(height)" font-family="sans-serif" font-size="13">"#,
            #"<title>who waits for whom</title>"#,
            #"<rect width="100%" height="100%" fill="white"/>"#,
            #"<defs>"#,
        ]
        for (name, color) in [("waits", Self.plain), ("deadly", Self.red)] {
            lines.append(
                #"<marker id="\#(name)" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">"#
                    + #"<path d="M0,0 L9,4 L0,8 z" fill="\#(color)"/></marker>"#
            )
        }
        lines.append("</defs>")
        for arrow in arrows {
            guard let from = place[arrow.from], let to = place[arrow.to] else { continue }
            lines += Self.drawing(of: arrow, from: from, to: to)
        }
        let stuck = Set(arrows.filter(\.isDeadly).flatMap { [$0.from, $0.to] })
        for pid in processes {
            guard let (x, y) = place[pid] else { continue }
            let color = stuck.contains(pid) ? Self.red : Self.plain
            lines.append(
                #"<rect x="\#(x)" y="\#(y)" width="\#(Self.box.width)" height="\#(Self.box.height)" rx="6" "#
                    + #"fill="whitesmoke" stroke="\#(color)"/>"#
            )
            lines.append(#"<text x="\#(x + 12)" y="\#(y + 20)" font-weight="bold">\#(pid)</text>"#)
            let command = Self.text(ProcessText.shortened(report.command(pid), to: 27))
            lines.append(#"<text x="\#(x + 12)" y="\#(y + 38)" fill="dimgray">\#(command)</text>"#)
        }
        return lines + ["</svg>"]
    }

    private static let plain = "#57606a"
    private static let red = "#cf222e"

    private static func drawing(of arrow: Arrow, from: (x: Int, y: Int), to: (x: Int, y: Int)) -> [String] {
        let (color, marker) = arrow.isDeadly ? (red, "deadly") : (plain, "waits")
        let path: String
        let middle: (x: Int, y: Int)
        if from.x < to.x {
            let start = (x: from.x + box.width, y: from.y + box.height / 2)
            let end = (x: to.x, y: to.y + box.height / 2)
            let bend = start.x + gap.x / 2
            path = "M\(start.x),\(start.y) C\(bend),\(start.y) \(bend),\(end.y) \(end.x),\(end.y)"
            // Beside its start, where arrows to one process still lie apart.
            middle = (start.x + gap.x / 2, start.y + (end.y - start.y) / 2 - 6)
        } else {
            // Back, or within a column: from the top of one box over the others to the top of the other.
            let start = (x: from.x + box.width / 2, y: from.y)
            let end = (x: to.x + box.width / 2, y: to.y)
            let over = min(start.y, end.y) - 44
            path = "M\(start.x),\(start.y) C\(start.x),\(over) \(end.x),\(over) \(end.x),\(end.y)"
            middle = ((start.x + end.x) / 2, over + 6)
        }
        let label = text(ProcessText.shortened(arrow.label, to: 24))
        return [
            #"<path d="\#(path)" fill="none" stroke="\#(color)" stroke-width="1.5" marker-end="url(#\#(marker))"/>"#,
            #"<text x="\#(middle.x)" y="\#(middle.y)" text-anchor="middle" font-size="11" fill="\#(color)" "#
                + #"stroke="white" stroke-width="4" paint-order="stroke">\#(label)</text>"#,
        ]
    }

    /// The processes in columns: first those that don't wait, and one of each circle; then those that wait for the first.
    private func columns() -> [[Int32]] {
        var waitersOf: [Int32: [Int32]] = [:]
        for arrow in arrows { waitersOf[arrow.to, default: []].append(arrow.from) }
        let waiting = Set(arrows.map(\.from))
        var columns: [[Int32]] = []
        var placed: Set<Int32> = []
        var front = processes.filter { !waiting.contains($0) }
        front += report.graph.deadlocks.compactMap(\.steps.first?.pid)
        while true {
            front = Array(Set(front).subtracting(placed)).sorted()
            if front.isEmpty {
                guard let first = processes.first(where: { !placed.contains($0) }) else { return columns }
                front = [first]
            }
            placed.formUnion(front)
            columns.append(front)
            front = front.flatMap { waitersOf[$0] ?? [] }
        }
    }

    private static func text(_ text: String) -> String {
        var result = ""
        for character in PeopleText.escaped(text) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
