import Glibc
import SharedSpace
import SpaceSystem

/// A moment of all namespaces and their processes, as `top` shows it.
struct TopReport {
    /// By what the namespaces are sorted.
    enum Order: String, CaseIterable {
        case name, tuples, bytes, changes, waiters

        /// The key that chooses it.
        var key: Character { rawValue.first ?? " " }
    }

    /// A namespace as it was seen at one moment.
    struct Sight {
        let name: String
        /// `nil` if it could not be looked at.
        let status: NamespaceStatus?
        /// Changes a second since the look before; `nil` at the first.
        let rate: Int?
    }

    let sights: [Sight]
    let now: Int64
    /// How the lines of deadlocks and titles look, on a terminal; empty elsewhere.
    var isColoured = false

    private static let titles = [
        "NAMESPACE", "TUPLES", "CELLS", "SIZE", "ON DISK", "CHANGES/S", "WAIT", "HELD", "CLAIMS", "RETURNS", "ASIDE",
        "OLDEST TUPLE", "LONGEST WAIT",
    ]

    /// The lines, the namespaces sorted.
    func lines(_ order: Order) -> [String] {
        let statuses = sights.compactMap(\.status)
        let circles = SpaceWaits(statuses)
        var lines: [String] = []
        for status in statuses {
            for line in WaitReport.lines(circles.circles(in: status.name), now: now) {
                lines.append(emphasized("\(PeopleText.escaped(status.name)): \(line)", "31;1"))
            }
        }
        for line in WaitReport.lines(circles.spanning + circles.doubtfulSpanning, naming: true, now: now) {
            lines.append(emphasized(line, "31;1"))
        }
        lines += table([Self.titles] + sorted(order).map(row))
        let processes = processes(statuses).map(row)
        if !processes.isEmpty {
            lines.append("")
            lines += table([["PID", "STATE", "NAMESPACE", "HOLDS", "WAITS FOR", "COMMAND"]] + processes)
        }
        return lines
    }

    // MARK: JSON

    /// One object with everything, as `top --json` prints it.
    func object(_ order: Order) -> JSONObject {
        var object = JSONObject()
        let statuses = sights.compactMap(\.status)
        let circles = SpaceWaits(statuses)
        object.add("time", now)
        object.add("namespaces", sorted(order).map { Self.object($0, circles) })
        object.add("processes", processes(statuses).map(Self.object))
        object.add("deadlocks", json: "[\(circles.spanning.map(WaitReport.json).joined(separator: ","))]")
        return object
    }

    private static func object(_ sight: Sight, _ circles: SpaceWaits) -> JSONObject {
        var object = JSONObject()
        object.add("name", sight.name)
        guard let status = sight.status else {
            object.add("failed", true)
            return object
        }
        object.add("tuples", status.tuples)
        object.add("cells", status.cells)
        object.add("bytes", status.bytes)
        object.add("disk", status.diskBytes)
        object.add("rate", sight.rate)
        object.add("waiters", status.waiters.count)
        object.add("held", status.holds.count(where: \.isHeld))
        object.add("claims", status.claims.count)
        object.add("deliveries", (status.claims + status.buried).reduce(0) { $0 + $1.deliveries })
        object.add("aside", aside(status))
        object.add("oldest", status.oldest)
        object.add("longest_wait", status.waiters.map(\.since).min())
        object.add("waits", circles.waits(in: status.name))
        object.add(
            "deadlocks",
            json: "[\(circles.deadlocks(in: status.name).map(WaitReport.json).joined(separator: ","))]"
        )
        object.add("life", "\(status.life)")
        return object
    }

    private static func object(_ process: ProcessSight) -> JSONObject {
        var object = StatusReport.object(process.owner, kindKey: "kind")
        object.add("namespace", process.namespace)
        object.add("state", process.state)
        object.add("holds", process.holds)
        object.add("waits_for", process.waits)
        object.add("runs", process.command)
        return object
    }

    // MARK: Text

    /// The tuples and items that are set aside.
    private static func aside(_ status: NamespaceStatus) -> Int {
        status.objects.reduce(status.buried.count) { $0 + ($1.items?.dead ?? 0) }
    }

    private func sorted(_ order: Order) -> [Sight] {
        func rank(_ sight: Sight) -> Int {
            guard let status = sight.status else { return .max }
            return switch order {
            case .name: 0
            case .tuples: status.tuples
            case .bytes: status.diskBytes
            case .changes: sight.rate ?? 0
            case .waiters: status.waiters.count
            }
        }
        // The names are sorted already, and sorting keeps the order of equal ones.
        return order == .name ? sights : sights.sorted { rank($0) > rank($1) }
    }

    private func row(_ sight: Sight) -> [String] {
        guard let status = sight.status else {
            return [sight.name] + Array(repeating: "-", count: Self.titles.count - 2) + ["can't be looked at"]
        }
        return [
            status.name, "\(status.tuples)", "\(status.cells)", PeopleText.bytes(status.bytes),
            PeopleText.bytes(status.diskBytes), PeopleText.cell(sight.rate), "\(status.waiters.count)",
            "\(status.holds.count(where: \.isHeld))", "\(status.claims.count)",
            "\((status.claims + status.buried).reduce(0) { $0 + $1.deliveries })", "\(Self.aside(status))",
            status.oldest.map { PeopleText.relative($0, to: now) } ?? "-",
            status.waiters.map(\.since).min().map { PeopleText.relative($0, to: now) } ?? "-",
        ]
    }

    /// A living process in a namespace.
    private struct ProcessSight {
        let owner: NamespaceStatus.Owner
        let namespace: String
        let state: String
        let holds: [String]
        let waits: [String]
        /// What it runs; `nil` if that can't be read.
        let command: String?
    }

    /// Each living process of each namespace; this process is left out.
    private func processes(_ statuses: [NamespaceStatus]) -> [ProcessSight] {
        var sights: [ProcessSight] = []
        for status in statuses {
            var seen: Set<Int32> = [getpid()]
            for owner in status.owners where owner.isAlive && seen.insert(owner.pid).inserted {
                let pid = owner.pid
                let held = status.holds.filter { $0.isHeld && $0.pid == pid }.map { "\($0.kind) \($0.name)" }
                let claims = status.claims.count { $0.pid == pid }
                let holds = held + (claims > 0 ? [PeopleText.count(claims, "claim")] : [])
                sights.append(
                    ProcessSight(
                        owner: owner,
                        namespace: status.name,
                        state: ProcessText.state(of: pid),
                        holds: holds,
                        waits: Self.waits(of: pid, in: status),
                        command: ProcessText.command(of: pid, length: 80) ?? owner.command
                    )
                )
            }
        }
        return sights
    }

    private func row(_ process: ProcessSight) -> [String] {
        [
            "\(process.owner.pid)", process.state, process.namespace, Self.list(process.holds),
            Self.list(process.waits), process.command ?? "-",
        ]
    }

    /// What a process waits for: its turn at an object by name, a tuple or a cell by its template.
    private static func waits(of pid: Int32, in status: NamespaceStatus) -> [String] {
        status.waiters.filter { $0.pid == pid }.map { waiter in
            switch waiter.kind {
            case "tuple", "cell": "\(waiter.kind) \(waiter.template)"
            // Its text begins with the kind, and is a JSON string.
            default: (try? Value(json: waiter.template)).flatMap(\.text) ?? "\(waiter.kind) \(waiter.template)"
            }
        }
    }

    private static func list(_ parts: [String]) -> String {
        guard let first = parts.first else { return "-" }
        return ProcessText.shortened(first, to: 40) + (parts.count > 1 ? " +\(parts.count - 1)" : "")
    }

    private func table(_ rows: [[String]]) -> [String] {
        let lines = PeopleText.table(rows)
        return lines.prefix(1).map { emphasized($0, "7") } + lines.dropFirst()
    }

    private func emphasized(_ text: String, _ how: String) -> String {
        isColoured ? "\u{1B}[\(how)m\(text)\u{1B}[0m" : text
    }
}

extension Value {
    /// The text of a string.
    fileprivate var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
