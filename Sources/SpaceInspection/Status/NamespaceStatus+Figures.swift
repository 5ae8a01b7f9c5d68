// Numbers that several reports tell of a namespace.

extension NamespaceStatus {
    /// The living processes that keep the namespace alive; a visitor does not.
    package var livingOwners: Int { owners.count { $0.isAlive && $0.kind != .visitor } }

    /// How many named objects of a kind there are.
    package func count(_ kind: SharedObjectKind) -> Int { objects.count { $0.kind == kind } }

    /// How many places are held.
    package var held: Int { holds.count(where: \.isHeld) }

    /// How often the tuples that are claimed or buried have come back.
    package var deliveries: Int { (claims + buried).reduce(0) { $0 + $1.held.deliveries } }

    /// How many tuples, and items of queues, are buried.
    package var allBuried: Int { objects.reduce(buried.count) { $0 + ($1.queue?.items?[.buried] ?? 0) } }

    /// The time at which the longest wait began, in milliseconds since 1970; `nil` if nothing waits.
    package var longestWait: Int64? { waiters.map(\.since).min() }

    /// How many changes a watcher has not acknowledged.
    package func lag(of watcher: Watcher) -> UInt64 {
        sequence > watcher.position ? sequence - watcher.position : 0
    }
}
