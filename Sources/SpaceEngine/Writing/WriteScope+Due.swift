import SpaceSystem

// What ends by itself: tuples and cells at a time or with a holder, and claims at their deadlines.

extension WriteScope {
    func addExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        try expiries.put(expiry, NoValue())
        noteAdded(due: expiry.holder == nil ? expiry.deadline : nil)
    }

    func removeExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        if try expiries.delete(expiry) { noteRemoved(due: expiry.holder == nil ? expiry.deadline : nil) }
    }

    /// Makes sure of the disk space for removing or returning what is due, before anything of it has changed.
    func expectMoving(_ due: [ExpiryKey]) throws(SpaceError) {
        var sizes: [Int] = []
        for key in due {
            // The journal's row has a header of its own.
            switch key.subject {
            case .claim(let id):
                let size = try claimRow(id)?.size ?? 0
                sizes.append(size)
                if isJournaling { sizes.append(size + 256) }
            case .tuple(let id):
                if isJournaling { sizes.append((try tuples.getValid(id)?.size ?? 0) + 256) }
            case .cell(let cell):
                if isJournaling { sizes.append((try cells.getValid(cell)?.element.count ?? 0) + 1024) }
            }
        }
        let rows: [RoomMeter.Tree] = [
            .init(database: tables.main, scattered: due.count + 1),
            .init(database: tables.tuples, scattered: due.count),
            .init(database: tables.index, scattered: due.count * shapes.indexed.count),
            .init(database: tables.cells, scattered: due.count),
            .init(database: tables.expiries, scattered: 2 * due.count),
            .init(database: tables.journal, ends: isJournaling ? 5 * due.count : 0),
        ]
        try meter.expect(rows, sizes: sizes)
    }

    /// The first keys of all that are due: at most `most`, and no claim of a tuple larger than `bytes`.
    package func due(_ all: [ExpiryKey], _ most: Int, claimsUpTo bytes: Int) throws(SpaceError) -> [ExpiryKey] {
        var due: [ExpiryKey] = []
        for key in all where due.count < most {
            var size = 0
            if case .claim(let id) = key.subject { size = try claimRow(id)?.size ?? 0 }
            if size <= bytes { due.append(key) }
        }
        return due
    }

    /// Removes the tuples, unsets the cells and returns the claims that have come to their end.
    package func remove(due: [ExpiryKey]) throws(SpaceError) {
        for key in due {
            try removeExpiry(key)
            noteRemovedDue()
            switch key.subject {
            case .tuple(let id):
                if let row = try tuples.getValid(id), row.end.ends(by: key) { try remove(id, row, as: .expire) }
            case .cell(let cell):
                if let row = try cells.getValid(cell), row.end.ends(by: key) { try unset(cell) }
            case .claim(let id):
                if try wake(id, at: key.deadline) { continue }
                try returnClaim(id) { $0.deadline == key.deadline }
            }
        }
    }
}

extension RowEnd {
    /// Whether a key of `expiries` is one of the row's own.
    fileprivate func ends(by key: ExpiryKey) -> Bool {
        if let holder = key.holder { return holder == self.holder }
        return key.deadline == expiry
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

    /// What ends with a holder, at most `limit` of each kind.
    package func rows(ofHolder holder: ClaimHolder, limit: Int) throws(SpaceError) -> [ExpiryKey] {
        var found: [ExpiryKey] = []
        for kind in ExpiryKey.Kind.held {
            var rows = try expiries.scan(prefix: ExpiryKey.start(kind, holder.raw))
            for _ in 0..<limit {
                guard let (key, _) = try rows.nextValid() else { break }
                found.append(key)
            }
        }
        return found
    }
}
