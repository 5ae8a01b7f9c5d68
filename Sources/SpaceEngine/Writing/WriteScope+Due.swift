// What ends by itself: tuples and cells at a time or with a holder, and claims at their deadlines.

extension WriteScope {
    func addExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        try expiries.put(expiry, NoValue())
        counters.expiring += 1
        if expiry.holder == nil, let known = knownDue { knownDue = min(known, expiry.deadline) }
    }

    func removeExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        guard try expiries.delete(expiry) else { return }
        counters.expiring -= min(1, counters.expiring)
        if expiry.holder == nil, let known = knownDue, expiry.deadline <= known { knownDue = nil }
    }
}

extension Snapshot {
    /// The earliest time at which something expires, on the namespace's clock; 0 if nothing does.
    func earliestDue(_ counters: Counters) throws(SpaceError) -> Int64 {
        guard counters.expiring > 0 else { return 0 }
        var earliest = Int64.max
        for kind in ExpiryKey.Kind.timed {
            var rows = try expiries.scan()
            try rows.seek(from: ExpiryKey.start(kind))
            if let (key, _) = try rows.nextValid(), key.kind == kind { earliest = min(earliest, key.deadline) }
        }
        return earliest == .max ? 0 : earliest
    }

    /// The tuples, claims and cells whose time has come: at most `limit` of each, the oldest first.
    package func due(limit: Int) throws(SpaceError) -> [ExpiryKey] {
        let now = clock.milliseconds
        var due: [ExpiryKey] = []
        for kind in ExpiryKey.Kind.timed {
            var rows = try expiries.scan()
            try rows.seek(from: ExpiryKey.start(kind))
            for _ in 0..<limit {
                guard let (key, _) = try rows.nextValid(), key.kind == kind, key.deadline <= now else { break }
                due.append(key)
            }
        }
        return due
    }

    /// The holders with whose end a tuple or a cell ends.
    ///
    /// - Complexity: O(h log n), h being the number of holders.
    package func holdersOfRows() throws(SpaceError) -> Set<ClaimHolder> {
        var holders: Set<ClaimHolder> = []
        for kind in ExpiryKey.Kind.held {
            var next: UInt64? = 0
            while let from = next {
                var rows = try expiries.scan()
                try rows.seek(from: ExpiryKey.start(kind, from))
                guard let (key, _) = try rows.nextValid(), key.kind == kind, let holder = key.holder else { break }
                holders.insert(holder)
                next = holder.raw == .max ? nil : holder.raw + 1
            }
        }
        return holders
    }

    /// What ends with a holder, at most `limit`, without those that are `left` for a later time.
    package func rows(
        ofHolder holder: ClaimHolder,
        limit: Int,
        but left: Set<ExpiryKey>
    ) throws(SpaceError) -> [ExpiryKey] {
        var found: [ExpiryKey] = []
        for kind in ExpiryKey.Kind.held {
            var rows = try expiries.scan(prefix: ExpiryKey.start(kind, holder.raw))
            while found.count < limit, let (key, _) = try rows.nextValid() {
                if !left.contains(key) { found.append(key) }
            }
        }
        return found
    }
}
