import SpaceSystem
import Synchronization
import TupleCoding

// The ends of registrations: by their watchers, and after the death of the process.

extension Registrations {
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
