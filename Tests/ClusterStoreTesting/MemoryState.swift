import ClusterStore

/// What a ``MemoryStore`` has at one revision, and how a transaction changes it: etcd's rules, without time and faults.
struct MemoryState {
    /// A lease, with the moment of the store's clock at which it ends.
    struct Lease {
        let seconds: Int
        var deadline: Duration
        var keys: Set<[UInt8]> = []
    }

    private(set) var revision: Int64 = 1
    /// The last revision whose changes are forgotten.
    private(set) var compacted: Int64 = 0
    private(set) var leases: [Int64: Lease] = [:]
    private var table = MemoryTable()
    /// The changes of the revisions behind ``compacted``; revision 1 has none.
    private var history: [[StoreChange]] = [[]]
    private var nextLease: Int64 = 1

    // MARK: Reading

    func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) throws(StoreError) -> StoreReading {
        try Self.check(range)
        if let limit, limit < 1 { throw .refused("a read of at most \(limit) keys") }
        let entries = table.entries(range, limit: limit.map { $0 + 1 } ?? .max)
        let rows = entries.prefix(limit ?? .max).map { keysOnly ? $0.row.withoutValue : $0.row }
        return StoreReading(revision: revision, rows: rows, hasMore: rows.count < entries.count)
    }

    /// The first changes of a range at a revision or behind it.
    ///
    /// - Returns: `nil` if there are none up to the store's revision.
    func changes(of range: StoreRange, from start: Int64) -> (changes: [StoreChange], revision: Int64)? {
        var next = max(start, compacted + 1)
        while next <= revision {
            let changes = history[Int(next - compacted - 1)].filter { range.contains($0.key) }
            if !changes.isEmpty { return (changes, next) }
            next += 1
        }
        return nil
    }

    // MARK: Transactions

    /// Runs a transaction; if it throws, nothing has changed.
    mutating func transact(
        _ transaction: StoreTransaction,
        limits: MemoryStore.Limits
    ) throws(StoreError) -> StoreOutcome {
        let largest = max(transaction.compares.count, transaction.then.count, transaction.otherwise.count)
        guard largest <= limits.operations else { throw .refused("etcdserver: too many operations in txn request") }
        guard transaction.size <= limits.requestBytes else { throw .refused("etcdserver: request is too large") }
        for compare in transaction.compares { try Self.check(compare.range) }
        try Self.check(transaction.then)
        try Self.check(transaction.otherwise)
        let held = transaction.compares.allSatisfy(holds)
        let operations = held ? transaction.then : transaction.otherwise
        for case .put(_, _, let lease) in operations where lease != .none && leases[lease.number] == nil {
            throw .refused("etcdserver: requested lease not found")
        }
        var changes: [StoreChange] = []
        var readings: [[StoreRow]] = []
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lease): changes.append(put(key, value, lease))
            case .delete(let range): changes += delete(table.entries(range))
            case .read(let range): readings.append(table.entries(range).map(\.row))
            }
        }
        commit(changes)
        return StoreOutcome(held: held, revision: revision, readings: readings)
    }

    private func holds(_ compare: StoreCompare) -> Bool {
        switch compare {
        case .value(let key, let value): table[Array(key.utf8)].map { $0.value == value } ?? false
        case .modified(let key, let revision): (table[Array(key.utf8)]?.modified ?? 0) == revision
        case .absent(let range): table.entries(range, limit: 1).isEmpty
        }
    }

    private mutating func put(_ key: String, _ value: [UInt8], _ lease: StoreLease) -> StoreChange {
        let bytes = Array(key.utf8)
        let old = table[bytes]
        if let old { leases[old.lease.number]?.keys.remove(bytes) }
        leases[lease.number]?.keys.insert(bytes)
        let row = StoreRow(
            key: key,
            value: value,
            created: old?.created ?? revision + 1,
            modified: revision + 1,
            lease: lease
        )
        table.put(bytes, row)
        return .put(row)
    }

    private mutating func delete(_ entries: [MemoryTable.Entry]) -> [StoreChange] {
        entries.map { entry in
            leases[entry.row.lease.number]?.keys.remove(entry.key)
            table.remove(entry.key)
            return .deleted(entry.row.key, revision: revision + 1)
        }
    }

    private mutating func commit(_ changes: [StoreChange]) {
        guard !changes.isEmpty else { return }
        revision += 1
        history.append(changes)
    }

    /// What etcd refuses before it looks at any key.
    private static func check(_ operations: [StoreOperation]) throws(StoreError) {
        var put: Set<[UInt8]> = []
        for operation in operations {
            switch operation {
            case .put(let key, _, _):
                try check(.key(key))
                guard put.insert(Array(key.utf8)).inserted else { throw .refused(duplicate) }
            case .delete(let range), .read(let range): try check(range)
            }
        }
        for case .delete(let range) in operations {
            for case .put(let key, _, _) in operations where range.contains(key) { throw .refused(duplicate) }
        }
    }

    private static let duplicate = "etcdserver: duplicate key given in txn request"

    private static func check(_ range: StoreRange) throws(StoreError) {
        if range == .key("") { throw .refused("etcdserver: key is not provided") }
    }

    // MARK: Leases

    mutating func makeLease(seconds: Int, now: Duration) throws(StoreError) -> StoreLease {
        guard seconds > 0 else { throw .refused("a lease of \(seconds) seconds") }
        guard seconds <= 9_000_000_000 else { throw .refused("etcdserver: too large lease TTL") }
        // Like etcd's numbers, they don't count from 1.
        let number = nextLease &* 0x1234_5678_9ABC_DEF1 & .max
        nextLease += 1
        leases[number] = Lease(seconds: seconds, deadline: now + .seconds(seconds))
        return StoreLease(number: number)
    }

    mutating func keepAlive(_ lease: StoreLease, now: Duration) -> Int {
        guard let seconds = leases[lease.number]?.seconds else { return 0 }
        leases[lease.number]?.deadline = now + .seconds(seconds)
        return seconds
    }

    /// Ends a lease; its keys go at one revision.
    mutating func end(_ lease: StoreLease) {
        guard let keys = leases.removeValue(forKey: lease.number)?.keys else { return }
        commit(
            delete(
                keys.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { key in
                    table[key].map { MemoryTable.Entry(key: key, row: $0) }
                }
            )
        )
    }

    /// The leases whose time is over.
    func overdue(_ now: Duration) -> [StoreLease] {
        leases.filter { $0.value.deadline <= now }.keys.sorted().map(StoreLease.init(number:))
    }

    /// Gives all leases their whole time again, as a new leader of etcd does.
    mutating func renewLeases(now: Duration) {
        for (number, lease) in leases { leases[number]?.deadline = now + .seconds(lease.seconds) }
    }

    // MARK: Compaction

    /// Forgets the changes up to and including a revision.
    mutating func compact(through last: Int64) {
        guard last > compacted, last <= revision else { return }
        history.removeFirst(Int(last - compacted))
        compacted = last
    }
}

extension StoreRow {
    fileprivate var withoutValue: StoreRow {
        StoreRow(key: key, value: [], created: created, modified: modified, lease: lease)
    }
}

extension StoreChange {
    fileprivate var key: String {
        switch self {
        case .put(let row): row.key
        case .deleted(let key, _): key
        }
    }
}

extension StoreCompare {
    fileprivate var range: StoreRange {
        switch self {
        case .value(let key, _), .modified(let key, _): .key(key)
        case .absent(let range): range
        }
    }
}

extension StoreTransaction {
    /// About how many bytes etcd counts.
    fileprivate var size: Int {
        let compared = compares.reduce(0) { sum, compare in
            guard case .value(let key, let value) = compare else { return sum + 32 }
            return sum + 16 + key.utf8.count + value.count
        }
        return (then + otherwise).reduce(compared) { sum, operation in
            guard case .put(let key, let value, _) = operation else { return sum + 32 }
            return sum + 32 + key.utf8.count + value.count
        }
    }
}
