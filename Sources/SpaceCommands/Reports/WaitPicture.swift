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
        // By scalars: a quotation mark with a combining mark is another character, and for dot(1) still a quotation mark.
        for scalar in PeopleText.escaped(text).unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted
    }

    // MARK: SVG

    private static let box = (width: 230, height: 48)
    private static let gap = (x: 170, y: 26)
    private static let margin = 24
    /// The height above each band for arrows that don't go to the right.
    private static let above = 46
    /// The most columns beside each other: a screen's width; what comes left of them is a band of its own below.
    private static let bandColumns = 4

    /// Where a process's box is.
    private struct Place {
        let x: Int
        let y: Int
        let band: Int

        var middle: (x: Int, y: Int) { (x + box.width / 2, y + box.height / 2) }
        var right: Int { x + box.width }
        var bottom: Int { y + box.height }
    }

    /// The boxes' places, and the size of the whole.
    private func layout() -> (places: [Int32: Place], width: Int, height: Int) {
        let columns = columns()
        let across = min(columns.count, Self.bandColumns)
        var places: [Int32: Place] = [:]
        var top = Self.margin
        for band in 0..<(columns.count + Self.bandColumns - 1) / Self.bandColumns {
            let those = columns.dropFirst(band * Self.bandColumns).prefix(Self.bandColumns)
            top += Self.above
            for (column, pids) in those.enumerated() {
                let x = Self.margin + (across - 1 - column) * (Self.box.width + Self.gap.x)
                for (row, pid) in pids.enumerated() {
                    places[pid] = Place(x: x, y: top + row * (Self.box.height + Self.gap.y), band: band)
                }
            }
            top += (those.map(\.count).max() ?? 0) * (Self.box.height + Self.gap.y)
        }
        let width = Self.margin * 2 + across * Self.box.width + max(0, across - 1) * Self.gap.x
        return (places, width, top + Self.margin)
    }

    /// The graph as an SVG document: on the right the processes that don't wait, and each waiter left of what it waits
    /// for; a long chain or circle goes on in a band below.
    func svg() -> [String] {
        let (place, width, height) = layout()
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
        for (number, arrow) in arrows.enumerated() {
            guard let from = place[arrow.from], let to = place[arrow.to] else { continue }
            lines += Self.drawing(of: arrow, number, from: from, to: to, width, height)
        }
        let stuck = Set(arrows.filter(\.isDeadly).flatMap { [$0.from, $0.to] })
        for pid in processes {
            guard let (x, y) = place[pid].map({ ($0.x, $0.y) }) else { continue }
            let color = stuck.contains(pid) ? Self.red : Self.plain
            lines.append(
                #"<rect x="\#(x)" y="\#(y)" width="\#(Self.box.width)" height="\#(Self.box.height)" rx="6" "#
                    + #"fill="whitesmoke" stroke="\#(color)"/>"#
            )
            lines.append(#"<text x="\#(x + 12)" y="\#(y + 20)" font-weight="bold">\#(pid)</text>"#)
            let command = Self.text(PeopleText.shortened(report.command(pid), to: 27))
            lines.append(#"<text x="\#(x + 12)" y="\#(y + 38)" fill="dimgray">\#(command)</text>"#)
        }
        return lines + ["</svg>"]
    }

    private static let plain = "#57606a"
    private static let red = "#cf222e"

    private static func drawing(
        of arrow: Arrow,
        _ number: Int,
        from: Place,
        to: Place,
        _ width: Int,
        _ height: Int
    ) -> [String] {
        let (color, marker) = arrow.isDeadly ? (red, "deadly") : (plain, "waits")
        let path: String
        let middle: (x: Int, y: Int)
        // Beside each other, where several go the same way.
        let lane = number % 5 * 4
        if from.band > to.band {
            // Up between the bands, and into the bottom of the box.
            let way = from.y - above / 2 + lane
            path = "M\(from.middle.x),\(from.y) V\(way) H\(to.middle.x) V\(to.bottom)"
            middle = ((from.middle.x + to.middle.x) / 2, way - 3)
        } else if from.band < to.band {
            // Around the right edge, and from below.
            path =
                "M\(from.right),\(from.middle.y) H\(width - 2 - lane / 2) V\(height - 2 - lane / 2) "
                + "H\(to.middle.x) V\(to.bottom)"
            middle = ((width + to.middle.x) / 2, height - 6 - lane / 2)
        } else if from.x < to.x {
            let (start, end) = ((x: from.right, y: from.middle.y), (x: to.x, y: to.middle.y))
            let bend = start.x + gap.x / 2
            path = "M\(start.x),\(start.y) C\(bend),\(start.y) \(bend),\(end.y) \(end.x),\(end.y)"
            // Beside its start, where arrows to one process still lie apart.
            middle = (start.x + gap.x / 2, start.y + (end.y - start.y) / 2 - 6)
        } else {
            // Back, or within a column: from the top of one box over the others to the top of the other.
            let (start, end) = ((x: from.middle.x, y: from.y), (x: to.middle.x, y: to.y))
            let over = min(start.y, end.y) - 44
            path = "M\(start.x),\(start.y) C\(start.x),\(over) \(end.x),\(over) \(end.x),\(end.y)"
            middle = ((start.x + end.x) / 2, over + 6)
        }
        let label = text(PeopleText.shortened(arrow.label, to: 24))
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
        for scalar in PeopleText.escaped(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            // XML has no such characters.
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
