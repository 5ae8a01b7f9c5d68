// The rows of an inspected namespace, all of one snapshot. Each row is read when the walk reaches it, and is not kept.

extension Inspection {
    /// Calls `body` with each visible tuple, the oldest first.
    package func forEachTuple(_ body: (Match) throws -> Void) throws {
        guard let snapshot else { return }
        var (search, failure) = (Search(snapshot, .empty, .oldestFirst), (any Error)?.none)
        try search.forEach(.any) { (id, row) in
            do { try body(Match(id, row)) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each claim, or with what is buried, in the order in which the tuples were written.
    package func forEachClaim(buried: Bool, _ body: (NamespaceStatus.Claim) throws -> Void) throws {
        guard let snapshot else { return }
        let holders = try holders(snapshot)
        var failure: (any Error)?
        try snapshot.forEachClaim { (id, row) throws(SpaceError) in
            guard row.isBuried == buried, let claim = try NamespaceStatus.Claim(id, row, snapshot, holders) else {
                return true
            }
            do { try body(claim) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each cell that has not expired, by key.
    package func forEachCell(_ body: (DumpedCell) throws -> Void) throws {
        guard let snapshot else { return }
        var rows = try snapshot.cellsByBytes.scan()
        while let (bytes, row) = try rows.next() {
            if let cell = try DumpedCell(bytes, row, pids, in: snapshot) { try body(cell) }
        }
    }

    /// Calls `body` with each ordered set and dictionary, by name, without its elements.
    package func forEachCollection(_ body: (CollectionDump) throws -> Void) throws {
        guard let snapshot else { return }
        for (name, object) in try objects(where: \.isCollection) {
            try body(try CollectionDump(name, object, in: snapshot))
        }
    }

    /// Calls `body` with each element of an ordered set, in order, and its key if the set has keys.
    package func forEachElement(of dump: CollectionDump, _ body: (Value, _ key: Value?) throws -> Void) throws {
        guard let snapshot, dump.kind == .orderedSet, let object = try snapshot.object(dump.name, .orderedSet) else {
            return
        }
        let list = try ElementList(snapshot, name: dump.name, object: object.number)
        for start in stride(from: 0, to: list.count, by: Self.page) {
            var page: [(Value, Value?)] = []
            try list.forEach(start..<min(start + Self.page, list.count)) { (row) throws(SpaceError) in
                let key = try row.key.map { (key) throws(SpaceError) in try snapshot.value(dump.name, key) }
                page.append((try snapshot.value(dump.name, row.encoded), key))
            }
            for (element, key) in page { try body(element, key) }
        }
    }

    /// Calls `body` with each work queue, by name, without its items, and with their number.
    package func forEachQueue(_ body: (QueueDump, _ count: Int) throws -> Void) throws {
        for (name, object) in try objects(where: { $0 == .queue }) {
            guard let snapshot else { return }
            try body(QueueDump(name, object), try snapshot.queueIDs(QueueRows(number: object.number).key(.item)).count)
        }
    }

    /// Calls `body` with each item of a work queue, in the order of putting.
    package func forEachItem(of dump: QueueDump, _ body: (QueueDump.Item) throws -> Void) throws {
        guard let snapshot, let object = try snapshot.object(dump.name, .queue) else { return }
        let rows = QueueRows(number: object.number)
        for (id, _) in try snapshot.queueIDs(rows.key(.item)) {
            if let item = try QueueDump.Item(rows, id, in: snapshot) { try body(item) }
        }
    }

    /// Calls `body` with each counter, latch, rate limit and set number of permits, by name.
    package func forEachState(_ body: (ObjectStateDump) throws -> Void) throws {
        guard let snapshot else { return }
        for (name, object) in try objects(where: \.isState) {
            try body(try ObjectStateDump(name, object, snapshot.clock))
        }
    }

    /// Calls `body` with each change in the journal.
    package func forEachChange(_ body: (Change) throws -> Void) throws {
        guard let snapshot else { return }
        try snapshot.forEachChange(body)
    }

    /// How many elements are decoded at once.
    private static let page = 200

    /// The objects of some kinds, by name.
    private func objects(
        where isWanted: (SharedObjectKind) -> Bool
    ) throws(SpaceError) -> [(name: String, object: SharedObjectRow)] {
        var objects: [(String, SharedObjectRow)] = []
        try snapshot?.forEachObject { (name, object) in if isWanted(object.kind) { objects.append((name, object)) } }
        return objects
    }
}
