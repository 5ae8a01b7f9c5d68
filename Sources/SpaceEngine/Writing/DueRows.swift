/// The tuples, cells and claims whose time is over in a write transaction: they are removed, unset and returned.
package struct DueRows {
    fileprivate let scope: WriteScope

    /// The most bytes that one transaction removes, returns and journals of what is due: an entry of several machines'
    /// log has room for as much again.
    private static let mostBytes = 512 << 10

    /// Removes and returns what is due as far as there is disk space for it; the rest stays claimed until a later
    /// commit.
    func removeAll(pageSize: Int) throws(SpaceError) {
        let all = try scope.snapshot.due(limit: 64)
        guard !all.isEmpty else { return }
        // If there is no room for all of them, fewer may fit, the earliest first; and if there is none for a large one, small
        // ones may fit.
        if try removeFitting(all) { return }
        let sizes = try all.map { (key) throws(SpaceError) in try claimedBytes(key) }
        let small = zip(all, sizes).filter { $0.1 <= pageSize }.map(\.0)
        if small.count < all.count, try removeFitting(small) { return }
        if let smallest = zip(all, sizes).min(by: { $0.1 < $1.1 })?.0 { _ = try removeFitting([smallest]) }
    }

    /// Removes and returns the earliest of some, as many as there is room for; `false` if there is none even for one.
    private func removeFitting(_ all: [ExpiryKey]) throws(SpaceError) -> Bool {
        var most = all.count
        while most > 0 {
            let due = try fitting(Array(all.prefix(most)))
            do throws(SpaceError) {
                try expectChanging(due)
                try remove(due)
                return true
            } catch  where error.isOfRoom && !scope.hasRemovedDue {
                most = due.count / 2
            }
        }
        return false
    }

    /// Makes sure of the disk space for removing or returning what is due, before anything of it has changed.
    private func expectChanging(_ due: [ExpiryKey]) throws(SpaceError) {
        var sizes: [Int] = []
        for key in due { try appendSizes(of: key, to: &sizes) }
        let rows: [RoomMeter.Tree] = [
            .init(database: scope.tables.main, scattered: due.count + 1),
            .init(database: scope.tables.tuples, scattered: due.count),
            .init(database: scope.tables.index, scattered: due.count * scope.shapes.indexed.count),
            .init(
                database: scope.tables.cells,
                scattered: due.count { if case .cell = $0.subject { true } else { false } }
            ),
            .init(database: scope.tables.expiries, scattered: 2 * due.count),
            .init(database: scope.tables.journal, ends: scope.isJournaling ? 5 * due.count : 0),
        ]
        try scope.meter.expect(rows, sizes: sizes)
    }

    /// Adds the sizes of the rows that are written when a tuple, a cell or a claim ends.
    private func appendSizes(of key: ExpiryKey, to sizes: inout [Int]) throws(SpaceError) {
        // The journal's row has a header of its own.
        switch key.subject {
        case .claim:
            let size = try claimedBytes(key)
            sizes.append(size)
            if scope.isJournaling { sizes.append(size + 256) }
        case .tuple(let id):
            if scope.isJournaling { sizes.append((try scope.tuples.getValid(id)?.size ?? 0) + 256) }
        case .cell(let cell):
            if scope.isJournaling { sizes.append((try scope.cells.getValid(cell)?.element.count ?? 0) + 1024) }
        }
    }

    /// As many of the first keys as one transaction removes; at least one.
    package func fitting(_ keys: [ExpiryKey]) throws(SpaceError) -> [ExpiryKey] {
        var bytes = 0
        for (place, key) in keys.enumerated() {
            var sizes: [Int] = []
            try appendSizes(of: key, to: &sizes)
            bytes += sizes.reduce(0, +)
            if place > 0, bytes > Self.mostBytes { return Array(keys[..<place]) }
        }
        return keys
    }

    /// The size of the tuple whose claim is due; 0 if something else is.
    private func claimedBytes(_ key: ExpiryKey) throws(SpaceError) -> Int {
        guard case .claim(let id) = key.subject else { return 0 }
        return try scope.tuples.getValid(id)?.size ?? 0
    }

    /// Removes the tuples, unsets the cells and returns the claims whose time is over.
    package func remove(_ due: [ExpiryKey]) throws(SpaceError) {
        for key in due {
            try scope.removeExpiry(key)
            scope.noteRemovedDue()
            switch key.subject {
            case .tuple(let id):
                if let row = try scope.tuples.getValid(id), row.end.ends(by: key) {
                    try scope.remove(id, row, as: .expire)
                }
            case .cell(let cell):
                if let row = try scope.cells.getValid(cell), row.end.ends(by: key) { try scope.unset(cell) }
            case .claim(let id):
                if try scope.wake(id, at: key.deadline) { continue }
                try scope.returnClaim(id) { $0.deadline == key.deadline }
            }
        }
    }
}

extension WriteScope {
    /// What is due, to be removed and returned.
    package var due: DueRows { DueRows(scope: self) }
}

extension RowEnd {
    /// Whether a key of `expiries` is one of the row's own.
    fileprivate func ends(by key: ExpiryKey) -> Bool {
        if let holder = key.holder { return holder == self.holder }
        return key.deadline == expiry
    }
}
