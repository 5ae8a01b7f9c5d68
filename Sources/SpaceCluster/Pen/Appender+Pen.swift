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
/// It is the key `pen`, attached to its holder's lease. A machine fetches it by putting the key if it is absent, else
/// it puts its own key `want`. The holder hands the pen to the member whose `want` is the oldest: it puts the pen
/// again, on that member's lease, and deletes that `want`, if neither key has changed in the meantime. While others
/// wait, the holder keeps the pen a moment after its last use, so that several commits pay for one hand-over, but no
/// longer than its turn. The moment is short unless the last use came soon after the one before: only that shows that
/// there are several. It never waits longer than `penPatience` for a process that has the pen, since that process may
/// be stopped.
///
/// The last entry of a turn gives the pen to the member that has asked first, in the transaction that appends it. Each
/// transaction that gives the pen to a member also deletes the member's key `want`, because a member that has put the key
/// does not put it again (tools/model/wishing.pml).
///
/// A taker that waits on another machine would need the pen as soon as its tuple is written: its machine would ask, and
/// get it, in two transactions more. So the holder gives that machine the pen in the transaction that appends the tuple,
/// unless other processes of its own use the pen, or one wanted it again soon after its last use, when it was gone.
/// The other machine has not asked for the pen, and may be stopped or cut off: then all machines would wait for its lease to
/// end. So if a member asks for the pen, and the machine does not hand it over within `penReturn`, the giver does, and gives
/// that machine no pen again before it hears of it. This is as safe as any hand-over, because each append compares the
/// pen's revision.
extension Appender {
    /// Asks for the pen on behalf of a process or transaction that holds the gate.
    ///
    /// The daemon needs the gate before this machine can take part, so no process waits here for that. If a process has
    /// waited for the pen until its time was over, the next processes wait without the gate (``waitWhileLate(until:)``):
    /// their waits under the gate would add up, and other processes could not open the namespace.
    func fetchPenUnderGate(for use: PenUse) async -> DaemonAnswer {
        if isLate, case .present(let me) = standing, !canWrite(me) { return .joining(reasonForNoPen) }
        return await fetchPen(for: use)
    }

    /// Asks for the pen on behalf of a connection.
    package func fetchPen(for use: PenUse) async -> DaemonAnswer {
        let began = MonotonicInstant.now
        let deadline = began.advanced(by: settings.answerTime)
        let isSoon = began < lastUse.advanced(by: settings.penKeep)
        if !isSoon { writesOn = false }
        var isWaiting = false
        defer {
            if isWaiting {
                waiting -= 1
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
                if let holder = pen.holder, canWrite(me), !isTurnOver || isCovered {
                    if !isCovered { isBusy = !uses.isEmpty || !lastUse.advanced(by: settings.penKeep).hasPassed }
                    uses.insert(use)
                    return .pen(holder.modified, head: head)
                }
            }
            guard !deadline.hasPassed, !Task.isCancelled else {
                if deadline.hasPassed { noteLateness() }
                return .unavailable(reasonForNoPen)
            }
            if isSoon, commit == nil { writesOn = true }
            if !isWaiting {
                isWaiting = true
                waiting += 1
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

    /// Whether this machine has the pen and may begin a commit; a later one must not begin before the outcome of an earlier
    /// one is known.
    private func canWrite(_ me: Identity) -> Bool {
        commit == nil && !isHandingOver && pen.holder?.member == me.number
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
            } else if pen.holder?.member == PenView.Holder.noMember {
                "another program has changed the pen in the store"
            } else if let holder = pen.holder {
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

    // MARK: Giving the pen with an entry

    /// The member that shall get the pen with an entry, which one of those who use it appends.
    func successor(of entry: [UInt8], from me: Identity, for use: PenUse) -> Successor? {
        if let next = pen.first(butFor: me.number), endsTurn(use) {
            return Successor(member: next.member, lease: next.row.lease)
        }
        let connections = uses.count { if case .connection = $0 { true } else { false } }
        guard !writesOn, waiting == 0, connections <= 1 else { return nil }
        return pen.taker(of: entry, from: me.number, after: given?.member ?? 0)
    }

    /// Whether an entry that is appended now ends this machine's turn.
    ///
    /// The turn must be over when the entry is in the log, and each process that has the pen must be in the entry: another
    /// one would have to wait for the pen under the gate.
    private func endsTurn(_ use: PenUse) -> Bool {
        guard let turn, turn.advanced(by: settings.penTurn) <= .now.advanced(by: appendTime) else { return false }
        return begun.withLock { begun in uses.allSatisfy { $0 == use || begun.contains($0) } }
    }

    /// Notes that the daemon's transaction executes a process's operation, and so appends it.
    package nonisolated func noteBegun(_ use: PenUse) { begun.withLock { _ = $0.insert(use) } }

    /// Learns that a member got the pen with an entry, and so no longer asks for it.
    func noteGiven(to successor: Successor, at revision: Int64) {
        let holder = PenView.Holder(member: successor.member, modified: revision)
        pen.learn(holder, at: revision)
        pen.wants.learn(successor.member, nil, at: revision)
        (given, givenIsWantedSince) = (holder, nil)
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
        (lastUse, isBusy) = (.now, true)
        notePen()
    }

    private var isTurnOver: Bool { turn?.advanced(by: settings.penTurn).hasPassed ?? false }

    // MARK: The driver

    private enum Step {
        /// Fetches the pen if its key still has this revision; 0 if there is no key.
        case fetch(Identity, at: Int64)
        case ask(Identity, PenView.Holder)
        case handOver(PenView.Holder, to: UInt32, StoreRow)
        case giveUp(PenView.Holder)
        case wait(MonotonicInstant?)
    }

    /// Fetches the pen, hands it over and gives it up, until the task is cancelled.
    ///
    /// Only this function changes the key, apart from the search for an outcome.
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
                case .handOver(let holder, let member, let want): try await handOver(holder, to: member, want)
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
            let isWanted = waiting > 0 || isLate
            guard let holder = pen.holder else { return isWanted ? .fetch(me, at: 0) : .wait(nil) }
            if holder.member == PenView.Holder.noMember, isLate { return .fetch(me, at: holder.modified) }
            if isWanted, pen.wants[me.number]?.lease != me.lease { return .ask(me, holder) }
            return holder == given ? takeBack(holder) : .wait(nil)
        }
        if isLate, canWrite(me) { endLateness() }
        guard let next = pen.first(butFor: me.number) else {
            endTurn()
            return .wait(nil)
        }
        let begin = turn ?? .now
        turn = begin
        let end = begin.advanced(by: settings.penTurn)
        let moment =
            if !uses.isEmpty {
                end.advanced(by: settings.penPatience)
            } else if waiting > 0 {
                end
            } else {
                min(end, lastUse.advanced(by: isBusy ? settings.penKeep : settings.penLinger))
            }
        return moment.hasPassed ? .handOver(holder, to: next.member, next.row) : .wait(moment)
    }

    /// Hands over the pen that this machine has given to another, once that one has had its time to do so.
    private func takeBack(_ holder: PenView.Holder) -> Step {
        guard let next = pen.first(butFor: holder.member) else {
            givenIsWantedSince = nil
            return .wait(nil)
        }
        let since = givenIsWantedSince ?? .now
        givenIsWantedSince = since
        let end = since.advanced(by: settings.penReturn)
        return end.hasPassed ? .handOver(holder, to: next.member, next.row) : .wait(end)
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
            pen.wants.learn(me.number, nil, at: outcome.revision)
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
            pen.wants.learn(me.number, row, at: outcome.revision)
        }
    }

    private func handOver(_ holder: PenView.Holder, to member: UInt32, _ want: StoreRow) async throws(StoreError) {
        isHandingOver = true
        do {
            let outcome = try await store.transact(
                if: [.modified(penKey, holder.modified), .modified(want.key, want.modified)],
                then: [.put(penKey, NumberValue(member).encoded, want.lease), .delete(.key(want.key))]
                    + penAndHead + [.read(.key(want.key))],
                else: penAndHead + [.read(.key(want.key))]
            )
            pen.wants.learn(member, outcome.readings.last?.first, at: outcome.revision)
            if outcome.held, holder == given { pen.silent.insert(holder.member) }
            learn(outcome)
        } catch .refused(let why) {
            // The lease has ended, and its key went with it; or the store takes nothing now, and the member still waits.
            let outcome = try await store.transact(then: penAndHead + [.read(.key(want.key))])
            let row = outcome.readings.last?.first
            pen.wants.learn(member, row, at: outcome.revision)
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
