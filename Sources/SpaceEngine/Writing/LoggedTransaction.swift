/// What a transaction has beside its rows if it is to be an entry of the log.
package struct LoggedTransaction {
    /// The counters as they were before the changes that are to be logged.
    fileprivate var countersBefore = Counters()
    /// Whether the namespace stays without owners from this transaction on; `nil`: as before.
    var isPersistent: Bool?
    /// The member on whose part this transaction is; 0 in a namespace of one machine.
    var member: UInt32 = 0
    /// A member whose key must not exist when this transaction is logged; 0: none.
    package var absentMember: UInt32 = 0
    /// Whether the transaction's changes are in a log, or may be, also if its commit has failed.
    var mayBeLogged = false

    init() {}

    /// Begins the part of a transaction that is to be an entry.
    init(_ counters: Counters, by member: UInt32) {
        countersBefore = counters
        self.member = member
    }
}

extension WriteScope {
    /// Whether the transaction has changed something since its logged part began that other copies of the namespace
    /// need.
    package func hasOwnChanges(isPersistent: Bool) -> Bool {
        !meter.changed.rows.isEmpty || counters != logged.countersBefore
            || logged.isPersistent.map { $0 != isPersistent } ?? false
    }
}
