import Glibc
import SpaceInspection
import SpaceSystem
import Synchronization

/// What a command that waits without limit says to a person at a terminal: once, after two seconds, for what it waits and
/// which process is in the way.
///
/// A thread looks at the namespace, as `space show` does, for what this process waits for: a second attempt of the wait
/// itself would give up its place in the queue. If the process does not wait then, it says nothing.
final class WaitNotice: Sendable {
    /// How long a command waits in silence.
    static let silence = Duration.seconds(2)

    private static let isGiven = Atomic<Bool>(false)

    /// Whether a wait is announced: to a person, unless `--quiet`, and only the first wait of the command.
    static var isWanted: Bool {
        isatty(STDERR_FILENO) != 0 && !Messages.isQuiet && !isGiven.load(ordering: .relaxed)
    }

    /// Prints the text, unless a wait was announced already.
    static func give(_ text: String) {
        if !isGiven.exchange(true, ordering: .relaxed) { Messages.hint("waiting for \(text)") }
    }

    /// Runs `body`, which may wait for something in a namespace; if it waits without a limit, people are told.
    static func during<Result>(
        _ namespace: Namespace,
        isUnlimited: Bool,
        _ body: () throws -> Result
    ) rethrows -> Result {
        guard isUnlimited, isWanted, let alarm = try? EventFD() else { return try body() }
        let notice = WaitNotice(alarm)
        // Without a thread the wait is silent.
        guard (try? DetachedThread.start { notice.run(namespace) }) != nil else { return try body() }
        defer { notice.end() }
        return try body()
    }

    private let alarm: EventFD
    /// Whether the wait has ended; held during the look, so that no look goes on beside the end of the command.
    private let hasEnded = Mutex(false)

    private init(_ alarm: consuming EventFD) { self.alarm = alarm }

    private func end() {
        hasEnded.withLock { $0 = true }
        try? alarm.signal()
    }

    private func run(_ namespace: Namespace) {
        var request = pollfd(fd: alarm.raw, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Self.silence.pollMilliseconds) == 0 else { return }
        let text = hasEnded.withLock { hasEnded in
            hasEnded
                ? nil
                : (try? namespace.status()).flatMap { Self.text($0, pid: getpid(), now: Clock.realtimeMilliseconds()) }
        }
        if let text { Self.give(text) }
    }

    // MARK: Words

    /// For what a process waits in a namespace; `nil` if it does not wait.
    static func text(_ status: NamespaceStatus, pid: Int32, now: Int64) -> String? {
        if let place = status.holds.first(where: { $0.pid == pid && !$0.isHeld }) {
            let what = "\(place.kind.word) \(place.name.quotedForPeople)"
            switch place.kind {
            case .queue: return "\(what): nothing in it is ready"
            case .barrier: return "\(what): other processes are not there yet"
            default: return "\(what), \(holders(of: place, status, now))"
            }
        }
        guard let waiter = status.waiters.first(where: { $0.pid == pid }) else { return nil }
        let namespace = status.name.quotedForPeople
        switch waiter.kind {
        case .tuple:
            var text =
                "a tuple in \(namespace) that matches \(PeopleText.shortened(waiter.template, to: 60)): there is none"
            if let claim = status.claims.first {
                let count = status.claims.count
                text += count == 1 ? "; one tuple is claimed" : "; \(count) tuples are claimed"
                if let pid = claim.pid { text += ", \(count == 1 ? "" : "one of them ")by \(process(pid))" }
            }
            return text
        case .cell: return "cell \(PeopleText.shortened(waiter.template, to: 60)) in \(namespace), which has no value"
        // The text of any other waiter says what it waits for.
        case .object: return "\(PeopleText.shortened(waiter.template, to: 60)) in \(namespace)"
        }
    }

    private static func holders(of place: NamespaceStatus.Hold, _ status: NamespaceStatus, _ now: Int64) -> String {
        let rivals = status.holds.filter { $0.kind == place.kind && $0.named == place.named && $0 != place }
        let holders = rivals.filter(\.isHeld)
        guard let first = holders.first else {
            let ahead = rivals.first { $0.fencing < place.fencing }
            return ahead.map { "behind \(process($0))" } ?? "which no process holds"
        }
        let more = holders.count > 1 ? " and \(holders.count - 1) more" : ""
        return "held by \(process(first)) since \(PeopleText.clock(first.since, now: now))\(more)"
    }

    private static func process(_ hold: NamespaceStatus.Hold) -> String {
        hold.pid.map(process) ?? hold.elsewhere.map { "process \($0)" } ?? "a process that has ended"
    }

    /// A process with what it runs: of a command of ours, what that runs.
    private static func process(_ pid: Int32) -> String {
        ProcessText.work(of: pid).map { "process \(pid) (\($0))" } ?? "process \(pid)"
    }
}
