package import SpaceSystem

/// Which process waits for which, and the deadlocks among them.
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
        /// The end of the command that it runs, by the name of its program.
        case command(name: Name)
    }

    /// A process that waits, and the processes that can end its wait.
    package struct Wait: Hashable, Sendable {
        package let pid: Int32
        package let subject: Subject
        /// The namespace of the subject; `nil` for a command, and if there is only one namespace.
        package var namespace: Name?
        /// The processes that can end the wait; not empty.
        package let blockers: [Int32]
        /// Whether all of these processes have to end the wait; otherwise one is enough.
        ///
        /// For a turn in a queue, `turn` decides.
        package let needsAll: Bool
        /// The place in the queue, if the wait is for a turn.
        package var turn: TurnPlace?
        /// In a circle: whether the next process stands before this one in the queue, and does not hold.
        package var isBehind = false
        /// The time at which the wait began, in milliseconds since 1970; `nil`: unknown.
        package let since: Int64?
        /// When the wait ends by itself, in milliseconds since 1970; `nil`: it does not.
        package var ends: Int64?
        /// Whether the process may go on although it waits: it waits for a command of which a part does something else.
        package var mayGoOn = false
        /// The place of the wait; `nil` for a command.
        package var place: WaitPlace?

        package init(pid: Int32, subject: Subject, blockers: [Int32], needsAll: Bool, since: Int64?) {
            self.pid = pid
            self.subject = subject
            self.blockers = blockers
            self.needsAll = needsAll
            self.since = since
        }
    }

    /// The name of the program that waits for the end of the command after its `--`.
    package static let runner = "space"

    /// The waits, in the order of the rows.
    package let waits: [Wait]
    /// The deadlocks.
    package let deadlocks: [Deadlock]
    /// The circles that may end by themselves.
    package let doubtful: [Deadlock]

    /// Makes the graph of the waits of one namespace, or of several.
    package init(_ waits: ObjectWaits, among processes: ProcessSight = ProcessSight()) {
        self.init(
            waits.waits,
            busy: waits.busy,
            processes: ProcessView(
                parent: processes.parent(of:),
                children: processes.children(of:),
                command: { ProcessIdentity.command(runBy: $0, runner: Self.runner) },
                waitsForChild: processes.waitsForChild,
                limitsCommand: { CommandLimit.isSet(by: $0) }
            ),
            limits: waits.limits
        )
    }

    /// Makes the graph of waits.
    ///
    /// - Parameters:
    ///   - waits: The waits that the namespaces know.
    ///   - busy: The processes that hold a name or answer requests.
    ///   - processes: What is known of processes.
    ///   - limits: When the commands of processes are ended, in milliseconds since 1970.
    package init(_ waits: [Wait], busy: Set<Int32>, processes: ProcessView, limits: [Int32: Int64] = [:]) {
        self.waits = waits + CommandWaits(processes, waiting: Set(waits.map(\.pid)), busy: busy, limits).all
        (deadlocks, doubtful) = Deadlock.all(in: self.waits) { pid in
            processes.ancestors(of: pid).filter(processes.limitsCommand)
        }
    }

    /// The processes for which the holder of a place waits; empty if it waits for none, or holds.
    package func blockers(of pid: Int32, for subject: Subject) -> [Int32] {
        waits.first { $0.pid == pid && $0.subject == subject }?.blockers ?? []
    }
}
