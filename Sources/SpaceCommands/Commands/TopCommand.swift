import CommandWords
import SharedSpace
import SpaceEngine
import SpaceInspection
import SpaceSystem

/// The command `space top`.
struct TopCommand: ParsableCommand {
    static let commandName = "top"
    static let configuration = CommandConfiguration(
        abstract: "Watch the namespaces and their processes.",
        discussion: """
            Shows the namespaces with what is in them, the changes a second, and how many wait; below them the processes with \
            what they run, hold and wait for, and whether they are stopped. Deadlocks are named at the top, also those through several namespaces. It looks once in \
            an interval, and owns nothing; processes that are not looked at pay nothing.

            On a terminal it fills the screen; keys: q ends, n t b c w sort by name, tuples, bytes on disk, changes and \
            waiters, the space bar looks at once. Elsewhere, and where $TERM is dumb, it prints one look after another, with an empty line between them.

            EXAMPLES:
              space top
              space top jobs --interval 500ms
              space top --max 1
              space top --json --max 1 | jq '.namespaces[] | select(.deadlocks != []).name'
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "<duration> The time between two looks (default: 2s).")
    var interval: Duration?

    @Option(help: "<n> End after so many looks.")
    var max: Int?

    @Flag(help: "One JSON object for each look; times in it are milliseconds since 1970.")
    var json = false

    @Option(help: "<key> Sort by name, tuples, bytes, changes or waiters.")
    var sort = TopReport.Order.name

    @Argument(help: "<ns> The namespace; without it all.", completion: .namespaces)
    var namespace: String?

    func validate() throws {
        if let max, max < 1 { throw ValidationError("--max needs a number from 1") }
        if let interval, interval < .milliseconds(100) || interval > .seconds(3600) {
            throw ValidationError("--interval needs a time from 100ms to 1h")
        }
    }

    func run() throws {
        let space = try common.space(mustExist: true)
        // A namespace that can't exist or does not exist is an error at once, and not an empty screen.
        // One that is damaged is shown.
        if let namespace {
            _ = try NamespaceName(namespace)
            if (try? Existence(space: space, name: namespace).isThere()) == false {
                try NamespaceAccess(common, namespace).use { _ in }
            }
        }
        let terminal = json ? nil : Terminal()
        defer { terminal?.close() }
        let pause = interval ?? .seconds(2)
        var looks = Looks(space: space, namespace: namespace)
        var order = sort
        var count = 0
        while true {
            let due = MonotonicInstant.deadline(after: pause) ?? .distantFuture
            var report = try looks.next()
            count += 1
            if json {
                try Output.print(report.object(order))
            } else if let terminal {
                report.isColoured = true
                try draw(report, space, order, on: terminal)
            } else {
                try Output.print(lines: (count > 1 ? [""] : []) + report.lines(order))
            }
            if let max, count >= max { return }
            guard let terminal else {
                try Self.rest(until: due)
                continue
            }
            // A key is looked for after each look, also if the looks take longer than the interval.
            repeat {
                try Signals.check()
                let patience = due.hasPassed ? 0 : Int(due.remaining / .milliseconds(1)) + 1
                guard let key = try terminal.key(within: patience) else {
                    // The size of the screen may have changed, or the command was stopped and goes on.
                    try draw(report, space, order, on: terminal)
                    continue
                }
                if key == "q" { return }
                if key == " " { break }
                if let chosen = TopReport.Order.allCases.first(where: { $0.key == key }) { order = chosen }
                try draw(report, space, order, on: terminal)
            } while !due.hasPassed
        }
    }

    private func draw(_ report: TopReport, _ space: Space, _ order: TopReport.Order, on terminal: Terminal) throws {
        // The last row stays empty, and the first is the header's.
        let (columns, rows) = terminal.size
        let lines = report.lines(order, room: (columns, rows - 2))
        try terminal.draw([header(report, space, order)] + lines)
    }

    private func header(_ report: TopReport, _ space: Space, _ order: TopReport.Order) -> String {
        let names = PeopleText.count(report.sights.count, "namespace")
        return "space top  \(PeopleText.escaped(space.root))  \(names), by \(order.rawValue)  (q ends)"
    }

    /// Sleeps; a signal that asks the command to end ends it.
    private static func rest(until end: MonotonicInstant) throws {
        while !end.hasPassed {
            try Signals.check()
            Retry.rest(end.remaining)
        }
        try Signals.check()
    }
}

extension TopReport.Order: ExpressibleByArgument {}

/// One look after another at the namespaces, each with the changes since the one before.
private struct Looks {
    let space: Space
    let namespace: String?
    fileprivate var before: [Name: (sequence: UInt64, life: NamespaceLife, at: MonotonicInstant)] = [:]

    mutating func next() throws -> TopReport {
        var sights: [TopReport.Sight] = []
        var seen = before
        seen.removeAll()
        let names = try namespace.map { [$0] } ?? space.survey().names
        let before = before
        try space.look(at: names) { (name, result) in
            let status: NamespaceStatus
            switch result {
            case .success(let seen): status = seen
            case .failure(let error):
                sights.append(TopReport.Sight(name: name, status: nil, failure: error, rate: nil))
                return
            }
            let at = MonotonicInstant.now
            var rate: Int?
            if let last = before[Name(name)], last.life == status.life, status.sequence >= last.sequence {
                let milliseconds = Int(at.duration(since: last.at) / .milliseconds(1))
                rate = Int(clamping: status.sequence - last.sequence) * 1000 / max(1, milliseconds)
            }
            seen[Name(name)] = (status.sequence, status.life, at)
            sights.append(TopReport.Sight(name: name, status: status, rate: rate))
        }
        self.before = seen
        return TopReport(sights: sights, now: Clock.realtimeMilliseconds())
    }
}
