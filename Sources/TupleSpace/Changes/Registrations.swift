import SpaceSystem

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
        if let place = core.liveness.elsewhere(SessionNumber.member(of: number), in: snapshot) {
            return "a process of the machine \(place)"
        }
        return core.liveness.process(ofSession: number).map { "the process \($0.pid)" } ?? "another process"
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
}

extension NamespaceCore {
    /// The registrations of watchers.
    package var registrations: Registrations { Registrations(core: self) }
}
