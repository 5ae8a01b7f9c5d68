import LMDB
import SpaceSystem
import TupleCoding

extension WriteScope {
    package func put(watcher number: UInt64, _ row: WatcherRow) throws(SpaceError) {
        let bytes = row.encoded
        try lmdb { () throws(LMDBError) in
            try bytes.withBytes { (bytes) throws(LMDBError) in try access.put(tables.watchers, number, bytes) }
        }
        noteUpkeep()
    }

    package func remove(watcher number: UInt64) throws(SpaceError) {
        guard try lmdb({ () throws(LMDBError) in try access.delete(tables.watchers, number) }) else { return }
        counters.watchers -= min(1, counters.watchers)
        noteUpkeep()
        try emptyJournalOfNobody()
    }
}

/// Registering is a write transaction, so it has a place in the order of all changes: nothing after it is missed.
extension NamespaceCore {
    /// Where a watcher begins.
    enum WatchStart: Sendable {
        case now
        /// After this change.
        case after(UInt64)
    }

    struct Registration: Sendable {
        let number: UInt64
        /// The last change that is not delivered.
        let position: UInt64
        /// The last change at the time of registering.
        let present: UInt64
        /// The id that the next tuple was to get at the time of registering.
        let nextTuple: UInt64
        /// Whether the watcher comes from another life, and no gap in this one says so: it is to be told.
        var tellsOfOtherLife = false
    }

    /// Registers a watcher.
    ///
    /// One that comes from another life, or from beyond the last change, has seen nothing of this life, whatever its number: it
    /// begins with this life's first change. If the journal still has that one, no gap comes of itself.
    ///
    /// - Parameters:
    ///   - filter: What the watcher is told.
    ///   - start: Where it begins.
    ///   - subscription: A name under which the position is kept while the process is away; empty: none.
    ///   - life: The life that the start, or the subscription, is of; `nil`: unknown.
    /// - Returns: Where the watcher stands.
    /// - Throws: `tooLarge` for a long subscription name, and what a write throws.
    func registerWatcher(
        _ filter: ChangeFilter,
        start: WatchStart,
        subscription: String,
        of life: NamespaceLife? = nil
    ) throws(SpaceError) -> Registration {
        guard subscription.utf8.count <= 400 else {
            throw SpaceError(
                .tooLarge,
                "watch",
                namespace: name.text,
                reason: "a subscription's name of \(subscription.utf8.count) bytes is too long",
                advice: "a name is at most 400 bytes of UTF-8"
            )
        }
        let text = filter.text
        return try write("watch", .adding(1, bytes: 1024)) { (scope) throws(SpaceError) in
            let (present, nextTuple) = (scope.counters.sequence, scope.counters.nextTuple)
            var isOfOtherLife = life.map { $0 != control.header.life } ?? false
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
                let (number, old) = try scope.snapshot.watchers().first(where: {
                    $0.row.subscription.isSame(as: subscription)
                })
            {
                if old.session != 0, old.session == session.number || isAlive(session: old.session) {
                    throw SpaceError(
                        .invalidArgument,
                        "watch",
                        namespace: name.text,
                        reason: "the subscription \(subscription.quotedForPeople) is in use by "
                            + (old.session == session.number ? "this process" : "another process"),
                        advice: "end that use first, or take another name"
                    )
                }
                var row = old
                row.session = session.number
                row.filter = text
                try scope.put(watcher: number, row)
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
                // Else the first look finds a gap from 1 on.
                tells = present == 0 || scope.counters.journalFirst == 1
            }
            let number = scope.counters.nextWatcher
            scope.counters.nextWatcher += 1
            scope.counters.watchers += 1
            let row = WatcherRow(
                session: session.number,
                position: position,
                subscription: subscription,
                filter: text
            )
            try scope.put(watcher: number, row)
            return registration(number, position, tells: tells)
        }
    }

    /// Ends a session's registration; a subscription stays, its process away.
    ///
    /// Nothing happens to a subscription that another session has taken over since the caller looked.
    ///
    /// `position`: How far a subscription has dealt with everything.
    func endWatcher(
        _ number: UInt64,
        of session: UInt64,
        isSubscription: Bool,
        position: UInt64 = 0,
        timeout: Duration? = nil
    ) throws(SpaceError) {
        try write("stop watching", .emptyingJournal, timeout: timeout) { (scope) throws(SpaceError) in
            guard var row = try scope.watcher(number), row.session == session else { return }
            if isSubscription {
                row.session = 0
                row.position = max(row.position, position)
                try scope.put(watcher: number, row)
            } else {
                try scope.remove(watcher: number)
            }
        }
    }

    /// Says that a subscription has dealt with everything up to a change.
    package func acknowledge(_ number: UInt64, _ sequence: UInt64, timeout: Duration? = nil) throws(SpaceError) {
        try write("acknowledge changes", .removing(1, bytes: 1024), timeout: timeout) { (scope) throws(SpaceError) in
            // No further than there are changes: what comes later must come.
            let sequence = min(sequence, scope.counters.sequence)
            guard var row = try scope.watcher(number), row.session == session.number, row.position < sequence else {
                return
            }
            row.position = sequence
            try scope.put(watcher: number, row)
        }
    }

    /// Drops the registrations of sessions that no longer live.
    ///
    /// A failure leaves it to the next who looks: a tick, an opener, a writer every so often.
    func dropWatchersOfTheDead(timeout: Duration? = nil) {
        var isDead: [UInt64: Bool] = [0: false, session.number: false]
        dropWatchers(timeout: timeout) { session in
            let dead = isDead[session] ?? !isAlive(session: session)
            isDead[session] = dead
            return dead
        }
    }

    /// Drops the registrations of this process, which leaves.
    func dropOwnWatchers(timeout: Duration) {
        dropWatchers(timeout: timeout) { $0 == session.number }
    }

    /// Ends every registration: after a reboot no session lives whose number stands in one, and numbers begin anew.
    func dropAllWatchers() { dropWatchers(timeout: nil) { $0 != 0 } }

    private func dropWatchers(timeout: Duration?, of hasEnded: (UInt64) -> Bool) {
        let rows = try? read("look at the watchers") { (snapshot) throws(SpaceError) in
            try snapshot.counters().watchers == 0 ? [] : try snapshot.watchers()
        }
        for (number, row) in rows ?? [] where hasEnded(row.session) {
            let isSubscription = !row.subscription.isEmpty
            try? endWatcher(number, of: row.session, isSubscription: isSubscription, timeout: timeout)
        }
    }
}

extension WriteScope {
    fileprivate func watcher(_ number: UInt64) throws(SpaceError) -> WatcherRow? {
        try lmdb { () throws(LMDBError) in try access.get(tables.watchers, number) }.flatMap { WatcherRow($0) }
    }
}
