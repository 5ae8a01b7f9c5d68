/// A store that several machines share, and that says in which order they changed it.
///
/// It has keys with revisions, transactions that compare and then change, leases, and watches, with the meaning that
/// etcd gives them (etcd.io, "API guarantees"): each change raises the store's revision by one, all machines see the
/// same order, and a key attached to a lease goes when the lease is not kept alive. The daemon `space join` needs
/// nothing else of a cluster.
///
/// All calls are safe to repeat except ``transact(_:)``: if it throws `unknown`, the transaction may have happened, or
/// may still happen.
package protocol Store: Sendable {
    /// Reads the keys of a range, in order, at one revision.
    func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading

    /// Runs a transaction; the compares, and all operations of one side, are one step.
    func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome

    /// Makes a lease that ends unless it is kept alive.
    ///
    /// - Parameter seconds: How long it lasts each time.
    /// - Returns: The lease.
    /// - Throws: ``StoreError``; after `unknown` there may be a lease that nothing keeps alive, and that ends by itself.
    func makeLease(seconds: Int) async throws(StoreError) -> StoreLease

    /// Keeps a lease alive for its whole time again.
    ///
    /// - Parameter lease: The lease.
    /// - Returns: For how many seconds; 0 if the lease has ended already.
    /// - Throws: ``StoreError``.
    func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int

    /// Ends a lease and deletes its keys.
    func end(_ lease: StoreLease) async throws(StoreError)

    /// Watches the changes of a range, from a revision on, in order and without gaps.
    ///
    /// The sequence throws when the connection is lost or the store has no leader; the caller watches again from the
    /// revision behind the last one that it has seen.
    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error>

    /// What the store says of itself, for people: its version, and what is wrong with it.
    func status() async throws(StoreError) -> StoreStatus
}

extension Store {
    /// Runs a transaction of these parts.
    package func transact(
        if compares: [StoreCompare] = [],
        then operations: [StoreOperation],
        else otherwise: [StoreOperation] = []
    ) async throws(StoreError) -> StoreOutcome {
        try await transact(StoreTransaction(if: compares, then: operations, else: otherwise))
    }

    /// The row of a key.
    package func row(_ key: String) async throws(StoreError) -> StoreRow? {
        try await read(.key(key), limit: nil, keysOnly: false).rows.first
    }
}

/// Why the store has not done what it was asked for.
package enum StoreError: Error, Equatable, Codable {
    /// The store can't be reached, or has no leader; nothing was done.
    case unavailable(String)
    /// The request was sent, and there is no answer: it may have been done, or may still be.
    case unknown(String)
    /// The store refuses the request for good: rights, space, size.
    case refused(String)
    /// The revision that was asked for is compacted away; the store knows the changes from this revision on.
    case compacted(Int64)
}

/// A lease's number.
package struct StoreLease: Hashable, Codable, Sendable {
    package let number: Int64
    /// No lease.
    package static let none = StoreLease(number: 0)

    package init(number: Int64) { self.number = number }
}

/// Some keys: one, or all that begin with a prefix.
package enum StoreRange: Hashable, Codable, Sendable {
    case key(String)
    case prefix(String)
}

/// A key with its value.
package struct StoreRow: Equatable, Codable, Sendable {
    package let key: String
    package let value: [UInt8]
    /// The revision of the change that made the key, after which it was not deleted.
    package let created: Int64
    /// The revision of its last change.
    package let modified: Int64
    package let lease: StoreLease

    package init(key: String, value: [UInt8], created: Int64, modified: Int64, lease: StoreLease) {
        self.key = key
        self.value = value
        self.created = created
        self.modified = modified
        self.lease = lease
    }
}

/// What a read has found.
package struct StoreReading: Equatable, Codable, Sendable {
    /// The store's revision at which the rows were like this.
    package let revision: Int64
    package let rows: [StoreRow]
    /// Whether the limit left rows out.
    package let hasMore: Bool

    package init(revision: Int64, rows: [StoreRow], hasMore: Bool) {
        self.revision = revision
        self.rows = rows
        self.hasMore = hasMore
    }
}

/// What must hold for a transaction's first side to run.
package enum StoreCompare: Equatable, Codable, Sendable {
    /// The key exists and has this value.
    case value(String, [UInt8])
    /// The key was last changed by this revision; 0: it does not exist.
    case modified(String, Int64)
    /// No key of the range exists.
    case absent(StoreRange)
}

/// One step of a transaction.
package enum StoreOperation: Equatable, Codable, Sendable {
    case put(String, [UInt8], StoreLease)
    case delete(StoreRange)
    case read(StoreRange)
}

/// Operations that are one step: if all compares hold, the first ones, else the others.
package struct StoreTransaction: Equatable, Codable, Sendable {
    package var compares: [StoreCompare]
    package var then: [StoreOperation]
    package var otherwise: [StoreOperation]

    package init(if compares: [StoreCompare] = [], then: [StoreOperation], else otherwise: [StoreOperation] = []) {
        self.compares = compares
        self.then = then
        self.otherwise = otherwise
    }
}

/// What a transaction came to.
package struct StoreOutcome: Equatable, Codable, Sendable {
    /// Whether all compares held.
    package let held: Bool
    /// The store's revision after the transaction.
    package let revision: Int64
    /// The rows of each read of the side that ran, in order.
    package let readings: [[StoreRow]]

    package init(held: Bool, revision: Int64, readings: [[StoreRow]]) {
        self.held = held
        self.revision = revision
        self.readings = readings
    }
}

/// What a watch tells.
package enum StoreNews: Equatable, Codable, Sendable {
    /// The changes up to and including a revision; all changes of one revision come together.
    case changes([StoreChange], revision: Int64)
    /// Nothing has changed up to this revision; it comes now and then, so that a silent watch is noticed.
    case progress(revision: Int64)
}

/// A change of a key.
package enum StoreChange: Equatable, Codable, Sendable {
    case put(StoreRow)
    case deleted(String, revision: Int64)

    package var key: String {
        switch self {
        case .put(let row): row.key
        case .deleted(let key, _): key
        }
    }

    /// The key's row; `nil` if it was deleted.
    package var row: StoreRow? { if case .put(let row) = self { row } else { nil } }

    package var revision: Int64 {
        switch self {
        case .put(let row): row.modified
        case .deleted(_, let revision): revision
        }
    }
}

/// What a store says of itself.
package struct StoreStatus: Equatable, Codable, Sendable {
    /// Its version, such as `3.5.13`.
    package let version: String
    /// What is wrong with it: alarms, members that can't be reached.
    package let troubles: [String]

    package init(version: String, troubles: [String]) {
        self.version = version
        self.troubles = troubles
    }
}
