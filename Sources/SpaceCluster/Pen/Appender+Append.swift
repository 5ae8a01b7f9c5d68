import ClusterStore
import SpaceEngine
package import SpaceMachines
import SpaceSystem

/// A commit on its way into the log.
///
/// Its outcome is found in one of three ways, each in one transaction of the store:
/// 1. The append held: the entry is in the log.
/// 2. The append was refused, and the same transaction read the log's next entry, the head, the member's last commit, the
///    pen and the namespace's life. The entry is in the log if it stands there, or if the member's last commit is this one
///    (it was trimmed). It never will be if another entry stands there, if the log goes beyond it, if the namespace was
///    deleted, or if the pen's revision has changed: a request that is still on its way compares that revision.
/// 3. Otherwise, or without an answer, the request may still arrive. The daemon puts the pen again, for the same member on
///    the same lease, if its revision is still the commit's, and reads the same in that transaction. From then on the
///    pen's revision is another one, so what was read is final. This transaction may be repeated: it compares, too.
struct Commit: Sendable {
    let id: CommitID
    let identity: Appender.Identity
    let behind: UInt64
    let pen: Int64
    let absentMember: UInt32
    let entry: [UInt8]
    let penChange: Appender.PenChange
}

/// What became of a commit.
enum Verdict: Sendable {
    case done
    /// Another's came before, or the pen has gone on.
    case refused(String)
    /// It was never sent, or the store takes it not.
    case unavailable(String)
    case unknown(String)
    /// The namespace was deleted.
    case gone

    var answer: DaemonAnswer {
        switch self {
        case .gone: .gone
        case .done: .done
        case .refused(let why): .refused(why)
        case .unavailable(let why): .unavailable(why)
        case .unknown(let why): .unknown(why)
        }
    }
}

extension Appender {
    /// Appends an entry behind another on behalf of a connection, which then no longer uses the pen.
    ///
    /// - Parameters:
    ///   - use: The connection.
    ///   - behind: The number of the entry that the transaction ran on.
    ///   - captured: The pen's revision when it began.
    ///   - absentMember: A member that must no longer take part in the namespace, or 0.
    ///   - entry: The entry.
    /// - Returns: `done`, `refused`, `unknown` or `unavailable`.
    package func append(
        for use: PenUse,
        behind: UInt64,
        pen captured: Int64,
        absentMember: UInt32,
        entry: [UInt8]
    ) async -> DaemonAnswer {
        defer { endUse(use) }
        guard entry.count <= settings.mostEntryBytes else {
            return .unavailable("the entry has \(entry.count) bytes, and \(settings.mostEntryBytes) are the most")
        }
        let deadline = MonotonicInstant.now.advanced(by: settings.answerTime)
        while commit != nil {
            guard !deadline.hasPassed, !Task.isCancelled else {
                return .unavailable("the outcome of this machine's last commit is not known yet")
            }
            await waitForOutcome(until: deadline)
        }
        switch standing {
        case .gone: return .gone
        case .absent(let why), .stopped(_, let why): return .unavailable(why)
        case .present(let me):
            // What would be refused in any case is not sent; the store compares both again.
            guard let holder = pen.holder, holder.modified == captured, holder.isFree || holder.member == me.number
            else {
                return .refused("the pen has changed meanwhile")
            }
            guard head == behind else {
                if holder.isFree { losses += 1 }
                return .refused("the log ends with entry \(head), not \(behind)")
            }
            let made = Commit(
                id: nextID(of: me.number),
                identity: me,
                behind: behind,
                pen: captured,
                absentMember: absentMember,
                entry: entry,
                penChange: penChange(by: use, of: me)
            )
            commit = made
            awaited.insert(made.id)
            // The outcome is found even if the process does not wait for it.
            TaskHome.daemon.start { await self.settle(made) }
            return await verdict(of: made, until: deadline).answer
        }
    }

    private func verdict(of commit: Commit, until deadline: MonotonicInstant) async -> Verdict {
        defer {
            awaited.remove(commit.id)
            verdicts[commit.id] = nil
        }
        while true {
            if let verdict = verdicts[commit.id] { return verdict }
            guard !deadline.hasPassed, !Task.isCancelled else {
                if deadline.hasPassed { noteLateness() }
                return .unknown("the store (etcd) did not answer the daemon in time")
            }
            await waitForOutcome(until: deadline)
        }
    }

    /// Sends a commit and finds its outcome.
    private func settle(_ made: Commit) async {
        let began = MonotonicInstant.now
        sentSince = began
        var verdict = await send(made)
        appendTime = MonotonicInstant.now.duration(since: began)
        var pause = Pause(settings)
        while verdict == nil {
            verdict = await findOutcome(of: made)
            if verdict == nil {
                if isEnded { verdict = .unknown("the daemon has ended") } else { await pause.wait() }
            }
        }
        (commit, sentSince) = (nil, nil)
        switch verdict {
        case .done:
            losses = 0
            learn(own: made.behind + 1)
            cache.insert(made.behind + 1, made.entry)
        case .refused where pen.holder?.isFree ?? false: losses += 1
        default: break
        }
        if awaited.contains(made.id) { verdicts[made.id] = verdict }
        noteOutcome()
    }

    /// Sends a commit, and changes the pen with it.
    ///
    /// - Returns: The outcome, or `nil` if it is not known.
    private func send(_ made: Commit) async -> Verdict? {
        let verdict = await send(made, made.penChange)
        // The store refuses the whole transaction if the lease has ended that the pen is to be attached to.
        if case .unavailable = verdict, case .goes = made.penChange { return await send(made, .stays) }
        return verdict
    }

    private func send(_ made: Commit, _ change: PenChange) async -> Verdict? {
        let entry = made.behind + 1
        var compares: [StoreCompare] = [
            .value(keys.key(.head), NumberValue(made.behind).encoded),
            .modified(keys.key(.pen), made.pen),
        ]
        if made.absentMember != 0 { compares.append(.absent(.key(keys.key(.joined(made.absentMember))))) }
        let value = LogValue(life: keys.life, commit: made.id, entry: made.entry)
        var puts: [StoreOperation] = [
            .put(keys.key(.log(entry)), value.encoded, .none),
            .put(keys.key(.head), NumberValue(entry).encoded, .none),
            .put(keys.key(.last(made.id.member)), LastValue(counter: made.id.counter, entry: entry).encoded, .none),
        ]
        let penKey = keys.key(.pen)
        func give(to member: UInt32, _ lease: StoreLease) {
            puts.append(.put(penKey, NumberValue(member).encoded, lease))
            // The member's key `want` is deleted even if this machine has not heard of it. This machine counts it as
            // answered, and the member would not put it again, so the member would never get the pen.
            puts.append(.delete(.key(keys.key(.want(member)))))
        }
        switch change {
        case .stays: break
        case .isFreed: puts.append(.put(penKey, NumberValue(PenView.Holder.noMember).encoded, .none))
        case .isHeld: give(to: made.identity.number, made.identity.lease)
        case .goes(let successor): give(to: successor.member, successor.want.lease)
        }
        do {
            let outcome = try await store.transact(if: compares, then: puts, else: signs(of: made))
            if outcome.held {
                note(change, of: made.identity, at: outcome.revision)
                return .done
            }
            learn(signs: outcome)
            return judge(made, outcome)
        } catch .unavailable(let why) {
            return .unavailable(why)
        } catch .refused(let why) {
            return .unavailable("the store refused the entry: \(why)")
        } catch {
            return nil
        }
    }

    /// - Returns: The outcome, or `nil` if the store can't be asked now.
    private func findOutcome(of made: Commit) async -> Verdict? {
        let renew = StoreTransaction(
            if: [.modified(keys.key(.pen), made.pen)],
            then: [.put(keys.key(.pen), NumberValue(made.identity.number).encoded, made.identity.lease)]
                + signs(of: made),
            else: signs(of: made)
        )
        let outcome: StoreOutcome
        do {
            outcome = try await store.transact(renew)
        } catch .refused {
            // The lease has ended, or the store accepts no more writes: a read may show which.
            guard let read = try? await store.transact(then: signs(of: made)) else { return nil }
            learn(signs: read)
            return judge(made, read)
        } catch {
            trouble = error.told
            return nil
        }
        trouble = nil
        learn(signs: outcome)
        return judge(made, outcome)
    }

    /// The reads that tell a commit's outcome.
    private func signs(of made: Commit) -> [StoreOperation] {
        [
            .read(.key(keys.key(.log(made.behind + 1)))),
            .read(.key(keys.key(.head))),
            .read(.key(keys.key(.last(made.id.member)))),
            .read(.key(keys.key(.pen))),
            .read(.key(keys.id)),
        ]
    }

    private func learn(signs outcome: StoreOutcome) {
        guard outcome.readings.count == 5 else { return }
        if let number = outcome.readings[1].first?.number { learn(head: number) }
        pen.learn(outcome.readings[3].first, at: outcome.revision)
    }

    /// - Returns: The outcome, or `nil` if a late request may still arrive.
    private func judge(_ made: Commit, _ outcome: StoreOutcome) -> Verdict? {
        guard outcome.readings.count == 5 else { return .unknown("the store's answer is incomplete") }
        if let row = outcome.readings[0].first {
            // An entry of another version of this program is another's.
            let value = try? LogValue(decoding: row.value, of: keys.life)
            guard value?.commit == made.id else { return .refused("another machine was faster") }
            return .done
        }
        if let row = outcome.readings[2].first {
            guard let last = try? LastValue(decoding: row.value) else {
                return .unknown("the member's last commit is damaged")
            }
            if last.counter == made.id.counter { return .done }
        }
        let life = outcome.readings[4].first?.number
        if life != keys.life.number { return .gone }
        let head = outcome.readings[1].first?.number
        if outcome.readings[3].first?.modified != made.pen {
            guard let head, head >= made.behind else {
                return .unavailable("the head of the log is missing in the store, damaged, or lower than it was")
            }
            return .refused("the pen has changed meanwhile")
        }
        if let head, head > made.behind { return .refused("another machine was faster") }
        return nil
    }
}
