import SpaceSystem
package import TupleCoding

/// Who waits for whom in a namespace, as its status shows it, and the deadlocks among them.
///
/// It knows processes, not their threads: a process that waits in one thread may go on in another. So a process counts
/// as stuck only if none of its waits can end; and a wait for what the process itself holds is no deadlock.
package struct WaitGraph: Sendable {
    /// What a process waits for.
    package enum Subject: Hashable, Sendable {
        /// Its turn in the queue of a name that is held.
        case hold(kind: String, name: Name)
        /// The answer to a request.
        case answer(name: Name)
        /// The end of the command that it runs.
        case command
    }

    /// A process that waits, and the processes that can end its wait.
    package struct Wait: Hashable, Sendable {
        package let pid: Int32
        package let subject: Subject
        /// The processes that can end the wait; not empty.
        package let blockers: [Int32]
        /// Whether all of them have to; otherwise one is enough.
        package let needsAll: Bool
        /// The time at which the wait began, in milliseconds since 1970; `nil`: unknown.
        package let since: Int64?

        package init(pid: Int32, subject: Subject, blockers: [Int32], needsAll: Bool, since: Int64?) {
            self.pid = pid
            self.subject = subject
            self.blockers = blockers
            self.needsAll = needsAll
            self.since = since
        }
    }

    /// The waits, in the order of the status.
    package let waits: [Wait]
    package let deadlocks: [Deadlock]

    /// Makes the graph of a status.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - runner: The name of the program that waits for the end of the command after its `--`.
    package init(_ status: NamespaceStatus, runner: String) {
        self.init(
            Self.waits(in: status),
            busy: Set(status.holds.filter(\.isHeld).compactMap(\.pid) + status.responders.compactMap(\.pid)),
            parent: ProcessIdentity.parent(of:),
            runsCommand: { ProcessIdentity.runsCommand($0, runner: runner) }
        )
    }

    /// Makes the graph of waits.
    ///
    /// - Parameters:
    ///   - waits: The waits that the namespace knows.
    ///   - busy: The processes that hold a name or answer requests.
    ///   - parent: The parent of a process.
    ///   - runsCommand: Whether a process only waits for the end of a command that it runs.
    package init(
        _ waits: [Wait],
        busy: Set<Int32>,
        parent: (Int32) -> Int32?,
        runsCommand: (Int32) -> Bool
    ) {
        self.waits = waits + Self.commandWaits(waits, busy, parent, runsCommand)
        deadlocks = Deadlock.all(in: self.waits)
    }

    /// The processes for which the holder of a place waits; empty if it waits for none, or holds.
    package func blockers(of hold: NamespaceStatus.Hold) -> [Int32] {
        guard !hold.isHeld, let pid = hold.pid else { return [] }
        let subject = Subject.hold(kind: hold.kind, name: hold.named)
        return waits.first { $0.pid == pid && $0.subject == subject }?.blockers ?? []
    }

    private static func waits(in status: NamespaceStatus) -> [Wait] {
        var holders: [Subject: [Int32]] = [:]
        for hold in status.holds where hold.isHeld {
            guard let pid = hold.pid else { continue }
            holders[.hold(kind: hold.kind, name: hold.named), default: []].append(pid)
        }
        var waits: [Wait] = []
        var known: Set<Wait> = []
        func add(_ wait: Wait) {
            if !wait.blockers.isEmpty, known.insert(wait).inserted { waits.append(wait) }
        }
        for hold in status.holds where !hold.isHeld {
            // A taker of a queue and a process at a barrier don't wait for the holders.
            guard let pid = hold.pid, hold.kind != "queue", hold.kind != "barrier" else { continue }
            let subject = Subject.hold(kind: hold.kind, name: hold.named)
            add(
                Wait(
                    pid: pid,
                    subject: subject,
                    blockers: holders[subject] ?? [],
                    needsAll: hold.kind == "lock",
                    since: hold.since
                )
            )
        }
        for request in status.requests {
            guard let pid = request.pid, let responder = request.responder else { continue }
            add(
                Wait(
                    pid: pid,
                    subject: .answer(name: request.named),
                    blockers: [responder],
                    needsAll: true,
                    since: request.since
                )
            )
        }
        return waits
    }

    /// The waits of processes for the end of the commands that they run, where such a command waits itself.
    private static func commandWaits(
        _ waits: [Wait],
        _ busy: Set<Int32>,
        _ parent: (Int32) -> Int32?,
        _ runsCommand: (Int32) -> Bool
    ) -> [Wait] {
        var commands: [Int32: [Int32]] = [:]
        for pid in Set(waits.map(\.pid)).sorted() {
            var ancestor = parent(pid)
            // A chain of parents that changes while it is read could go round.
            for _ in 0..<256 {
                guard let process = ancestor, process > 1 else { break }
                if busy.contains(process), runsCommand(process) { commands[process, default: []].append(pid) }
                ancestor = parent(process)
            }
        }
        return commands.sorted { $0.key < $1.key }.map { (process, children) in
            Wait(pid: process, subject: .command, blockers: children, needsAll: false, since: nil)
        }
    }
}
