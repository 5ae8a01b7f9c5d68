import Glibc
import SpaceInspection

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
        /// Why it could not be looked at.
        var failure: SpaceError?
        /// Changes a second since the look before; `nil` at the first.
        let rate: Int?
    }

    let sights: [Sight]
    let now: Int64
    /// How the lines of deadlocks and titles look, on a terminal; empty elsewhere.
    var isColoured = false

    private static let titles = [
        "NAMESPACE", "TUPLES", "CELLS", "SIZE", "ON DISK", "CHANGES/S", "WAIT", "HELD", "CLAIMS", "RETURNS", "BURIED",
        "OLDEST TUPLE", "LONGEST WAIT",
    ]

    /// The lines, the namespaces sorted.
    ///
    /// - Parameters:
    ///   - order: By what the namespaces are sorted.
    ///   - room: The size of the screen below the header, if the lines are for one: deadlocks are wrapped then, and
    ///     namespaces or processes that have no room are counted. Each of the two lists gets half of the screen if it
    ///     needs that.
    /// - Returns: The lines; without `room` nothing is left out.
    func lines(_ order: Order, room: (columns: Int, rows: Int)? = nil) -> [String] {
        let statuses = sights.compactMap(\.status)
        let circles = SpaceWaits(statuses)
        var named: [String] = []
        for status in statuses {
            for line in WaitReport.lines(circles.circles(in: status.name), now: now) {
                named.append("\(Self.short(status.name)): \(line)")
            }
        }
        for case (let name, let failure?) in sights.map({ ($0.name, $0.failure) }) {
            named.append("\(Self.short(name)): \(failure.reason)")
        }
        named += WaitReport.lines(circles.spanning + circles.doubtfulSpanning, naming: true, now: now)
        if let room { named = named.flatMap { PeopleText.wrapped($0, to: room.columns) } }
        var lines = named.map { emphasized($0, "31;1") }

        var namespaces = sorted(order).map(row)
        var seen = processes(statuses)
        if room != nil {
            // Those that hold something or wait come first, so that these have room.
            let isBusy = { (process: ProcessSight) in !process.holds.isEmpty || !process.waits.isEmpty }
            seen = seen.filter(isBusy) + seen.filter { !isBusy($0) }
        }
        var processes = seen.map(row)
        var more: (namespaces: String?, processes: String?) = (nil, nil)
        if let room {
            // The titles, and the empty line before those of the processes, are no rows of a list.
            let rows = max(2, room.rows - lines.count - 1 - (processes.isEmpty ? 0 : 2))
            let share = max(rows / 2, rows - processes.count)
            more.namespaces = Self.cut(&namespaces, to: share, "namespace")
            let used = namespaces.count + (more.namespaces == nil ? 0 : 1)
            more.processes = Self.cut(&processes, to: rows - used, "process", plural: "processes")
        }
        lines += table([Self.titles] + namespaces) + (more.namespaces.map { [$0] } ?? [])
        if !processes.isEmpty {
            lines.append("")
            lines += table([["PID", "STATE", "NAMESPACE", "HOLDS", "WAITS FOR", "COMMAND"]] + processes)
            lines += more.processes.map { [$0] } ?? []
        }
        return lines
    }

    /// Cuts a list to a number of rows.
    ///
    /// - Returns: The last row then, which counts the others; `nil` if all have room.
    private static func cut(_ list: inout [[String]], to rows: Int, _ noun: String, plural: String? = nil) -> String? {
        guard list.count > rows else { return nil }
        let left = list.count - max(0, rows - 1)
        list.removeLast(left)
        return "… \(PeopleText.count(left, noun, plural: plural)) more"
    }

    /// A namespace's name, which may have 200 bytes: as much of it as leaves room for the other columns.
    private static func short(_ name: String) -> String { PeopleText.shortened(PeopleText.escaped(name), to: 40) }

    // MARK: JSON

    /// One object with everything, as `top --json` prints it.
    func object(_ order: Order) -> JSONObject {
        let statuses = sights.compactMap(\.status)
        let circles = SpaceWaits(statuses)
        return [
            "time": now, "namespaces": sorted(order).map { Self.object($0, circles) },
            "processes": processes(statuses).map(Self.object), "deadlocks": circles.spanning,
        ]
    }

    private static func object(_ sight: Sight, _ circles: SpaceWaits) -> JSONObject {
        guard let status = sight.status else {
            return ["name": sight.name, "failed": true, "error": sight.failure.map { "\($0)" }]
        }
        return [
            "name": sight.name, "tuples": status.tuples, "cells": status.cells, "bytes": status.bytes,
            "disk": status.diskBytes, "rate": sight.rate, "waiters": status.waiters.count,
            "held": status.held, "claims": status.claims.count, "deliveries": status.deliveries,
            "buried": status.allBuried, "oldest": status.oldest, "longest_wait": status.longestWait,
            "waits": circles.waits(in: status.name), "deadlocks": circles.deadlocks(in: status.name),
            "life": status.life.description,
        ]
    }

    private static func object(_ process: ProcessSight) -> JSONObject {
        var object = process.owner.object()
        object.add([
            "namespace": process.namespace, "state": process.state, "holds": process.holds,
            "waits_for": process.waits, "runs": process.command,
        ])
        return object
    }

    // MARK: Text

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
            return [Self.short(sight.name)] + Array(repeating: "-", count: Self.titles.count - 2) + [
                "can't be looked at"
            ]
        }
        return [
            Self.short(status.name), "\(status.tuples)", "\(status.cells)", PeopleText.bytes(status.bytes),
            PeopleText.bytes(status.diskBytes), PeopleText.cell(sight.rate), "\(status.waiters.count)",
            "\(status.held)", "\(status.claims.count)", "\(status.deliveries)", "\(status.allBuried)",
            PeopleText.relative(status.oldest, to: now), PeopleText.relative(status.longestWait, to: now),
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
                let held = status.holds.filter { $0.isHeld && $0.pid == pid }.map { "\($0.kind.word) \($0.name)" }
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
            "\(process.owner.pid)", process.state, Self.short(process.namespace), Self.list(process.holds),
            Self.list(process.waits), process.command ?? "-",
        ]
    }

    /// What a process waits for: its turn at an object by name, a tuple or a cell by its template.
    private static func waits(of pid: Int32, in status: NamespaceStatus) -> [String] {
        status.waiters.filter { $0.pid == pid }.map { waiter in
            switch waiter.kind {
            case .tuple, .cell: "\(waiter.kind.name) \(waiter.template)"
            // Its text begins with the kind, and is a JSON string.
            case .object:
                (try? Value(json: waiter.template)).flatMap(\.text) ?? "\(waiter.kind.name) \(waiter.template)"
            }
        }
    }

    private static func list(_ parts: [String]) -> String {
        guard let first = parts.first else { return "-" }
        return PeopleText.shortened(first, to: 40) + (parts.count > 1 ? " +\(parts.count - 1)" : "")
    }

    private func table(_ rows: [[String]]) -> [String] {
        let lines = PeopleText.table(rows)
        return lines.prefix(1).map { emphasized($0, "7") } + lines.dropFirst()
    }

    private func emphasized(_ text: String, _ how: String) -> String {
        isColoured ? "\u{1B}[\(how)m\(text)\u{1B}[0m" : text
    }
}
