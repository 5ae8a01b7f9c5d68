package import ClusterStore
import SpaceEngine
package import SpaceMachines
import SpaceSystem
import Synchronization

/// Who uses the pen on this machine.
package enum PenUse: Hashable, Sendable {
    /// A process, by the number of its connection.
    case connection(UInt64)
    /// The daemon, for transactions of its own.
    case daemon(UInt64)
}

/// The pen: who has it, how it is fetched, and when it is passed on.
///
/// It is the key `pen`. A member that has the pen has attached the key to its lease, and only that member appends. The pen
/// may also be *free*: then the key names no member, and any machine appends. If two machines append at once, the store takes
/// one of the two entries, because each append compares the head of the log; the other machine applies that entry, and runs
/// its operations again.
///
/// A free pen is for operations that come one at a time on several machines, such as a write and the take that waits for it
/// elsewhere: each costs one transaction of the store. An entry that has the operations of the only processes that use the
/// pen here, long after the use before, frees the pen (``PenChange``). A machine holds the pen if its processes need it
/// again soon, after it has lost a free pen's race ``ClusterSettings/mostLosses`` times in a row, and for a transaction of
/// a process. Only while a machine holds the pen does it know the head of the log exactly, and a process's transaction that
/// finds nothing to change must not tell what was true before. An operation that changes nothing asks the store for the head
/// instead (``LiveNamespace/execute(_:of:)``).
///
/// A machine fetches a pen that is free, or whose key is absent, by putting the key. It asks for a pen that another one has
/// by its own key `want`. The holder hands the pen to the member whose `want` is the oldest: it puts the pen again, on that
/// member's lease, and deletes that `want`. While others wait, the holder's turn lasts for ``ClusterSettings/penTurn``
/// entries, or ``ClusterSettings/penPatience`` if they take longer. It ends before if the pen is not used again within the time
/// of an append, because a hand-over costs more, or within ``ClusterSettings/penKeep``, because a process may take that long
/// on a busy machine. The last entry of a turn gives the pen to the next member in the transaction that
/// appends it. After its turn, the holder never waits longer than `penPatience` for a process that has the pen, since that
/// process may be stopped.
///
/// Each transaction that gives the pen to a member also deletes the member's key `want`, because a member that has put the
/// key does not put it again (tools/model/wishing.pml).
extension Appender {
    /// Asks for the pen on behalf of a process or transaction that holds the gate.
    ///
    /// The daemon needs the gate before this machine can take part, so no process waits here for that. If a process has
    /// waited for the pen until its time was over, the next processes wait without the gate (``waitWhileLate(until:)``):
    /// their waits under the gate would add up, and other processes could not open the namespace.
    func fetchPenUnderGate(for use: PenUse) async -> DaemonAnswer {
        if isLate, case .present(let me) = standing, !canWrite(me, isExact: !isCovered(use)) {
            return .joining(reasonForNoPen)
        }
        return await fetchPen(for: use, isExact: true)
    }

    /// Asks for the pen on behalf of a connection.
    ///
    /// - Parameters:
    ///   - use: The connection.
    ///   - isExact: Whether the machine must hold the pen; otherwise it may be free.
    /// - Returns: `pen`, or why there is none.
    package func fetchPen(for use: PenUse, isExact: Bool) async -> DaemonAnswer {
        let deadline = MonotonicInstant.now.advanced(by: settings.answerTime)
        var isWaiting = false
        defer {
            if isWaiting {
                waiting[use] = nil
                notePen()
            }
        }
        while true {
            switch standing {
            case .gone: return .gone
            case .absent(let why): return .joining(why)
            case .stopped(_, let why): return .unavailable(why)
            case .present(let me):
                let isCovered = isCovered(use)
                if let holder = pen.holder, canWrite(me, isExact: isExact && !isCovered), !isTurnOver || isCovered {
                    if !isCovered { idleBefore = uses.isEmpty ? MonotonicInstant.now.duration(since: lastUse) : .zero }
                    uses.insert(use)
                    return .pen(holder.modified, head: head)
                }
            }
            guard !deadline.hasPassed, !Task.isCancelled else {
                if deadline.hasPassed { noteLateness() }
                return .unavailable(reasonForNoPen)
            }
            if !isWaiting {
                isWaiting = true
                waiting[use] = isExact
                notePen()
            }
            await waitForPen(until: deadline)
        }
    }

    /// Waits, for a process that does not hold the gate, until the pen is here again.
    ///
    /// - Returns: Why it is not here at the deadline; `nil` if the process may ask for it.
    func waitWhileLate(until deadline: MonotonicInstant) async -> String? {
        while isLate, case .present = standing {
            guard !deadline.hasPassed, !Task.isCancelled else { return reasonForNoPen }
            await waitForPen(until: deadline)
        }
        return nil
    }

    /// Whether this machine may begin a commit; a later one must not begin before the outcome of an earlier one is known.
    private func canWrite(_ me: Identity, isExact: Bool) -> Bool {
        guard commit == nil, !isHandingOver, let holder = pen.holder else { return false }
        return holder.member == me.number || holder.isFree && !isExact && losses < settings.mostLosses
    }

    /// Whether this machine has held the pen since a revision, so that it knows all entries.
    func hasHeldPen(since revision: Int64) -> Bool {
        guard case .present(let me) = standing, !isHandingOver else { return false }
        return pen.holder == PenView.Holder(member: me.number, modified: revision)
    }

    /// Whether others have the pen for what the daemon is about to do: what processes have sent, it executes in a
    /// transaction of its own.
    private func isCovered(_ use: PenUse) -> Bool { if case .daemon = use { !uses.isEmpty } else { false } }

    /// A connection no longer uses the pen.
    package func endUse(_ use: PenUse) {
        guard uses.remove(use) != nil else { return }
        begun.withLock { _ = $0.remove(use) }
        lastUse = .now
        // Without others who want the pen, it stays.
        if turn != nil { notePen() }
    }

    private var reasonForNoPen: String {
        let what =
            if commit != nil {
                "the outcome of this machine's last commit is not known yet"
            } else if isHandingOver {
                "it is not known yet whether this machine has handed over the pen"
            } else if trouble ?? silence != nil {
                // Also if another machine has the pen: it was perhaps not asked for it.
                "the store did not give the pen in time"
            } else if let holder = pen.holder, !holder.isFree {
                "\(told(holder.member)) did not hand over the pen in time"
            } else {
                "the store did not give the pen in time"
            }
        return (trouble ?? silence).map { "\(what): \($0)" } ?? what
    }

    /// Why there is no answer, if the driver waits for the store, or a commit does: a store without an answer throws no error
    /// before the time limit of its connection.
    private var silence: String? {
        let isSilent = [askedSince, sentSince].contains { $0?.advanced(by: Self.silentAfter).hasPassed ?? false }
        guard isSilent else { return nil }
        return "the store (etcd) does not answer the daemon, as without a majority of its members"
    }

    private static let silentAfter = Duration.seconds(1)

    // MARK: Turns

    /// What becomes of the pen with an entry.
    enum PenChange: Sendable {
        case stays, isFreed, isHeld
        case goes(to: Successor)
    }

    /// Decides what becomes of the pen with an entry, which one of those who use it appends.
    ///
    /// Only if each process that has the pen is in the entry may the pen go: another one would have to wait for it under
    /// the gate.
    func penChange(by use: PenUse, of me: Identity) -> PenChange {
        let isFree = pen.holder?.isFree ?? false
        let hasAll = begun.withLock { begun in uses.allSatisfy { $0 == use || begun.contains($0) } }
        let isLast = hasAll && waiting.isEmpty
        if let next = pen.first(butFor: me.number) {
            let endsTurn = (turn?.entries ?? 0) + 1 >= settings.penTurn
            if isLast && idleBefore > keepTime || hasAll && endsTurn { return .goes(to: next) }
        } else if isLast, idleBefore > appendTime, isShared, case .daemon = use {
            return isFree ? .stays : .isFreed
        }
        return isFree ? .isHeld : .stays
    }

    /// Whether other machines append, too.
    private var isShared: Bool { head < lastForeign + settings.sharedEntries }

    /// Notes that the daemon's transaction executes a process's operation, and so appends it.
    package nonisolated func noteBegun(_ use: PenUse) { begun.withLock { _ = $0.insert(use) } }

    /// Learns what became of the pen with an entry.
    func note(_ change: PenChange, of me: Identity, at revision: Int64) {
        switch change {
        case .stays: turn?.entries += 1
        case .isFreed: pen.learn(PenView.Holder(member: PenView.Holder.noMember, modified: revision), at: revision)
        case .isHeld:
            pen.learn(PenView.Holder(member: me.number, modified: revision), at: revision)
            pen.learn(want: nil, of: me.number, at: revision)
        case .goes(let successor):
            pen.learn(PenView.Holder(member: successor.member, modified: revision), at: revision)
            pen.learn(want: nil, of: successor.member, at: revision)
        }
        notePen()
    }

    /// Those who wait because a turn was over look again.
    private func endTurn() {
        guard turn != nil else { return }
        turn = nil
        notePen()
    }

    /// Notes that a process has waited for the pen or an outcome until its time was over; the pen is fetched even so.
    func noteLateness() {
        isLate = true
        notePen()
    }

    /// Wakes the processes that wait without the gate; the pen stays a moment, so that they can use it.
    private func endLateness() {
        isLate = false
        (lastUse, idleBefore) = (.now, .zero)
        notePen()
    }

    /// How long the pen stays after its last use while another machine waits, if the use before came as soon.
    private var keepTime: Duration { max(settings.penKeep, min(appendTime, settings.penPatience)) }

    private var isTurnOver: Bool {
        turn.map { $0.entries >= settings.penTurn || end(of: $0).hasPassed } ?? false
    }

    /// When a turn ends, however few entries it has: other machines' processes wait for `answerTime` at most.
    private func end(of turn: Turn) -> MonotonicInstant { turn.begin.advanced(by: settings.penPatience) }

    // MARK: The driver

    private enum Step {
        /// Fetches the pen if its key still has this revision; 0 if there is no key.
        case fetch(Identity, at: Int64)
        case ask(Identity, PenView.Holder)
        case handOver(PenView.Holder, to: Successor)
        case giveUp(PenView.Holder)
        case wait(MonotonicInstant?)
    }

    /// Fetches the pen, hands it over and gives it up, until the task is cancelled.
    ///
    /// Apart from it, only entries and the search for their outcomes change the key.
    package func drive() async {
        var pause = Pause(settings)
        while !Task.isCancelled {
            defer { askedSince = nil }
            do {
                let step = nextStep()
                askedSince = .now
                switch step {
                case .fetch(let me, let revision): try await fetch(me, at: revision)
                case .ask(let me, let holder): try await ask(me, holder)
                case .handOver(let holder, let successor): try await handOver(holder, to: successor)
                case .giveUp(let holder): try await giveUp(holder)
                case .wait(let moment):
                    askedSince = nil
                    await waitForPen(until: moment)
                    continue
                }
                trouble = nil
                pause.reset()
            } catch {
                trouble = error.told
                askedSince = nil
                // The next step goes by what the store says now.
                await pause.wait()
                if (try? await look()) != nil {
                    trouble = nil
                    endHandOver()
                }
            }
        }
    }

    private func nextStep() -> Step {
        guard case .present(let me) = standing else {
            endTurn()
            if case .stopped(let me, _) = standing, let holder = pen.holder, holder.member == me.number {
                return .giveUp(holder)
            }
            return .wait(nil)
        }
        guard let holder = pen.holder, holder.member == me.number else {
            endTurn()
            guard let holder = pen.holder, !holder.isFree else {
                // With a free pen, most operations need not wait until it is held.
                let isNeeded =
                    isLate || waiting.values.contains(true)
                    || !waiting.isEmpty && (pen.holder == nil || losses >= settings.mostLosses)
                return isNeeded && commit == nil ? .fetch(me, at: pen.holder?.modified ?? 0) : .wait(nil)
            }
            let isWanted = !waiting.isEmpty || isLate
            return isWanted && pen.want(of: me.number)?.lease != me.lease ? .ask(me, holder) : .wait(nil)
        }
        if isLate, canWrite(me, isExact: true) { endLateness() }
        guard let next = pen.first(butFor: me.number) else {
            endTurn()
            return .wait(nil)
        }
        let turn = turn ?? Turn()
        self.turn = turn
        let end = end(of: turn)
        let moment =
            if !uses.isEmpty {
                end.advanced(by: settings.penPatience)
            } else if isTurnOver {
                MonotonicInstant.now
            } else if !waiting.isEmpty {
                end
            } else {
                min(end, lastUse.advanced(by: idleBefore > keepTime ? .zero : keepTime))
            }
        return moment.hasPassed ? .handOver(holder, to: next) : .wait(moment)
    }

    // MARK: The transactions

    private var penKey: String { keys.key(.pen) }
    private var penAndHead: [StoreOperation] { [.read(.key(penKey)), .read(.key(keys.key(.head)))] }

    private func fetch(_ me: Identity, at revision: Int64) async throws(StoreError) {
        // The key of a pen that is put after the namespace's deletion would stay until the lease ends.
        let life = NumberValue(keys.life.number).encoded
        let outcome = try await store.transact(
            if: [.modified(penKey, revision), .value(keys.id, life)],
            then: [
                .put(penKey, NumberValue(me.number).encoded, me.lease),
                .delete(.key(keys.key(.want(me.number)))),
            ] + penAndHead,
            else: penAndHead + [.read(.key(keys.id))]
        )
        learn(outcome)
        if outcome.held {
            pen.learn(want: nil, of: me.number, at: outcome.revision)
        } else if outcome.readings.last?.first?.value != life {
            throw .refused("the namespace was deleted, or the store has lost it")
        }
    }

    private func ask(_ me: Identity, _ holder: PenView.Holder) async throws(StoreError) {
        let key = keys.key(.want(me.number))
        let outcome = try await store.transact(
            if: [.modified(penKey, holder.modified)],
            then: [.put(key, NumberValue(me.number).encoded, me.lease)] + penAndHead + [.read(.key(key))],
            else: penAndHead
        )
        learn(outcome)
        if outcome.held, let row = outcome.readings.last?.first {
            pen.learn(want: row, of: me.number, at: outcome.revision)
        }
    }

    private func handOver(_ holder: PenView.Holder, to successor: Successor) async throws(StoreError) {
        let (member, want) = (successor.member, successor.want)
        isHandingOver = true
        do {
            let outcome = try await store.transact(
                if: [.modified(penKey, holder.modified), .modified(want.key, want.modified)],
                then: [.put(penKey, NumberValue(member).encoded, want.lease), .delete(.key(want.key))]
                    + penAndHead + [.read(.key(want.key))],
                else: penAndHead + [.read(.key(want.key))]
            )
            pen.learn(want: outcome.readings.last?.first, of: member, at: outcome.revision)
            learn(outcome)
        } catch .refused(let why) {
            // The lease has ended, and its key went with it; or the store takes nothing now, and the member still waits.
            let outcome = try await store.transact(then: penAndHead + [.read(.key(want.key))])
            let row = outcome.readings.last?.first
            pen.learn(want: row, of: member, at: outcome.revision)
            learn(outcome)
            if row?.modified == want.modified { throw .refused(why) }
        }
        endHandOver()
    }

    private func endHandOver() {
        isHandingOver = false
        notePen()
    }

    private func giveUp(_ holder: PenView.Holder) async throws(StoreError) {
        learn(
            try await store.transact(
                if: [.modified(penKey, holder.modified)],
                then: [.delete(.key(penKey))] + penAndHead,
                else: penAndHead
            )
        )
    }

    /// Asks the store how far the log goes now.
    package func readHead() async throws(StoreError) -> UInt64 {
        try await look()
        return head
    }

    /// Asks the store who has the pen.
    package func look() async throws(StoreError) {
        learn(try await store.transact(then: penAndHead))
    }

    private func learn(_ outcome: StoreOutcome) {
        if let number = outcome.readings.dropFirst().first?.first?.number { learn(head: number) }
        pen.learn(outcome.readings.first?.first, at: outcome.revision)
        notePen()
    }
}
