/// A check of everything in a namespace's file that has to agree; `space-dump --check` and every test end with it.
///
/// - A tuple whose row says that it is claimed has a row in `claims`, and no other one has. Its bytes decode, and its
///   id has been given out.
/// - Each shape with an index has one row for each visible tuple that it applies to, and no other rows. While the index is
///   being built, this holds above its watermark.
/// - Each expiry and each deadline has its row in `expiries`, and each row there belongs to an expiry or a deadline.
/// - A hold is held if the order of its queue and the rule of its kind allow it, and only then; no hold waits that
///   could be held.
/// - Responders and requests are in possible places, and each request has its arguments.
/// - Named objects have numbers of their own, collections name the type of their elements, and ordered sets are whole:
///   see `OrderedSetCheck`.
/// - Counters, cells and shapes decode, and the counters agree with the rows. Each row belongs to a table.
package struct IntegrityCheck {
    let snapshot: Snapshot
    /// The damage that was found, one sentence for each finding.
    package private(set) var damage: [String] = []

    private static let longestReport = 200

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    package mutating func report(_ text: String) {
        if damage.count < Self.longestReport { damage.append(text) }
    }

    /// Checks everything.
    ///
    /// - Complexity: O(tuples × indexed shapes · log n).
    package mutating func run() throws(SpaceError) {
        let counters: Counters
        do throws(SpaceError) {
            counters = try snapshot.counters()
        } catch {
            return report(error.reason)
        }
        let shapes = checkShapes(counters)
        var expiries: ExpiryTally = []
        var indexed: [UInt16: Int] = [:]
        try checkTuples(counters, shapes, &expiries, &indexed)
        try checkIndex(shapes, &indexed)
        try checkClaims(counters, &expiries)
        try checkCells(&expiries)
        try checkExpiries(counters, expiries)
        try checkJournal(counters)
        try checkObjects(counters)
        for text in try snapshot.damageInHolds(counters) + snapshot.damageInQueues() { report(text) }
        for text in try snapshot.damageInResponders(counters) { report(text) }
        try checkOrderedSets()
        try checkMain(counters)
    }

    /// The rows that have to be in `expiries`; each row that is found there is removed from the tally.
    private typealias ExpiryTally = Set<ExpiryKey>

    private mutating func checkShapes(_ counters: Counters) -> [IndexedShape] {
        do throws(SpaceError) {
            let table = try ShapeTable(reading: snapshot, generation: counters.shapesGeneration)
            let rows = try count(snapshot.indexedShapes)
            if rows != table.all.count { report("\(rows - table.all.count) rows of the table of shapes don't decode") }
            return table.all
        } catch {
            report(error.reason)
            return []
        }
    }

    private mutating func checkTuples(
        _ counters: Counters,
        _ shapes: [IndexedShape],
        _ expiries: inout ExpiryTally,
        _ indexed: inout [UInt16: Int]
    ) throws(SpaceError) {
        var rows = try snapshot.tuples.scan()
        while let (bytes, value) = try rows.nextBytes() {
            guard let id = UInt64(key: bytes) else {
                report("a key of the table of tuples has \(bytes.count) bytes")
                continue
            }
            guard let row = TupleRow(value) else {
                report("tuple \(id) is too short")
                continue
            }
            checkTuple(id, row, counters)
            let hasClaim = try snapshot.claims.contains(id)
            if row.isClaimed {
                if !hasClaim { report("the row of tuple \(id) says that it is claimed, and there is no claim") }
                continue
            }
            if hasClaim { report("tuple \(id) is visible and claimed at once") }
            if id < counters.firstVisible { report("tuple \(id) is older than the first visible one") }
            expiries.formUnion(row.end.keys(.tuple(id)))
            for shape in shapes where shape.state != .dropping {
                guard let hash = row.encoded.hash(of: shape.shape) else { continue }
                if try snapshot.index.contains(IndexKey(shape: shape.number, hash: hash, id: id)) {
                    indexed[shape.number, default: 0] += 1
                } else if id >= shape.watermark {
                    report("tuple \(id) is missing in the index of shape \(shape.number)")
                }
            }
        }
        try snapshot.forEachNear { (id, row) throws(SpaceError) in
            checkTuple(id, row, counters)
            if try snapshot.claims.contains(id) { report("tuple \(id) is visible and claimed at once") }
        }
    }

    private mutating func checkClaim(_ id: UInt64, _ claim: ClaimRow, _ counters: Counters) {
        if claim.number >= counters.nextNumber {
            report("the claim on tuple \(id) has a number that was not given out")
        }
    }

    private mutating func checkTuple(_ id: UInt64, _ row: TupleRow, _ counters: Counters) {
        if id == 0 || id >= counters.nextTuple { report("tuple \(id) has an id that was not given out") }
        do throws(TupleCodingError) {
            try row.encoded.validate()
        } catch {
            report("tuple \(id) does not decode: \(error)")
        }
    }

    /// Compares the rows of the index with those that tuples account for; a row more belongs to no tuple.
    private mutating func checkIndex(_ shapes: [IndexedShape], _ indexed: inout [UInt16: Int]) throws(SpaceError) {
        var counts: [UInt16: Int] = [:]
        var rows = try snapshot.index.scan()
        while let (bytes, _) = try rows.nextBytes() {
            guard let key = IndexKey(key: bytes) else {
                report("a key of the index has \(bytes.count) bytes")
                continue
            }
            counts[key.shape, default: 0] += 1
        }
        for (number, count) in counts.sorted(by: { $0.key < $1.key }) {
            guard let shape = shapes.first(where: { $0.number == number }) else {
                report("the index has \(count) rows of shape \(number), which there is not")
                continue
            }
            let known = indexed[number, default: 0]
            if shape.state != .dropping, count != known {
                report("the index of shape \(number) has \(count) rows for \(known) tuples")
            }
        }
    }

    private mutating func checkClaims(_ counters: Counters, _ expiries: inout ExpiryTally) throws(SpaceError) {
        var rows = try snapshot.claims.scan()
        var count: UInt64 = 0
        var buried: UInt64 = 0
        while let (bytes, value) = try rows.nextBytes() {
            guard let id = UInt64(key: bytes), let claim = ClaimRow(value) else {
                report(ClaimRow.damage(at: bytes))
                continue
            }
            if try !snapshot.tuples.contains(id) { report("tuple \(id) is claimed, and is not there") }
            if claim.holder == .nobody {
                buried += 1
            } else {
                count += 1
            }
            checkClaim(id, claim, counters)
            if claim.deadline != 0 { expiries.insert(ExpiryKey(.claim(id), at: claim.deadline)) }
        }
        try snapshot.forEachNearClaim { (id, claim, isInRing) throws(SpaceError) in
            count += 1
            checkClaim(id, claim, counters)
            if let row = try snapshot.claimedTuple(id) {
                checkTuple(id, row, counters)
            } else {
                report("tuple \(id) is claimed, and is not there")
            }
            if try snapshot.claims.contains(id) { report("tuple \(id) is claimed twice at once") }
            if isInRing, try snapshot.tuples.contains(id) { report("tuple \(id) is visible and claimed at once") }
            return true
        }
        if count != counters.claimed { report("\(count) claims are out, and the counter says \(counters.claimed)") }
        if buried != counters.withoutHolder {
            report("\(buried) tuples are buried or rest, and the counter says \(counters.withoutHolder)")
        }
    }

    private mutating func checkExpiries(_ counters: Counters, _ expected: ExpiryTally) throws(SpaceError) {
        var missing = expected
        var rows = try snapshot.expiries.scan()
        var count: UInt64 = 0
        while let (bytes, _) = try rows.nextBytes() {
            count += 1
            guard let key = ExpiryKey(key: bytes) else {
                report("a key of the table of expiries does not decode")
                continue
            }
            if missing.remove(key) == nil {
                report("an expiry stands for \(Self.text(key)), which has another or none")
            }
        }
        for text in missing.map(Self.text).sorted() { report("\(text) ends by itself, and no row says so") }
        if count != counters.expiring {
            report("\(count) expiries are kept, and the counter says \(counters.expiring)")
        }
    }

    private static func text(_ key: ExpiryKey) -> String {
        switch key.subject {
        case .tuple(let id): "tuple \(id)"
        case .claim(let id): "the claim on tuple \(id)"
        case .cell(let cell): "the cell \(cell.quotedForPeople)"
        }
    }

    private mutating func checkCells(_ expiries: inout ExpiryTally) throws(SpaceError) {
        var rows = try snapshot.cells.scan()
        while let (bytes, value) = try rows.nextBytes() {
            guard let key = String(key: bytes),
                (1...Limits.cellKeyBytes).contains(bytes.count)
            else {
                report("a cell's key is no UTF-8, or too long")
                continue
            }
            guard let row = CellRow(value) else {
                report(CellRow.damage(at: bytes))
                continue
            }
            expiries.formUnion(row.end.keys(.cell(key)))
            do throws(TupleCodingError) {
                _ = try Value(encodedElement: row.element)
            } catch {
                report("the cell \(key.quotedForPeople) does not decode: \(error)")
            }
        }
    }

    private mutating func checkObjects(_ counters: Counters) throws(SpaceError) {
        var rows = try snapshot.objectRows.scan()
        var names: [UInt64: String] = [:]
        while let (bytes, value) = try rows.nextBytes() {
            guard let name = String(key: bytes),
                (1...Limits.objectNameBytes).contains(bytes.count)
            else {
                report("an object's name is no UTF-8, or too long")
                continue
            }
            guard let object = SharedObjectRow(value) else {
                report("the object \(name.quotedForPeople) does not decode")
                continue
            }
            if object.number == 0 || object.number >= counters.nextObject {
                report("the object \(name.quotedForPeople) has a number that was not given out")
            }
            if object.kind.isCollection, CollectionDetails(object.details) == nil {
                report("\(object.kind.phrase), \(name.quotedForPeople), has details that don't decode")
            }
            if object.kind == .dictionary, name.utf8.contains(DictionaryKeys.separator) {
                report("the dictionary \(name.quotedForPeople) has a slash in its name, so it can't have entries")
            }
            if let other = names.updateValue(name, forKey: object.number) {
                report("\(other.quotedForPeople) and \(name.quotedForPeople) have one number")
            }
        }
    }

    private mutating func checkJournal(_ counters: Counters) throws(SpaceError) {
        let watchers = try count(snapshot.watcherRows)
        if watchers != counters.watchers {
            report("\(watchers) watchers are registered, and the counter says \(counters.watchers)")
        }
        let decoded = try snapshot.watchers().count
        if watchers != decoded { report("\(watchers - decoded) rows of the table of watchers don't decode") }
        if !counters.isJournaling, counters.journalFirst != 0 {
            report("the journal has rows, and nobody watches, nor is there a history")
        }
        if counters.historyRows == 0, counters.historyBytes != 0 {
            report("a history of \(counters.historyBytes) bytes is to be kept, and of no changes")
        }
        var rows = try snapshot.journal.scan()
        var bytes: UInt64 = 0
        var expected = counters.journalFirst
        while let (key, value) = try rows.nextBytes() {
            guard let row = JournalRow(key: key, value: value), (try? row.change()) != nil else {
                report("a row of the journal does not decode")
                continue
            }
            bytes += UInt64(value.count)
            if row.sequence != expected {
                report("change \(row.sequence) stands in the journal where \(expected) should")
            }
            expected = row.sequence + 1
        }
        if expected != (counters.journalFirst == 0 ? 0 : counters.sequence + 1) {
            report("the journal ends before change \(expected), and the last one is \(counters.sequence)")
        }
        if bytes != counters.journalBytes {
            report("the journal has \(bytes) bytes, and the counter says \(counters.journalBytes)")
        }
    }

    /// Checks that each row of the main database is a row of a table or the root of one.
    private mutating func checkMain(_ counters: Counters) throws(SpaceError) {
        // The counters and the row that names the life come in addition to the tables.
        var known = 2 + Tables.named
        if try snapshot.mainLife.getValid(.life) == nil {
            report("the row that names the namespace's life is missing or damaged")
        }
        var isShared = false
        if counters.logEntry != 0 {
            known += 1
            let log = try snapshot.mainLog.getValid(.log)
            isShared = log?.isOfMembers ?? false
            if log == nil { report("the row with the log is missing or damaged") }
        }
        try checkMembers(isShared: isShared)
        for section in snapshot.sections { known += try count(section) }
        let all = try snapshot.main.count
        if all != known { report("rows of the main database that stand in no table: \(all - known)") }
    }

    /// Checks the rows of the machines that share the namespace.
    private mutating func checkMembers(isShared: Bool) throws(SpaceError) {
        var rows = try snapshot.memberRows.scan()
        while let (key, value) = try rows.nextBytes() {
            guard let number = UInt64(key: key), (1...UInt64(SessionNumber.lastMember)).contains(number),
                MemberRow(key: key, value: value) != nil
            else {
                report("a row of the machines that share the namespace does not decode")
                continue
            }
            if !isShared { report("member \(number) takes part in a namespace that no machines share") }
        }
    }

    /// Counts rows one by one, also those of a section.
    private func count<Key: TableKey, Row: TableRow>(_ table: Table<Key, Row>) throws(SpaceError) -> Int {
        var rows = try table.scan()
        var count = 0
        while try rows.nextBytes() != nil { count += 1 }
        return count
    }
}

extension Namespace {
    /// Checks everything in the namespace's file that has to agree.
    ///
    /// - Returns: The damage that was found, one sentence for each finding; empty if there is none.
    public func verify() throws(SpaceError) -> [String] {
        try attempt("check the namespace") { (core) throws(SpaceError) in
            try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                var check = IntegrityCheck(snapshot)
                try check.run()
                return check.damage
            }
        }
    }
}
