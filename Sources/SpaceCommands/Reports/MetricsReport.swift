import SpaceInspection
import SpaceSystem

/// The state of namespaces as metrics, in the text form of OpenMetrics 1.0.
struct MetricsReport {
    /// The media type of the text.
    static let mediaType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// The namespaces at the times of the looks; without a status if that failed.
    private var looks: [(name: String, status: NamespaceStatus?, time: Int64)] = []
    /// Whether the namespaces are all of the space.
    private let spansAll: Bool

    init(spansAll: Bool) { self.spansAll = spansAll }

    /// Adds a namespace; `nil` for one that could not be looked at.
    mutating func add(_ name: String, _ status: NamespaceStatus?, now: Int64 = Clock.realtimeMilliseconds()) {
        looks.append((name, status, now))
    }

    // MARK: The metrics

    fileprivate enum Kind: String { case gauge, counter, histogram }

    /// A namespace with what metrics are read from.
    fileprivate struct Sight {
        let status: NamespaceStatus
        let now: Int64
        /// The waits of all namespaces together.
        let waits: SpaceWaits
    }

    /// A number, with the labels that tell it from others of its metric and namespace.
    fileprivate struct Sample {
        let value: String
        let labels: [(String, String)]
        let suffix: String

        init(_ value: some CustomStringConvertible, _ labels: (String, String)..., suffix: String = "") {
            (self.value, self.labels, self.suffix) = ("\(value)", labels, suffix)
        }
    }

    /// A metric of a namespace: its name, its help text, and how its samples are read.
    fileprivate struct Family: Sendable {
        let name: String
        let kind: Kind
        let help: String
        let samples: @Sendable (Sight) -> [Sample]

        init(_ name: String, _ help: String, _ kind: Kind = .gauge, samples: @escaping @Sendable (Sight) -> [Sample]) {
            (self.name, self.help, self.kind, self.samples) = (name, help, kind, samples)
        }

        /// A metric with one number.
        init(_ name: String, _ help: String, number: @escaping @Sendable (NamespaceStatus) -> Int) {
            self.init(name, help) { [Sample(number($0.status))] }
        }

        /// A metric that counts by kind.
        init(_ name: String, _ help: String, kinds: @escaping @Sendable (NamespaceStatus) -> [String]) {
            self.init(name, help) { sight in
                Dictionary(grouping: kinds(sight.status), by: \.self).sorted { $0.key < $1.key }
                    .map { Sample($0.value.count, ("kind", $0.key)) }
            }
        }

        init(
            _ name: String,
            _ help: String,
            histogram: @escaping @Sendable (NamespaceStatus.Latency) -> LatencyHistogram
        ) {
            self.init(name, help, .histogram) { sight in sight.status.latency.map { Sample.all(histogram($0)) } ?? [] }
        }
    }

    /// The metrics of a namespace, in the order in which they are printed.
    private static let families = [
        Family("tuples", "Tuples that can be read and taken.", number: \.tuples),
        Family("oldest_tuple_seconds", "The age of the oldest tuple that can be taken.") { sight in
            [Sample(sight.status.oldest.map { max(0, sight.now - $0) / 1000 } ?? 0)]
        },
        Family("cells", "Cells that are set.", number: \.cells),
        Family("used_bytes", "Bytes of the data file in use, free pages among them.", number: \.bytes),
        Family("disk_bytes", "Bytes of the blocks of the namespace's files.", number: \.diskBytes),
        Family("limit_bytes", "The most bytes that the data file may use.", number: \.byteLimit),
        Family("changes", "Changes since the namespace was created.", .counter) { sight in
            [Sample(Int(clamping: sight.status.sequence), suffix: "_total")]
        },
        Family("owners", "Living processes that keep the namespace alive.", number: \.livingOwners),
        Family(
            "halted_processes",
            "Processes of the namespace that are stopped or frozen.",
            number: { status in
                Set(status.owners.filter(\.isAlive).map(\.pid)).count { ProcessIdentity.halt(of: $0) != nil }
            }
        ),
        Family(
            "waiters",
            "Threads and tasks that wait, by what they wait for.",
            kinds: { $0.waiters.map(\.kind.name) }
        ),
        Family("longest_wait_seconds", "For how long the longest wait has lasted.") { sight in
            let longest = sight.status.longestWait.map { max(0, sight.now - $0) } ?? 0
            return [Sample("\(longest / 1000).\(padded(longest % 1000, to: 3))")]
        },
        Family("watchers", "Registrations to be told of changes.", number: \.watchers.count),
        Family(
            "watcher_lag",
            "Changes that the slowest watcher has not acknowledged.",
            number: { status in
                Int(clamping: status.watchers.map(status.lag).max() ?? 0)
            }
        ),
        Family("claims", "Tuples that are claimed.", number: \.claims.count),
        Family("buried", "Tuples that were buried.", number: \.buried.count),
        Family(
            "held",
            "Places that are held, by kind of object.",
            kinds: { status in
                status.holds.filter(\.isHeld).map(\.kind.name)
            }
        ),
        Family(
            "queued",
            "Places in queues for what is held, by kind of object.",
            kinds: { status in
                status.holds.filter { !$0.isHeld }.map(\.kind.name)
            }
        ),
        Family("responders", "Responders that answer requests.", number: \.responders.count),
        Family("requests", "Requests that are not done.", number: \.requests.count),
        Family("queue_items", "Items of work queues, by queue and state.") { sight in
            sight.status.objects.flatMap { object in
                (object.queue?.items?.numbers ?? []).map { (state, number) in
                    Sample(number, ("queue", object.name), ("state", state))
                }
            }
        },
        Family("wait_seconds", "How long waits for tuples lasted, if it is measured.", histogram: \.waiting),
        Family(
            "hand_off_seconds",
            "From the grant of a tuple to a waiting taker to the taker's return, if it is measured.",
            histogram: \.handOff
        ),
        Family("deadlocks", "Circles of processes that wait for each other.") { sight in
            [Sample(sight.waits.deadlocks(in: sight.status.name).count)]
        },
        Family("own_waits", "Waits of processes, for a second or longer, for what they hold themselves.") { sight in
            [Sample(sight.waits.ownWaits(in: sight.status.name))]
        },
    ]

    // MARK: The text

    /// The text, which ends with a line of its own.
    var text: String {
        let up = Family("up", "1 if the namespace could be looked at, 0 if not.") { _ in [] }
        var text = up.text(looks.map { (Sample($0.status == nil ? 0 : 1), $0.name) })
        let waits = SpaceWaits(looks.compactMap(\.status))
        for family in Self.families {
            let samples = looks.flatMap { look in
                let sight = look.status.map { Sight(status: $0, now: look.time, waits: waits) }
                return sight.map(family.samples)?.map { ($0, look.name) } ?? []
            }
            text += family.text(samples)
        }
        if spansAll {
            let spanning = Family("spanning_deadlocks", "Such circles through several namespaces.") { _ in [] }
            text += spanning.text([(Sample(waits.spanning.count), nil)])
        }
        return text + "# EOF\n"
    }
}

extension MetricsReport.Family {
    /// The lines of a metric with samples of namespaces, if there are any.
    fileprivate func text(_ samples: [(MetricsReport.Sample, namespace: String?)]) -> String {
        guard !samples.isEmpty else { return "" }
        var text = "# TYPE shared_space_\(name) \(kind.rawValue)\n"
        for unit in ["bytes", "seconds"] where name.hasSuffix("_\(unit)") {
            text += "# UNIT shared_space_\(name) \(unit)\n"
        }
        text += "# HELP shared_space_\(name) \(help)\n"
        for (sample, namespace) in samples {
            let labels = (namespace.map { [("namespace", $0)] } ?? []) + sample.labels
            let set = labels.map { "\($0)=\"\(MetricsReport.escaped($1))\"" }.joined(separator: ",")
            text += "shared_space_\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(set)}") \(sample.value)\n"
        }
        return text
    }
}

extension MetricsReport.Sample {
    /// OpenMetrics: each bucket counts all durations up to its bound.
    fileprivate static func all(_ histogram: LatencyHistogram) -> [MetricsReport.Sample] {
        let buckets = histogram.cumulative.map { (bound, count) in
            Self(count, ("le", bound.map(MetricsReport.seconds) ?? "+Inf"), suffix: "_bucket")
        }
        return buckets + [
            Self(MetricsReport.seconds(histogram.total), suffix: "_sum"), Self(histogram.count, suffix: "_count"),
        ]
    }
}

extension MetricsReport {
    /// A duration in seconds, with at least one decimal and no needless ones.
    fileprivate static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        var decimals = padded(attoseconds / 1_000_000_000, to: 9)
        while decimals.count > 1, decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(seconds).\(decimals)"
    }

    private static func padded(_ number: Int64, to count: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// OpenMetrics: in a label's value, backslash, quotation mark and line feed are escaped.
    ///
    /// Other control characters, which may stand there, are shown as JSON shows them: a name may not act on the terminal of
    /// the person who looks.
    fileprivate static func escaped(_ text: String) -> String {
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
}
