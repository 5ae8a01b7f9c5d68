import SharedSpace
import SpaceSystem

/// What `watch` does with changes: prints them, or runs a command for each.
///
/// Guarantees: a subscription's position never passes a change whose line write(2) has not accepted as a whole, or
/// whose command has not ended with 0. So if a broken pipe, a full device, a signal or a kill ends the watch, the next
/// watch of that name begins with the first change that was not delivered. If the watch is killed between delivering a
/// change and acknowledging it, the next watch delivers it again. If others are too busy for an acknowledgement, or
/// several machines share the namespace and can't agree for a while, the watch goes on, and acknowledges later.
struct ChangeTelling {
    /// The command that gets the changes; `nil` to print them.
    let command: ChildCommand?
    let isSubscription: Bool
    /// The cell, or the part of one, that is watched, if it is one.
    let path: String?
    let max: Int
    /// How long it waits for a change before it ends, or `nil` to wait indefinitely.
    let quiet: Duration?
    /// When it ends if no change comes at all.
    let deadline: MonotonicInstant

    private let output = Output()
    /// The last change that was delivered and could not be acknowledged yet, and when that is tried again.
    private var owed: (sequence: UInt64, retry: MonotonicInstant)?

    /// The most bytes and lines that are gathered before they are written.
    private static let chunk = 64 << 10
    private static let batch = 256
    /// How long it waits until it tries to acknowledge again.
    private static let retryInterval = Duration.seconds(1)

    init(command: ChildCommand?, isSubscription: Bool, path: String?, max: Int, quiet: Duration?) {
        self.command = command
        self.isSubscription = isSubscription
        self.path = path
        self.max = max
        self.quiet = quiet
        deadline = .deadline(after: quiet) ?? .distantFuture
    }

    /// - Returns: Whether there was a change to tell.
    /// - Throws: Also if delivered changes could not be acknowledged by the end.
    mutating func run(_ changes: Changes) throws -> Bool {
        if command == nil {
            output.append(line: ChangeReport.ready(changes.resumePoint))
            try output.flush()
        }
        var hasTold = false
        var rest = max
        var deadline = deadline
        while let change = try next(changes, until: deadline) {
            let told =
                if let command {
                    try hand(change, to: command, of: changes)
                } else {
                    try print(change, of: changes, rest)
                }
            hasTold = true
            rest -= told.count
            if told.isLast || rest <= 0 { break }
            deadline = .deadline(after: quiet) ?? .distantFuture
        }
        if let owed { try changes.acknowledge(through: owed.sequence) }
        return hasTold
    }

    /// How many changes were delivered, without gaps, and whether the namespace's end was among them.
    private struct Told {
        var count = 0
        var isLast = false

        mutating func add(_ change: Change) {
            if change.kind != .gap { count += 1 }
            if change.kind == .gone { isLast = true }
        }
    }

    private mutating func next(_ changes: Changes, until deadline: MonotonicInstant) throws -> Change? {
        while let owed {
            if let change = try wait(changes, until: min(deadline, owed.retry)) { return change }
            // Before that, no more changes will come.
            guard owed.retry.hasPassed else { return nil }
            try acknowledge(owed.sequence, of: changes)
        }
        return try wait(changes, until: deadline)
    }

    private func wait(_ changes: Changes, until deadline: MonotonicInstant) throws -> Change? {
        try Lookout.next(until: deadline, printingTo: command == nil ? output : nil) {
            try changes.nextBlocking(timeout: $0, interruption: Signals.interruption)
        }
    }

    // MARK: Printing

    /// Prints a change and those that are there already, in one write, and acknowledges those whose lines were
    /// accepted.
    private mutating func print(_ first: Change, of changes: Changes, _ rest: Int) throws -> Told {
        var told = Told()
        var ends: [(sequence: UInt64, end: Int)] = []
        var change = first
        while true {
            output.append(line: ChangeReport.line(change, of: path))
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

    /// Runs the command for a change, and acknowledges the change if the command ended with 0.
    ///
    /// - Throws: For a subscription the command's status if it isn't 0: the next acknowledgement would include this
    ///   change.
    private mutating func hand(_ change: Change, to command: ChildCommand, of changes: Changes) throws -> Told {
        let ending = try command.run(input: .line(ChangeReport.line(change, of: path)))
        if ending.isSuccess {
            try acknowledge(change.lastSequence, of: changes)
        } else {
            // If a signal has come, the command ended by it: its status says nothing about the change.
            try Signals.check()
            let subject = change.kind == .gone ? "the end of the namespace" : "change \(change.lastSequence)"
            let message = "the command ended with status \(ending.status) for \(subject)"
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

    private mutating func acknowledge(_ sequence: UInt64, of changes: Changes) throws {
        guard isSubscription else { return }
        if let retry = owed?.retry, !retry.hasPassed {
            owed = (sequence, retry)
            return
        }
        do throws(SpaceError) {
            try changes.acknowledge(through: sequence)
            owed = nil
        } catch {
            switch error.code {
            // The subscription went with its namespace.
            case .namespaceDeleted: owed = nil
            // The store compares positions, so it does not matter whether it has happened.
            case .clusterUnavailable, .outcomeUnknown, .holderBusy:
                if owed == nil { Messages.print("space: \(error); trying again") }
                owed = (sequence, .now.advanced(by: Self.retryInterval))
            default: throw error
            }
        }
    }
}
