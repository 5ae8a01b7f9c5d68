import SharedSpace
import SpaceInspection
import SpaceSystem

/// The state of namespaces as metrics, in the text form of OpenMetrics 1.0.
struct MetricsReport {
    /// The media type of the text.
    static let mediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    private enum Kind: String { case gauge, counter, histogram }

    /// One metric with its samples, in the order in which they were added.
    private struct Family {
        let name: String
        let kind: Kind
        let help: String
        var samples: [String] = []
    }

    /// The namespaces that were looked at.
    private var statuses: [NamespaceStatus] = []

    private var families: [Family] = [
        Family(name: "up", kind: .gauge, help: "1 if the namespace could be looked at, 0 if not."),
        Family(name: "tuples", kind: .gauge, help: "Tuples that can be read and taken."),
        Family(name: "oldest_tuple_seconds", kind: .gauge, help: "The age of the oldest tuple that can be taken."),
        Family(name: "cells", kind: .gauge, help: "Cells that are set."),
        Family(name: "used_bytes", kind: .gauge, help: "Bytes of the data file in use, free pages among them."),
        Family(name: "disk_bytes", kind: .gauge, help: "Bytes of the blocks of the namespace's files."),
        Family(name: "limit_bytes", kind: .gauge, help: "The most bytes that the data file may use."),
        Family(name: "changes", kind: .counter, help: "Changes since the namespace was created."),
        Family(name: "owners", kind: .gauge, help: "Living processes that keep the namespace alive."),
        Family(name: "halted_processes", kind: .gauge, help: "Processes of the namespace that are stopped or frozen."),
        Family(name: "waiters", kind: .gauge, help: "Threads and tasks that wait, by what they wait for."),
        Family(name: "longest_wait_seconds", kind: .gauge, help: "For how long the longest wait has lasted."),
        Family(name: "watchers", kind: .gauge, help: "Registrations to be told of changes."),
        Family(name: "watcher_lag", kind: .gauge, help: "Changes that the slowest watcher has not acknowledged."),
        Family(name: "claims", kind: .gauge, help: "Tuples that are claimed."),
        Family(name: "buried", kind: .gauge, help: "Tuples that were buried."),
        Family(name: "held", kind: .gauge, help: "Places that are held, by kind of object."),
        Family(name: "queued", kind: .gauge, help: "Places in queues for what is held, by kind of object."),
        Family(name: "responders", kind: .gauge, help: "Responders that answer requests."),
        Family(name: "requests", kind: .gauge, help: "Requests that are not done."),
        Family(name: "queue_items", kind: .gauge, help: "Items of work queues, by queue and state."),
        Family(name: "wait_seconds", kind: .histogram, help: "How long waits for tuples lasted, if it is measured."),
        Family(
            name: "hand_off_seconds",
            kind: .histogram,
            help: "From the grant of a tuple to a waiting taker to the taker's return, if it is measured."
        ),
        Family(name: "deadlocks", kind: .gauge, help: "Circles of processes that wait for each other."),
        Family(
            name: "own_waits",
            kind: .gauge,
            help: "Waits of processes, for a second or longer, for what they hold themselves."
        ),
        Family(name: "spanning_deadlocks", kind: .gauge, help: "Such circles through several namespaces."),
    ]

    /// Adds a namespace; `nil` for one that could not be looked at.
    mutating func add(_ name: String, _ status: NamespaceStatus?, now: Int64 = Clock.realtimeMilliseconds()) {
        let label = ("namespace", name)
        sample("up", [label], status == nil ? 0 : 1)
        guard let status else { return }
        sample("tuples", [label], status.tuples)
        sample("oldest_tuple_seconds", [label], status.oldest.map { max(0, now - $0) / 1000 } ?? 0)
        sample("cells", [label], status.cells)
        sample("used_bytes", [label], status.bytes)
        sample("disk_bytes", [label], status.diskBytes)
        sample("limit_bytes", [label], status.byteLimit)
        sample("changes", [label], Int(clamping: status.sequence))
        let living = status.owners.filter(\.isAlive)
        sample("owners", [label], living.count { $0.kind != .visitor })
        sample("halted_processes", [label], Set(living.map(\.pid)).count { ProcessIdentity.halt(of: $0) != nil })
        for (kind, count) in Self.counts(status.waiters.map(\.kind)) {
            sample("waiters", [label, ("kind", kind)], count)
        }
        let longest = status.waiters.map { max(0, now - $0.since) }.max() ?? 0
        sample("longest_wait_seconds", [label], "\(longest / 1000).\(Self.padded(longest % 1000))")
        sample("watchers", [label], status.watchers.count)
        let lag = status.watchers.map { status.lag(of: $0) }.max()
        sample("watcher_lag", [label], Int(clamping: lag ?? 0))
        sample("claims", [label], status.claims.count)
        sample("buried", [label], status.buried.count)
        for (name, isHeld) in [("held", true), ("queued", false)] {
            let kinds = status.holds.filter { $0.isHeld == isHeld }.map(\.kind)
            for (kind, count) in Self.counts(kinds) { sample(name, [label, ("kind", kind)], count) }
        }
        sample("responders", [label], status.responders.count)
        sample("requests", [label], status.requests.count)
        for object in status.objects {
            guard let items = object.queue?.items else { continue }
            for (state, number) in items.numbers {
                sample("queue_items", [label, ("queue", object.name), ("state", state)], number)
            }
        }
        if let latency = status.latency {
            histogram("wait_seconds", [label], latency.waiting)
            histogram("hand_off_seconds", [label], latency.handOff)
        }
        statuses.append(status)
    }

    /// Adds the deadlocks, once all namespaces are added.
    ///
    /// - Parameter spansAll: Whether the namespaces are all of the space.
    mutating func addDeadlocks(spansAll: Bool) {
        let waits = SpaceWaits(statuses)
        for status in statuses {
            sample("deadlocks", [("namespace", status.name)], waits.deadlocks(in: status.name).count)
            sample("own_waits", [("namespace", status.name)], waits.ownWaits(in: status.name))
        }
        if spansAll { sample("spanning_deadlocks", [], waits.spanning.count) }
    }

    /// The text, which ends with a line of its own.
    var text: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# TYPE shared_space_\(family.name) \(family.kind.rawValue)\n"
            if family.name.hasSuffix("_bytes") { text += "# UNIT shared_space_\(family.name) bytes\n" }
            if family.name.hasSuffix("_seconds") { text += "# UNIT shared_space_\(family.name) seconds\n" }
            text += "# HELP shared_space_\(family.name) \(family.help)\n"
            for sample in family.samples { text += sample + "\n" }
        }
        return text + "# EOF\n"
    }

    /// OpenMetrics: each bucket counts all durations up to its bound.
    private mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: LatencyHistogram) {
        var sum = 0
        for (index, count) in histogram.counts.enumerated() {
            sum = Int(clamping: UInt(sum) + UInt(count))
            let bound = index < LatencyHistogram.bounds.count ? Self.seconds(LatencyHistogram.bounds[index]) : "+Inf"
            sample(name, labels + [("le", bound)], sum, suffix: "_bucket")
        }
        sample(name, labels, Self.seconds(histogram.total), suffix: "_sum")
        sample(name, labels, sum, suffix: "_count")
    }

    /// A duration in seconds, with at least one decimal and no needless ones.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var decimals = "\(attoseconds / 1_000_000_000)"
        decimals = String(repeating: "0", count: max(0, 9 - decimals.count)) + decimals
        while decimals.count > 1, decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(seconds).\(decimals)"
    }

    private mutating func sample(
        _ name: String,
        _ labels: [(String, String)],
        _ value: some CustomStringConvertible,
        suffix: String? = nil
    ) {
        guard let index = families.firstIndex(where: { $0.name == name }) else { return }
        let suffix = suffix ?? (families[index].kind == .counter ? "_total" : "")
        let set = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        let braces = labels.isEmpty ? "" : "{\(set)}"
        families[index].samples.append("shared_space_\(name)\(suffix)\(braces) \(value)")
    }

    /// OpenMetrics: in a label's value, backslash, quotation mark and line feed are escaped.
    ///
    /// Other control characters, which may stand there, are shown as JSON shows them: a name may not act on the terminal of
    /// the person who looks.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case _ where scalar.isControl: result += "\\" + scalar.escaped
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func counts(_ kinds: [String]) -> [(String, Int)] {
        Dictionary(grouping: kinds, by: { $0 }).map { ($0, $1.count) }.sorted { $0 < $1 }
    }

    private static func padded(_ thousandths: Int64) -> String {
        let digits = "\(thousandths)"
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}
