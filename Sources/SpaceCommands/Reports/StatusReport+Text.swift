import Glibc
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
            status.name, "\(status.tuples)", "\(status.cells)", "\(status.count(.queue))",
            "\(status.count(.orderedSet))", "\(status.livingOwners)", PeopleText.bytes(status.bytes),
            PeopleText.bytes(status.diskBytes), modeText,
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

    /// Lines for people.
    ///
    /// - Parameters:
    ///   - now: The present, to which other times are shown as relative.
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
        for (title, titles, rows) in sections(now: now) { lines += PeopleText.section(title, titles, rows) }
        return lines
    }

    /// The lists of what processes have in the namespace.
    private func sections(now: Int64) -> [(title: String, titles: [String], rows: [[String]])] {
        func relative(_ moment: Int64?) -> String { PeopleText.relative(moment, to: now) }
        let (held, answered) = (status.holds.map { row($0, now: now) }, status.responders.map { row($0, now: now) })
        return [
            (
                PeopleText.count(processes.count, "process", plural: "processes"),
                ["PID", "COMMAND", "SINCE", "KIND", "STATE"],
                processes.map {
                    ["\($0.pid)", Self.command(of: $0), relative($0.since), $0.kind.rawValue, Self.state(of: $0)]
                }
            ),
            (
                PeopleText.count(status.waiters.count, "waiter"), ["PID", "SINCE", "FOR", "WHAT"],
                status.waiters.map {
                    [PeopleText.cell($0.pid), relative($0.since), Self.purpose(of: $0), $0.template]
                }
            ),
            (
                PeopleText.count(status.watchers.count, "watcher"), ["PID", "POSITION", "SUBSCRIPTION", "FILTER"],
                status.watchers.map { [$0.processText, "\($0.position)", $0.subscription ?? "-", $0.filter] }
            ),
            (
                PeopleText.count(status.claims.count, "claim"), ["ID", "PID", "DEADLINE", "TUPLE"],
                status.claims.map {
                    [
                        "\($0.held.number)", $0.isResting ? "rests" : $0.processText, relative($0.deadline),
                        $0.held.tuple.json,
                    ]
                }
            ),
            (
                "\(PeopleText.count(status.buried.count, "tuple")) buried", ["ID", "DELIVERIES", "TUPLE"],
                status.buried.map(\.held).map { ["\($0.id.rawValue)", "\($0.deliveries)", $0.tuple.json] }
            ),
            ("held, and waited for", ["NAME", "KIND", "PID", "SINCE", "FENCING", "STATE"], held),
            (
                PeopleText.count(status.responders.count, "responder"),
                ["NAME", "ORDER", "KEY", "PID", "SINCE", "REQUESTS", "STATE"], answered
            ),
            (
                PeopleText.count(status.requests.count, "request"), ["NAME", "PID", "SINCE", "WITH"],
                status.requests.map {
                    [$0.name, $0.processText, relative($0.since), PeopleText.cell($0.responder)]
                }
            ),
            (
                PeopleText.count(status.objects.count, "named object"), ["NAME", "TYPE", "OF", "COUNT"],
                status.objects.map { [$0.name, $0.kind.name, $0.elementType ?? "-", $0.countText] }
            ),
            (
                PeopleText.count(status.shapes.count, "indexed shape"), ["SHAPE", "STATE"],
                status.shapes.map { [$0.description, $0.state] }
            ),
        ]
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
        guard waiter.kind == .tuple else { return waiter.kind.name }
        return waiter.isTaking ? "take" : "read"
    }

    /// A holder, or one that waits; then the row names the holders.
    private func row(_ hold: NamespaceStatus.Hold, now: Int64) -> [String] {
        let blockers = blockers(of: hold)
        let waitsFor = blockers.isEmpty ? "" : " for \(blockers.prefix(8).map(String.init).joined(separator: ", "))"
        let count = hold.weight == 1 ? "" : " \(hold.weight)"
        return [
            hold.name, hold.kind.word, hold.processText, PeopleText.relative(hold.since, to: now), "\(hold.fencing)",
            (hold.isHeld ? "holds\(count)" : "waits\(waitsFor)") + (hold.isShared ? ", shared" : ""),
        ]
    }

    private func row(_ responder: NamespaceStatus.Responder, now: Int64) -> [String] {
        [
            responder.name, "\(responder.order)", responder.key, responder.processText,
            PeopleText.relative(responder.since, to: now), "\(responder.requests)",
            responder.isLeaving ? "leaving" : responder.isBase ? "base" : "responds",
        ]
    }
}

extension NamespaceStatus.Entry {
    /// The process, with its machine if that is another one.
    fileprivate var processText: String { elsewhere ?? PeopleText.cell(pid) }
}

extension SharedObjectInfo {
    /// How many elements, entries or items it has; items are also counted by state.
    var countText: String {
        guard let count else { return "-" }
        let states = queue?.items?.numbers.filter { $0.number > 0 }.map { "\($0.number) \($0.state)" } ?? []
        let text = states.isEmpty ? "\(count)" : "\(count): \(states.joined(separator: ", "))"
        return queue?.isPaused ?? false ? "\(text); paused" : text
    }
}
