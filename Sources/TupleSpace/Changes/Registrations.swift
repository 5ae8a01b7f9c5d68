import SpaceSystem
import Synchronization
import TupleCoding

/// The registrations of watchers.
///
/// Registering is a write transaction, so it has a place in the order of all changes: the watcher misses no later
/// one.
package struct Registrations {
    let core: NamespaceCore

    /// The place where a watcher begins.
    enum WatchStart: Sendable {
        case now
        /// After this change.
        case after(UInt64)
    }

    struct Registration: Sendable {
        let number: UInt64
        /// The last change that is not delivered to the watcher.
        let position: UInt64
        /// The last change at the time of registering.
        let present: UInt64
        /// The id of the next tuple at the time of the registration.
        let nextTuple: UInt64
        /// Whether the watcher comes from another life and its first read yields no gap by itself: it must be given
        /// one.
        var tellsOfOtherLife = false
    }

    /// Registers a watcher.
    ///
    /// A watcher that comes from another life, or from beyond the last change, has seen nothing of this life,
    /// whatever its number is: it begins with this life's first change. If the journal still has that change, reading
    /// yields no gap, so the watcher must be given one.
    ///
    /// - Parameters:
    ///   - filter: The changes that the watcher receives.
    ///   - start: The place where it begins.
    ///   - subscription: The name under which the position is kept while the process is away; empty for none.
    ///   - life: The life that the start, or the subscription, belongs to; `nil` if it is unknown.
    /// - Returns: The registration, with the watcher's position.
    /// - Throws: `tooLarge` for a long subscription name, and what a write throws.
    func registerWatcher(
        _ filter: ChangeFilter,
        start: WatchStart,
        subscription: String,
        of life: NamespaceLife? = nil
    ) throws(SpaceError) -> Registration {
        guard subscription.utf8.count <= 400 else {
            let reason = "a subscription's name of \(subscription.utf8.count) bytes is too long"
            throw SpaceError(.tooLarge, reason: reason, advice: "a name is at most 400 bytes of UTF-8")
        }
        let text = filter.text
        var taken: UInt64 = 0
        func register(_ scope: WriteScope) throws(SpaceError) -> Registration {
            let (present, nextTuple) = (scope.counters.sequence, scope.counters.nextTuple)
            var isOfOtherLife = life.map { $0 != core.control.header.life } ?? false
            func registration(_ number: UInt64, _ position: UInt64, tells: Bool) -> Registration {
                Registration(
                    number: number,
                    position: position,
                    present: present,
                    nextTuple: nextTuple,
                    tellsOfOtherLife: tells
                )
            }
            if !subscription.isEmpty,
                let (number, old) = try scope.snapshot.watcher(of: subscription)
            {
                if old.session != 0, old.session == core.session.number || core.liveness.isAlive(session: old.session) {
                    let user = told(session: old.session, in: scope.snapshot)
                    let reason = "the subscription \(subscription.quotedForPeople) is in use by \(user)"
                    throw .misuse(reason, advice: "end that use first, or take another name")
                }
                var row = old
                row.session = core.session.number
                row.filter = text
                try scope.watchers.put(number, row)
                taken = number
                return registration(number, old.position, tells: isOfOtherLife)
            }
            var position = present
            if case .after(let sequence) = start {
                position = sequence
                if sequence > present { isOfOtherLife = true }
            }
            var tells = false
            if isOfOtherLife {
                position = 0
                // Otherwise the first read finds a gap that begins at 1.
                tells = present == 0 || scope.counters.journalFirst == 1
            }
            let number = scope.counters.nextWatcher
            scope.counters.nextWatcher += 1
            scope.counters.watchers += 1
            let row = WatcherRow(
                session: core.session.number,
                position: position,
                subscription: subscription,
                filter: text
            )
            try scope.watchers.put(number, row)
            taken = number
            return registration(number, position, tells: tells)
        }
        do throws(SpaceError) { return try core.write(.adding, register) } catch {
            core.letGo(after: error) { [taken, session = core.session.number] (core, patience) throws(SpaceError) in
                try core.registrations.endWatcher(
                    taken,
                    of: session,
                    isSubscription: !subscription.isEmpty,
                    timeout: patience
                )
            }
            throw error
        }
    }

    /// Whose session it is, for people.
    private func told(session number: UInt64, in snapshot: Snapshot) -> String {
        if number == core.session.number { return "this process" }
        if let machine = core.journal.machine(of: SessionNumber.member(of: number), in: snapshot) {
            return "a process of the machine \(machine)"
        }
        return core.liveness.process(ofSession: number).map { "the process \($0.pid)" } ?? "another process"
    }

    /// Ends a session's registration; a subscription stays, without a process.
    ///
    /// If another session has taken over the subscription since the caller looked, nothing happens.
    ///
    /// `position` is the last change up to which a subscription has dealt with everything.
    func endWatcher(
        _ number: UInt64,
        of session: UInt64,
        isSubscription: Bool,
        position: UInt64 = 0,
        timeout: Duration? = nil
    ) throws(SpaceError) {
        try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
            guard var row = try scope.watcherRows.getValid(number), row.session == session else { return }
            if isSubscription {
                row.session = 0
                row.position = max(row.position, position)
                try scope.watchers.put(number, row)
            } else {
                try scope.watchers.remove(number)
            }
        }
    }

    /// Removes registrations of this process, all in one transaction.
    func removeWatchers(_ numbers: [UInt64], timeout: Duration?) throws(SpaceError) {
        try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
            for number in numbers { try scope.watchers.remove(number) }
        }
    }

    /// Stores that a subscription has dealt with everything up to a change.
    ///
    /// A registration under a number that this session had before goes on under its present number.
    ///
    /// - Returns: `false` if the registration is not this session's any more.
    package func acknowledge(_ number: UInt64, _ sequence: UInt64, timeout: Duration? = nil) throws(SpaceError) -> Bool
    {
        try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
            // The position never exceeds the last change, because later changes must still be delivered.
            let sequence = min(sequence, scope.counters.sequence)
            guard var row = try scope.watcherRows.getValid(number), row.session != 0, core.session.hasHad(row.session)
            else { return false }
            guard row.position < sequence || row.session != core.session.number else { return true }
            row.session = core.session.number
            row.position = max(row.position, sequence)
            try scope.watchers.put(number, row)
            return true
        }
    }

    /// Drops the registrations of dead sessions.
    ///
    /// After a failure, the next tick, opener or writer (once in 4,096 changes) tries again.
    ///
    /// If only a session's member has ended, the process may live, and register again when its machine is another member.
    /// So the registration stays for `returnPatience`, and with it the changes in the journal that the process has not
    /// read.
    fileprivate func dropWatchersOfTheDead(timeout: Duration?) {
        var isDead: [UInt64: Bool] = [0: false, core.session.number: false]
        dropWatchers(timeout: timeout) { row in
            let dead = isDead[row.session] ?? !core.liveness.isAlive(session: row.session)
            isDead[row.session] = dead
            return dead && (!row.subscription.isEmpty || !mayRegisterAgain(row.session))
        }
    }

    private static let returnPatience = Duration.seconds(30)

    /// Whether a session that counts as dead may register again, because only its member has ended, and not long ago.
    private func mayRegisterAgain(_ session: UInt64) -> Bool {
        guard core.liveness.hasEnded(session: session) else { return false }
        return core.departures.withLock { departures in
            let seen = departures[session] ?? .now
            let mayReturn = !seen.advanced(by: Self.returnPatience).hasPassed
            departures[session] = mayReturn ? seen : nil
            return mayReturn
        }
    }

    fileprivate func dropWatchers(timeout: Duration?, of hasEnded: (WatcherRow) -> Bool) {
        let rows = try? core.read { (snapshot) throws(SpaceError) in
            let counters = try snapshot.counters()
            // The watchers of a standby are elsewhere.
            return counters.watchers == 0 || counters.followsLog ? [] : try snapshot.watchers()
        }
        for (number, row) in rows ?? [] where hasEnded(row) {
            let isSubscription = !row.subscription.isEmpty
            try? endWatcher(
                number,
                of: row.session,
                isSubscription: isSubscription,
                timeout: timeout.map(core.engine.cleanUpPatience)
            )
        }
    }
}

extension ObservationHub {
    package func dropRegistrations(of which: Registrants, of core: NamespaceCore, timeout: Duration?) {
        switch which {
        case .theDead: core.registrations.dropWatchersOfTheDead(timeout: timeout)
        case .thisProcess: core.registrations.dropWatchers(timeout: timeout) { $0.session == core.session.number }
        case .all: core.registrations.dropWatchers(timeout: timeout) { $0.session != 0 }
        }
    }
}

extension NamespaceCore {
    /// The registrations of watchers.
    package var registrations: Registrations { Registrations(core: self) }
}
