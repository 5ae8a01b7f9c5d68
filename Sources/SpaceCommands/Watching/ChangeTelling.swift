import SharedSpace
import SpaceSystem
import SystemPackage

/// What `watch` does with changes: prints them, or runs a command for each.
///
/// Guarantees: a subscription's position never passes a change whose line write(2) has not accepted as a whole, or whose
/// command has not ended with 0. So whatever ends the watch, a broken pipe, a full device, a signal or a kill, the next one of
/// that name begins with what was not told; a kill between telling and acknowledging tells it twice.
struct ChangeTelling {
    /// Nil: lines are printed.
    let command: ChildCommand?
    let isSubscription: Bool
    let max: Int
    /// After how long without a change it ends.
    let quiet: Duration?
    /// When it ends if there is no change at all.
    let deadline: MonotonicInstant

    private let output = Output()

    /// How many bytes of lines are gathered at most before they are written, and how many lines.
    private static let chunk = 64 << 10
    private static let batch = 256
    /// How often a watch without changes looks whether somebody still reads what it prints.
    static let look = Duration.seconds(1)

    init(command: ChildCommand?, isSubscription: Bool, max: Int, quiet: Duration?) {
        self.command = command
        self.isSubscription = isSubscription
        self.max = max
        self.quiet = quiet
        deadline = .deadline(after: quiet) ?? .distantFuture
    }

    /// - Returns: Whether there was anything to tell.
    func run(_ changes: Changes) throws -> Bool {
        if command == nil {
            output.append(line: ChangeReport.ready(changes.resumePoint))
            try output.flush()
        }
        var hasTold = false
        var rest = max
        var deadline = deadline
        while let change = try next(changes, until: deadline) {
            let told = try command.map { try hand(change, to: $0, of: changes) } ?? print(change, of: changes, rest)
            hasTold = true
            rest -= told.count
            if told.isLast || rest <= 0 { break }
            deadline = .deadline(after: quiet) ?? .distantFuture
        }
        return hasTold
    }

    /// How many changes were told, gaps left out, and whether the namespace's end was among them.
    private struct Told {
        var count = 0
        var isLast = false

        mutating func add(_ change: Change) {
            if change.kind != .gap { count += 1 }
            if change.kind == .gone { isLast = true }
        }
    }

    /// The next change; `nil` when the time is over.
    private func next(_ changes: Changes, until deadline: MonotonicInstant) throws -> Change? {
        while true {
            try Signals.check()
            let look = min(deadline, .now.advanced(by: Self.look))
            if let change = try changes.nextBlocking(timeout: look.remaining, interruption: Signals.interruption) {
                return change
            }
            // Nothing before the time was over: the sequence has ended.
            if deadline.hasPassed || !look.hasPassed { return nil }
            if command == nil, output.isAbandoned { throw OutputFailure(cause: .brokenPipe) }
        }
    }

    // MARK: Printing

    /// Prints a change and those that are there already, in one write, and acknowledges what was accepted.
    private func print(_ first: Change, of changes: Changes, _ rest: Int) throws -> Told {
        var told = Told()
        var ends: [(sequence: UInt64, end: Int)] = []
        var change = first
        while true {
            output.append(line: ChangeReport.line(change))
            ends.append((change.lastSequence, output.appended))
            told.add(change)
            if told.isLast || told.count >= rest || ends.count >= Self.batch { break }
            if output.appended - output.accepted >= Self.chunk { break }
            guard let more = try changes.nextBlocking(timeout: .zero, interruption: nil) else { break }
            change = more
        }
        do {
            try output.flush()
        } catch {
            if let printed = ends.last(where: { $0.end <= output.accepted }) {
                try? acknowledge(printed.sequence, of: changes)
            }
            throw error
        }
        if let last = ends.last { try acknowledge(last.sequence, of: changes) }
        return told
    }

    // MARK: Running a command

    /// Runs the command for a change, and acknowledges the change if it ended with 0.
    ///
    /// - Throws: Of a subscription the command's status, if it is another: going on would acknowledge this change with the next.
    private func hand(_ change: Change, to command: ChildCommand, of changes: Changes) throws -> Told {
        let ending = try command.run(input: .line(ChangeReport.line(change)))
        if ending.isSuccess {
            try acknowledge(change.lastSequence, of: changes)
        } else {
            // After a signal the command ended by it, which says nothing about the change.
            try Signals.check()
            let message = "the command ended with status \(ending.status) for change \(change.lastSequence)"
            guard !isSubscription else {
                throw CommandFailure(
                    ExitStatus(rawValue: ending.status),
                    "\(message), which is not acknowledged"
                )
            }
            Messages.print("space: \(message)")
        }
        var told = Told()
        told.add(change)
        return told
    }

    private func acknowledge(_ sequence: UInt64, of changes: Changes) throws {
        guard isSubscription else { return }
        do throws(SpaceError) {
            try changes.acknowledge(through: sequence)
        } catch {
            // With the namespace its subscriptions have gone.
            guard error.code == .namespaceDeleted else { throw error }
        }
    }
}
