import Glibc
import SharedSpace
import SpaceCluster
import SpaceInspection
import SpaceSystem

extension StatusReport {
    /// The processes that use the namespace, without this one.
    private var processes: [NamespaceStatus.Owner] { status.owners.filter { $0.pid != getpid() } }

    /// The cells of a row in a table of namespaces.
    static let summaryTitles = ["NAME", "TUPLES", "CELLS", "QUEUES", "SETS", "OWNERS", "SIZE", "ON DISK", "MODE"]

    var summaryRow: [String] {
        [
            status.name, "\(status.tuples)", "\(status.cells)", "\(count(.queue))", "\(count(.orderedSet))",
            "\(livingOwners)", PeopleText.bytes(status.bytes), PeopleText.bytes(status.diskBytes), modeText,
        ]
    }

    /// The row of a namespace that can't be opened.
    static func failedRow(_ name: String, _ error: SpaceError) -> [String] {
        [name] + summaryTitles.dropFirst(2).map { _ in "-" } + [word(for: error)]
    }

    private var modeText: String { status.mode.rawValue + (status.isPersistent ? ", persistent" : "") }

    private var historyText: String {
        guard let history = status.history, let changes = history.changes, let bytes = history.bytes else { return "" }
        return ", the last \(changes) kept, \(PeopleText.bytes(bytes)) at most"
    }

    /// What an owner's process runs.
    private static func command(of owner: NamespaceStatus.Owner) -> String {
        (owner.isAlive ? ProcessText.command(of: owner.pid) : nil) ?? owner.command ?? "-"
    }

    private static func state(of owner: NamespaceStatus.Owner) -> String {
        owner.isAlive ? ProcessText.state(of: owner.pid) : "dead"
    }

    /// What a waiter waits for: to `take` or `read` a tuple, or for a `cell`, a `lock`….
    private static func purpose(of waiter: NamespaceStatus.Waiter) -> String {
        guard waiter.kind == "tuple" else { return waiter.kind }
        return waiter.isTaking ? "take" : "read"
    }

    /// Lines for people.
    ///
    /// - Parameters:
    ///   - now: The time that other times are told against.
    ///   - replication: How the namespace stands to its machines' log; `nil` if it has none, or if that is not known.
    ///   - isDaemonAsked: Whether the daemon of the root was asked for it.
    /// - Returns: The lines.
    func text(
        now: Int64 = Clock.realtimeMilliseconds(),
        replication: ReplicationReport? = nil,
        isDaemonAsked: Bool = false
    ) -> [String] {
        let log = status.log.map { log in
            let entry = "\(log.path.quotedForPeople), entry \(log.entry)"
            return log.isFollowed ? ["standby of", entry] : ["log", entry]
        }
        let silence =
            isDaemonAsked
            ? "; the daemon of this machine does not answer, or takes no part: look with space machines" : ""
        let replica =
            status.isReplicated
            ? [["shared by", status.machines.joined(separator: ", ")]]
                + (replication?.rows(now: now) ?? [
                    ["log", "entry \(status.entry) here\(silence)"]
                ])
            : isApart ? [["trouble", ClusterReport.Namespace.notShared]] : []
        var lines = PeopleText.table(
            [
                ["namespace", status.name],
                ["mode", modeText],
                ["tuples", "\(status.tuples)"],
                ["cells", "\(status.cells)"],
                ["size", "\(PeopleText.bytes(status.bytes)) of \(PeopleText.bytes(status.byteLimit))"],
                ["on disk", PeopleText.bytes(status.diskBytes)],
                ["changes", "\(status.sequence)\(historyText)"],
                ["created", PeopleText.relative(status.created, to: now)],
            ] + [log].compactMap(\.self) + replica
        )
        let circles = WaitReport.lines(graph.deadlocks + graph.doubtful, now: now)
        if !circles.isEmpty { lines += [""] + circles }
        func section(_ title: String, _ titles: [String], _ rows: [[String]]) {
            guard !rows.isEmpty else { return }
            lines.append("")
            lines.append(title)
            lines += PeopleText.table([titles] + rows, indent: "  ")
        }
        section(
            PeopleText.count(processes.count, "process", plural: "processes"),
            ["PID", "COMMAND", "SINCE", "KIND", "STATE"],
            processes.map { owner in
                [
                    "\(owner.pid)", Self.command(of: owner), PeopleText.relative(owner.since, to: now),
                    owner.kind.rawValue, Self.state(of: owner),
                ]
            }
        )
        section(
            PeopleText.count(status.waiters.count, "waiter"),
            ["PID", "SINCE", "FOR", "WHAT"],
            status.waiters.map { waiter in
                [
                    PeopleText.cell(waiter.pid), PeopleText.relative(waiter.since, to: now),
                    Self.purpose(of: waiter), waiter.template,
                ]
            }
        )
        section(
            PeopleText.count(status.watchers.count, "watcher"),
            ["PID", "POSITION", "SUBSCRIPTION", "FILTER"],
            status.watchers.map { watcher in
                [
                    watcher.elsewhere ?? PeopleText.cell(watcher.pid), "\(watcher.position)",
                    watcher.subscription ?? "-",
                    watcher.filter,
                ]
            }
        )
        section(
            PeopleText.count(status.claims.count, "claim"),
            ["ID", "PID", "DEADLINE", "TUPLE"],
            status.claims.map { claim in
                [
                    "\(claim.held.number)", claim.elsewhere ?? PeopleText.cell(claim.pid),
                    claim.deadline.map { PeopleText.relative($0, to: now) } ?? "-", claim.held.tuple.json,
                ]
            }
        )
        section(
            "\(PeopleText.count(status.buried.count, "tuple")) buried",
            ["ID", "DELIVERIES", "TUPLE"],
            status.buried.map(\.held).map { ["\($0.id.rawValue)", "\($0.deliveries)", $0.tuple.json] }
        )
        section(
            "held, and waited for",
            Self.holdTitles,
            holdRows(now: now)
        )
        section(
            PeopleText.count(status.responders.count, "responder"),
            Self.responderTitles,
            responderRows(now: now)
        )
        section(PeopleText.count(status.requests.count, "request"), Self.requestTitles, requestRows(now: now))
        section(
            PeopleText.count(status.objects.count, "named object"),
            ["NAME", "TYPE", "OF", "COUNT"],
            status.objects.map { [$0.name, $0.kind, $0.elementType ?? "-", Self.countText($0)] }
        )
        section(
            PeopleText.count(status.shapes.count, "indexed shape"),
            ["SHAPE", "STATE"],
            status.shapes.map { [$0.description, $0.state] }
        )
        return lines
    }
}
