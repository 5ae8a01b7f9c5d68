import Glibc
import SpaceSystem

/// What became of a request for a place.
package enum PlaceAnswer {
    case entered(Place, isHolding: Bool)
    /// The process holds nothing and does not wait. The hold was in the way in the transaction that refused the request.
    ///
    /// It is `nil` if waiters wait for no holder, for example at a barrier, and if the place ended with this machine's
    /// member.
    case refused(by: PlaceRow?)

    /// The place, if the process has entered the queue.
    package var entered: (Place, isHolding: Bool)? {
        if case .entered(let place, let isHolding) = self { (place, isHolding) } else { nil }
    }
}

/// What this process does with places: entering a queue and leaving it, and naming the holder in a time-out's error.
package struct PlaceAccess {
    let core: NamespaceCore

    // MARK: Entering and waiting

    /// Enters the queue of a name, and holds at once if it may.
    ///
    /// Returns the place and whether it holds, or `nil` if it would have to wait and `waits` is false; then it leaves
    /// no trace.
    package func enter(
        _ request: PlaceRequest,
        waits: Bool
    ) throws(SpaceError) -> (Place, isHolding: Bool)? {
        var uncertain: Place?
        do throws(SpaceError) { return try enter(request, waits: waits, uncertain: &uncertain).entered } catch {
            if let uncertain { endOrRemember(uncertain) }
            throw error
        }
    }

    /// Enters the queue of a name, or finds the place of an earlier attempt whose outcome was unknown.
    ///
    /// The earlier attempt can't count later, because the transaction of this attempt comes after it.
    ///
    /// - Parameters:
    ///   - request: The queue, and what is asked for.
    ///   - waits: Whether the process waits if it does not hold at once.
    ///   - patience: How long this may wait for the machine to take part; `nil`: as a write does.
    ///   - uncertain: The place of that attempt; afterwards that of this one, if it throws `outcomeUnknown`.
    /// - Returns: The place, or the hold because of which the process would have to wait.
    /// - Throws: What a write throws.
    func enter(
        _ request: PlaceRequest,
        waits: Bool,
        patience: Duration? = nil,
        uncertain: inout Place?
    ) throws(SpaceError) -> PlaceAnswer {
        try core.checkUsable()
        // This comes before the row: from now on a process that waits behind this one, or holds what it waits for,
        // listens for its end.
        core.claimants.announce()
        if request.rules.countsWaiters {
            core.endedHolders.returnClaimsOfTheDead(at: request.name, timeout: core.timeout)
        }
        func place(of row: PlaceRow) -> Place {
            Place(name: request.name, kind: request.kind, ticket: row.ticket, rules: request.rules)
        }
        let earlier = uncertain
        var made: Place?
        var hold: PlaceRow?
        func add() throws(SpaceError) -> PlaceRow? {
            try core.write(.removing, patience: patience, findsOut: true) { scope throws(SpaceError) in
                // Leaving ends all places, and a waiter that thereby loses its place must not be served what other
                // places held.
                try core.engine.checkStays()
                let holder = ClaimHolder.session(core.session.number)
                made = nil
                if let earlier, let row = try scope.snapshot.place(PlaceKeys(earlier.name), earlier.ticket),
                    row.holder == holder
                {
                    return try scope.places.see(earlier)
                }
                let row = try request.rules.add(request, holder: holder, waits: waits, in: scope)
                if let row, row.isHolding || waits {
                    made = place(of: row)
                    return row
                }
                // Read here, because a later transaction may find that hold released.
                hold = try scope.snapshot.firstHolder(request.name, request.kind)
                if let row { try scope.places.remove(row.ticket, of: request.name, by: request.rules) }
                return nil
            }
        }
        var entered: PlaceRow?
        do throws(SpaceError) { entered = try add() } catch {
            if error.code == .outcomeUnknown { uncertain = made ?? earlier }
            throw error
        }
        uncertain = nil
        // If there were no waiters, no process has listened for the holder's end. So a dead holder may still be there,
        // and an attempt that does not wait must not fail because of it.
        if entered == nil, core.endedHolders.returnClaimsOfTheDead(timeout: Engine.upkeepPatience) {
            entered = try add()
        }
        return entered.map { .entered(place(of: $0), isHolding: $0.isHolding) } ?? .refused(by: hold)
    }

    /// Whether another process has turned a waiting place into a holder.
    ///
    /// Throws `holdLost` if the place is gone, and the refusal of its rules if it can no longer be served.
    func isServed(_ place: Place) throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in
            guard let row = try snapshot.place(PlaceKeys(place.name), place.ticket) else { throw lost(place) }
            if row.isHolding { return true }
            if let refusal = try place.rules.refusal(of: row, at: place.name, in: snapshot) { throw refusal }
            return false
        }
    }

    /// Gives the place up at the end of the time, unless it was served in the last moment.
    func endWaiting(_ place: Place) throws(SpaceError) -> PlaceAnswer {
        let answer = try core.write(.removing) { scope throws(SpaceError) -> PlaceAnswer? in
            guard let row = try scope.places.see(place) else { return nil }
            if row.isHolding { return .entered(place, isHolding: true) }
            try scope.places.remove(place)
            return .refused(by: try scope.snapshot.firstHolder(place.name, place.kind))
        }
        guard let answer else { throw lost(place) }
        return answer
    }

    /// Notes that this process has seen what another process's transaction served it: if this process ends from now on,
    /// that counts.
    func see(_ place: Place) throws(SpaceError) {
        let row = try core.write(.removing) { scope throws(SpaceError) in try scope.places.see(place) }
        if row == nil { throw lost(place) }
    }

    package func row(of place: Place) throws(SpaceError) -> PlaceRow? {
        try core.read { snapshot throws(SpaceError) in
            try snapshot.place(PlaceKeys(place.name), place.ticket)
        }
    }

    /// The error for a place that is gone, which a process that leaves the namespace has ended itself.
    private func lost(_ place: Place) -> SpaceError {
        do throws(SpaceError) { try core.engine.checkStays() } catch { return error }
        return .lost(place)
    }

    /// The result of a look at a waiting place; `nil` if the place is gone because this machine's member has ended.
    ///
    /// The process held nothing yet, and enters the queue again.
    func unlessMemberEnded<Result>(
        of session: UInt64,
        _ look: () throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        do throws(SpaceError) {
            return try look()
        } catch {
            guard error.code == .holdLost, core.liveness.hasEnded(memberOf: session) else { throw error }
            return nil
        }
    }

    /// Makes another process the holder of a place; it ends with that process.
    func handOver(_ place: Place, to process: ProcessIdentity) throws(SpaceError) {
        let isOurs = try core.write(.removing) { scope throws(SpaceError) in
            let keys = PlaceKeys(place.name)
            guard var row = try scope.snapshot.place(keys, place.ticket) else { return false }
            row.holder = core.participation.renewed(.process(process, member: core.session.member))
            try scope.places.put(row, keys)
            return true
        }
        guard isOurs else { throw lost(place) }
        // This comes after the hand-over, so that a waiter finds the process among the holders.
        core.claimants.ring()
    }

    // MARK: Leaving

    /// Ends a hold or a wait; throws `holdLost` if its row was gone already.
    package func end(_ place: Place, timeout: Duration? = nil) throws(SpaceError) {
        let row = try core.write(.removing, timeout: timeout) { scope throws(SpaceError) in
            try scope.places.remove(place)
        }
        if row == nil { throw lost(place) }
    }

    /// Ends a hold or a wait, now or as soon as possible.
    func endOrRemember(_ place: Place) {
        core.letGo { (core, patience) throws(SpaceError) in try core.places.end(place, timeout: patience) }
    }

    // MARK: Errors

    /// The error for a hold that could not be acquired in time; it names the holder.
    ///
    /// `hold`: The hold that was in the way in the transaction that refused the request. If this hold has ended since,
    /// the error says so: another look would find the next holder, or none.
    func timedOut(_ request: PlaceRequest, by hold: PlaceRow?) -> SpaceError {
        let subject = "\(request.kind.phrase), \(request.name.quotedForPeople),"
        guard let hold else {
            return SpaceError(.timedOut, reason: "\(subject) could not be acquired in time", advice: "try again")
        }
        let place = try? core.read { (snapshot) throws(SpaceError) in
            core.liveness.elsewhere(hold.holder.member ?? 0, in: snapshot)
        }
        let pid = if case .process(let process, _) = hold.holder { process.pid } else { hold.pid }
        let command = place == nil ? ProcessIdentity.commandName(of: pid).map { " (\($0))" } : nil
        let who = "process \(pid)\(place.map { "@\($0)" } ?? "")\(command ?? "")"
        let row = try? core.read { (snapshot) throws(SpaceError) in
            try snapshot.place(PlaceKeys(request.name), hold.ticket)
        }
        guard row != nil, core.liveness.isAlive(hold.holder) else {
            return SpaceError(
                .timedOut,
                holder: place == nil ? pid : nil,
                reason: "\(subject) was held by \(who) until just now",
                advice: "try again"
            )
        }
        if place == nil, pid == getpid() {
            return SpaceError(
                .timedOut,
                holder: pid,
                reason: "\(subject) is held by this process itself, \(pid) (fencing number \(hold.ticket))",
                advice: "release it where this process acquired it, or try again; locks are not reentrant"
            )
        }
        let halt = place == nil ? ProcessIdentity.halt(of: pid) : nil
        let seconds = Swift.max(0, Clock.realtimeMilliseconds() - hold.since) / 1000
        return SpaceError(
            .timedOut,
            holder: place == nil ? pid : nil,
            reason:
                "\(subject) is held by \(who)\(halt.map { ", which is \($0.phrase)," } ?? "") since \(seconds) s ago",
            advice: halt?.advice(for: pid) ?? "try again, or end \(who)"
        )
    }

    /// The oldest holder of a name, or `nil` if it is not held.
    ///
    /// If the holder is dead and its death was not noticed before, its hold is ended here, and the next waiter holds.
    /// If the gate can't be acquired for that, the result is `nil`.
    func firstLivingHolder(_ name: String, _ kind: SharedObjectKind) throws(SpaceError) -> PlaceRow? {
        func first() throws(SpaceError) -> PlaceRow? {
            try core.read { snapshot throws(SpaceError) in try snapshot.firstHolder(name, kind) }
        }
        guard let row = try first() else { return nil }
        if core.liveness.isAlive(row.holder) { return row }
        core.endedHolders.returnClaimsOfTheDead(at: name, timeout: Engine.upkeepPatience)
        return try first().flatMap { core.liveness.isAlive($0.holder) ? $0 : nil }
    }

    package func pid(of holder: ClaimHolder) -> Int32? {
        switch holder {
        case .process(let process, let member): return core.liveness.isElsewhere(member: member) ? nil : process.pid
        case .nobody: return nil
        case .session(let number):
            guard let folder = try? core.engine.openFolder(),
                let sessions = try? SessionFolder(in: folder.descriptor)
            else { return nil }
            return (try? sessions.look(at: String(number)))?.record?.process.pid
        }
    }
}

extension NamespaceCore {
    /// What this process does with places.
    package var places: PlaceAccess { PlaceAccess(core: self) }
}

extension SpaceError {
    /// The error for a place whose row has gone although its process has not given it up.
    package static func lost(_ place: Place) -> SpaceError {
        SpaceError(
            .holdLost,
            reason: "\(place.kind.phrase), \(place.name.quotedForPeople), is no longer this process's (fencing number "
                + "\(place.ticket)): it was taken away, or the session was given up for dead",
            advice: "take nothing for granted that it protected, and ask for it again"
        )
    }
}
