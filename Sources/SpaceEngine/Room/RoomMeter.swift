package import LMDB
import SpaceSystem

/// Counts what a write transaction stores and deletes, and makes sure of its disk space.
///
/// Guarantees: every page that a change of a row could touch has its block before the change. Each change is charged
/// here by the one place that makes it (``Table``, ``Rows``), before LMDB sees it, so no caller estimates anything. If
/// there is no space, the charge throws, and the transaction is undone as it is for any other error.
///
/// A charge is two additions and two comparisons with what is ensured. Most transactions stay within ``usual``, which
/// one comparison ensures at their beginning. If a transaction goes beyond what is ensured, the meter ensures what is
/// counted and as much ahead as there is space for. So a long transaction measures the tables a few times, and not at
/// each change.
///
/// Rows that are stored need no bound: LMDB knows how many pages they took (``UsedPages``). So each time the meter
/// measures, it takes that number and counts from 0 again. Only the row that is about to be changed, and the rows
/// ahead, are bounded. So a batch costs what it stores.
package final class RoomMeter {
    /// The counts of one of LMDB's trees since the pages were last counted; the sections of the main database share its
    /// tree.
    struct TableCount {
        /// The rows changed anywhere, and how many of them are ensured.
        var scattered = 0
        var ensuredScattered = 0
        /// The rows added at the end, or dropped at the beginning, and how many of them are ensured.
        var ends = 0
        var ensuredEnds = 0
        /// The bytes of these rows within the tree's own pages.
        var bytes = 0
        /// The rows whose pages were counted: those changed anywhere, and those at the ends.
        var countedScattered = 0
        var countedEnds = 0

        var allScattered: Int { countedScattered + scattered }
        var allEnds: Int { countedEnds + ends }

        mutating func add(size: Int) { bytes &+= size &+ RoomMeter.rowOverhead }
    }

    /// One of LMDB's trees, and what a usual transaction changes in it.
    struct Tree {
        let database: Database
        /// Rows anywhere.
        var scattered = 0
        /// Rows added at the end or dropped at the beginning.
        var ends = 0
        /// Whether there is one more row anywhere for each indexed shape.
        var isIndex = false
        /// Whether these are the tuples.
        var isTuples = false
        /// Whether the claims are in this tree.
        var hasClaims = false
        /// Rows that each transaction changes when it is committed.
        var atCommit = 0
    }

    /// What must be ensured: for each tree the number of rows, and for all together their bytes.
    struct Plan {
        /// The meter's own, in the order of its trees.
        let counts: UnsafeMutableBufferPointer<TableCount>
        /// The bytes of rows to come, of whichever tree.
        var bytesAhead = 0
        /// Values with pages of their own, and all these pages.
        var values: Int
        var valuePages: Int
        /// The pages that the transaction has used for the rows before these; `nil` if that is not known, and then these
        /// are all of its rows.
        var used: UsedPages?
    }

    /// The trees; the place of each is LMDB's number for it, as in `counts`.
    private let trees: [Tree?]
    private let index: Int
    private let reserve: DiskReserve?
    private let counts: UnsafeMutablePointer<TableCount>
    /// The counts of a plan, which is made too often to be allocated each time.
    private let planned: UnsafeMutableBufferPointer<TableCount>
    private let usualCounts: [TableCount]
    private let usualRows: Int
    private let pageSize: Int
    /// A row of more bytes may have its value in pages of its own (mdb.c: me_nodemax).
    private let largestInTree: Int

    @exclusivity(unchecked) private var access: Access
    @exclusivity(unchecked) private(set) var purpose = WritePurpose.removing
    /// The bytes of all rows that were stored.
    @exclusivity(unchecked) private(set) var bytes = 0
    @exclusivity(unchecked) private var ensuredBytes = Int.max {
        didSet { quickBytes = notesChanges ? -1 : ensuredBytes }
    }
    /// Up to how many bytes a charge needs no second look; 0 while changes are noted.
    @exclusivity(unchecked) private var quickBytes = Int.max
    /// Whether the keys of changed rows are noted.
    @exclusivity(unchecked) private(set) var notesChanges = false
    /// The rows that the transaction has changed, if they are noted.
    let changed = ChangedRows()
    @exclusivity(unchecked) private var values = 0
    @exclusivity(unchecked) private var valuePages = 0
    /// The size of the last row that was charged.
    @exclusivity(unchecked) private var lastSize = 0
    /// The pages that the rows before those in the counts have used.
    private var used: UsedPages?
    /// The pages of values among these rows, less one of each value, which LMDB counts.
    private var countedValuePages = 0

    /// How often a young file was measured only for the counted changes.
    private var looks = 0

    private static let fewLooks = 16
    /// LMDB's header of a row, and the row's entry in its page.
    private static let rowOverhead = 16
    /// The most bytes in a tree's page of a row whose value has pages of its own.
    private static let mostKeyBytes = 512
    /// The bytes that a usual transaction stores.
    static let usualBytes = 64 << 10
    /// How many rows are ensured at once in a tree that is changed more than usual.
    private static let rowsAhead = 32...512
    /// How many bytes at most are ensured ahead.
    private static let mostAhead = 128 << 10

    /// Without a reserve, the meter only counts: for a new file, whose blocks are there.
    init(_ known: [Tree], _ reserve: DiskReserve?, idle access: Access, pageSize: Int) {
        self.reserve = reserve
        self.access = access
        self.pageSize = max(512, pageSize)
        largestInTree = (self.pageSize - 16) / 2 - 16
        let last = known.map(\.place).max() ?? 0
        var trees = [Tree?](repeating: nil, count: last + 1)
        for tree in known { trees[tree.place] = tree }
        self.trees = trees
        index = known.first(where: \.isIndex)?.place ?? 0
        usualRows = known.reduce(0) { $0 + $1.scattered + $1.ends }
        let usual = trees.map { TableCount(ensuredScattered: $0?.scattered ?? 0, ensuredEnds: $0?.ends ?? 0) }
        usualCounts = usual
        counts = .allocate(capacity: usual.count)
        counts.initialize(from: usual, count: usual.count)
        planned = .allocate(capacity: usual.count)
        planned.initialize(repeating: TableCount())
        allowAll()
    }

    deinit {
        counts.deallocate()
        planned.deallocate()
    }

    private func allowAll() {
        for place in trees.indices { (counts[place].ensuredScattered, counts[place].ensuredEnds) = (.max, .max) }
        ensuredBytes = .max
    }

    private func allowNothing() {
        for place in trees.indices { (counts[place].ensuredScattered, counts[place].ensuredEnds) = (0, 0) }
        ensuredBytes = 0
    }

    /// Begins a transaction; called under the gate.
    @inline(__always)
    func begin(_ purpose: WritePurpose, shapes: Int, hidden: UInt64, _ access: Access, notesChanges: Bool) {
        self.notesChanges = notesChanges
        if notesChanges { changed.clear() }
        self.purpose = purpose
        self.access = access
        (bytes, values, valuePages, countedValuePages) = (0, 0, 0, 0)
        used = nil
        looks = 0
        usualCounts.withUnsafeBufferPointer { counts.update(from: $0.baseAddress!, count: $0.count) }
        guard Safeguard.room.stands, let reserve else { return allowAll() }
        if reserve.begin(purpose, rows: usualRows, shapes: shapes, hidden: hidden, access.id) {
            counts[index].ensuredScattered = shapes
            ensuredBytes = Self.usualBytes
        } else {
            allowNothing()
        }
    }

    /// Notes that the transaction adds or claims: from now on it leaves the space for removals, or a half of it, alone, unless it
    /// loads.
    package func use(_ purpose: WritePurpose) {
        let isRemoval = self.purpose == .removing || self.purpose == .returning
        if purpose == .adding && self.purpose != .loading || purpose == .claiming && isRemoval { goOn(for: purpose) }
    }

    /// Goes on for another purpose.
    func goOn(for purpose: WritePurpose) {
        guard purpose != self.purpose else { return }
        self.purpose = purpose
        guard purpose != .applying, ensuredBytes != .max, let reserve, !reserve.hasBound(for: purpose) else { return }
        allowNothing()
    }

    // MARK: Charging

    /// Charges a row that is stored or deleted anywhere in a table; `size` is that of its key and value, or 0.
    ///
    /// The result is whether it is ensured; otherwise the caller calls ``makeRoom()`` before the change.
    @inline(__always)
    func charge(_ database: Database, _ size: Int) -> Bool {
        let count = counts + Int(database.handle)
        count.pointee.scattered &+= 1
        let size = note(size, in: count)
        return count.pointee.scattered <= count.pointee.ensuredScattered && size <= quickBytes
    }

    /// Charges a row that is added at the end of a table or dropped at its beginning.
    @inline(__always)
    func chargeEnd(_ database: Database, _ size: Int) -> Bool {
        let count = counts + Int(database.handle)
        count.pointee.ends &+= 1
        let size = note(size, in: count)
        return count.pointee.ends <= count.pointee.ensuredEnds && size <= quickBytes
    }

    /// Adds a row's bytes, and returns the sum.
    @inline(__always)
    private func note(_ size: Int, in count: UnsafeMutablePointer<TableCount>) -> Int {
        add(size, to: count)
        bytes &+= size
        lastSize = size
        return bytes
    }

    @inline(__always)
    private func add(_ size: Int, to count: UnsafeMutablePointer<TableCount>) {
        if size > largestInTree {
            addValue(size, to: count)
        } else {
            count.pointee.add(size: size)
        }
    }

    @inline(never)
    private func addValue(_ size: Int, to count: UnsafeMutablePointer<TableCount>) {
        count.pointee.add(size: Self.mostKeyBytes)
        values += 1
        valuePages += pages(ofValue: size)
    }

    private func pages(ofValue size: Int) -> Int { (size + 16 + pageSize - 1) / pageSize }

    // MARK: Ensuring

    /// Notes a changed row if changes are noted, and makes sure of its disk space; called for each row that a charge
    /// does not find ensured.
    @inline(never)
    func makeRoom(_ database: Database, _ key: UnsafeRawBufferPointer?, isEnd: Bool) throws(SpaceError) {
        if notesChanges {
            if let key { note(database, key) }
            let count = counts[Int(database.handle)]
            if count.scattered <= count.ensuredScattered, count.ends <= count.ensuredEnds, bytes <= ensuredBytes {
                return
            }
        }
        countPages(database, isEnd)
        try makeRoom()
    }

    /// Counts the pages of the rows that are stored, and goes on to count rows with the one that comes.
    private func countPages(_ database: Database, _ isEnd: Bool) {
        guard let used = access.usedPages else { return }
        countedValuePages += valuePages - values
        (values, valuePages) = (0, 0)
        for place in trees.indices {
            let count = counts[place]
            counts[place] = TableCount(countedScattered: count.allScattered, countedEnds: count.allEnds)
        }
        let count = counts + Int(database.handle)
        if isEnd {
            count.pointee.countedEnds -= 1
            count.pointee.ends = 1
        } else {
            count.pointee.countedScattered -= 1
            count.pointee.scattered = 1
        }
        add(lastSize, to: count)
        countedValuePages -= valuePages - values
        self.used = UsedPages(next: used.next, freed: used.freed, taken: used.taken + countedValuePages)
    }

    func note(_ database: Database, _ key: UnsafeRawBufferPointer) { changed.note(database, key) }

    /// Makes sure of the disk space for all that is counted; throws if there is not enough.
    private func makeRoom() throws(SpaceError) {
        if isLittle, (try? ensure(plan(ahead: nil))) != nil { return }
        if (try? ensure(plan(ahead: 1))) != nil || (try? ensure(plan(ahead: 4))) != nil { return }
        try ensure(plan(ahead: nil), isLast: true)
    }

    /// Whether the transaction is one of the file's first, and has changed little so far: the file does not grow for what it
    /// could change ahead.
    private var isLittle: Bool {
        guard let reserve, looks < Self.fewLooks, reserve.isYoung else { return false }
        looks += 1
        return true
    }

    /// What is counted and some ahead: as much as the transaction has changed so far, or a part of it, or nothing.
    private func plan(ahead share: Int?) -> Plan {
        var plan = Plan(counts: planned, values: values, valuePages: valuePages, used: used)
        func ahead(_ changed: Int) -> Int {
            guard let share, changed > 0 else { return 0 }
            return min(max(changed, Self.rowsAhead.lowerBound), Self.rowsAhead.upperBound) / share
        }
        for place in trees.indices {
            guard let tree = trees[place] else { continue }
            var count = counts[place]
            count.ensuredScattered = count.scattered + ahead(count.allScattered)
            count.ensuredEnds = count.ends + ahead(count.allEnds)
            // A tree that is not changed yet may stay so, and need not be measured.
            if share != nil, count.allScattered == 0, tree.atCommit > 0 { count.ensuredScattered = tree.scattered }
            planned[place] = count
        }
        if let share { plan.bytesAhead = min(max(bytes, Self.usualBytes / 4), Self.mostAhead) / share }
        if plan.bytesAhead > 0 {
            plan.values += plan.bytesAhead / largestInTree + 1
            // A value in pages of its own fills them at least to the half.
            plan.valuePages += 2 * plan.bytesAhead / pageSize + 1
        }
        return plan
    }

    private func ensure(_ plan: Plan, isLast: Bool = false) throws(SpaceError) {
        guard let reserve else { return }
        try reserve.ensure(plan, of: trees, for: purpose, changesMuch: changesMuch, access, isLast: isLast)
        for place in trees.indices {
            counts[place].ensuredScattered = plan.counts[place].ensuredScattered
            counts[place].ensuredEnds = plan.counts[place].ensuredEnds
        }
        ensuredBytes = bytes + plan.bytesAhead
    }

    /// Whether more rows than usual are changed somewhere.
    private var changesMuch: Bool {
        trees.indices.contains { place in
            guard let tree = trees[place], tree.scattered > 0 else { return false }
            return counts[place].allScattered > tree.scattered
        }
    }

    /// Makes sure of the space for rows to come, which are charged as they are stored; `sizes` are those of the rows
    /// with a value.
    func expect(_ rows: [Tree], sizes: [Int]) throws(SpaceError) {
        guard ensuredBytes != .max else { return }
        var plan = plan(ahead: nil)
        for tree in rows {
            plan.counts[tree.place].ensuredScattered += tree.scattered
            plan.counts[tree.place].ensuredEnds += tree.ends
        }
        for size in sizes {
            plan.bytesAhead += size
            guard size > largestInTree else { continue }
            plan.values += 1
            plan.valuePages += pages(ofValue: size)
        }
        try ensure(plan, isLast: true)
    }

    /// Promises the disk space for a transaction that adds tuples, and leaves the space for removals alone.
    ///
    /// It is called between transactions, under the gate; `bytes` are those of all keys and values. The result is `false`
    /// if there is not enough.
    ///
    /// With `slack`, it holds until commits have added that many pages.
    func promise(tuples count: Int, bytes: Int, shapes: Int, slack: Int, _ access: Access) -> Bool {
        guard Safeguard.room.stands, let reserve else { return true }
        return reserve.promise(plan(tuples: count, bytes: bytes, shapes: shapes), of: trees, slack: slack, access)
    }

    /// Makes sure of the disk space for changing rows of some tables, of `bytes` each; returns whether there is enough.
    package func ensuresRoom(forRows count: Int, of bytes: Int, in databases: [Database]) -> Bool {
        let rows = databases.map { Tree(database: $0, scattered: count) }
        do throws(SpaceError) {
            try expect(rows, sizes: Array(repeating: bytes, count: count))
            return true
        } catch {
            return false
        }
    }

    /// Makes sure of the disk space for tuples to come, at the beginning of a transaction; it was promised.
    func expect(tuples count: Int, bytes: Int, shapes: Int) throws(SpaceError) {
        guard ensuredBytes != .max else { return }
        // This includes some space for other changes of the transaction, which was not promised.
        var more = plan(tuples: count, bytes: bytes, shapes: shapes)
        for place in trees.indices {
            guard let tree = trees[place] else { continue }
            more.counts[place].ensuredScattered += tree.isIndex ? shapes : tree.scattered
            more.counts[place].ensuredEnds += tree.ends
        }
        more.bytesAhead += Self.usualBytes / 4
        if (try? ensure(more)) != nil { return }
        try ensure(plan(tuples: count, bytes: bytes, shapes: shapes), isLast: true)
    }

    private func plan(tuples count: Int, bytes: Int, shapes: Int) -> Plan {
        for place in trees.indices {
            var rows = TableCount()
            if trees[place]?.isTuples ?? false { rows.ensuredEnds = count }
            if trees[place]?.isIndex ?? false { rows.ensuredScattered = count * shapes }
            // Any of them may be claimed by then.
            if trees[place]?.hasClaims ?? false { rows.ensuredScattered = count }
            planned[place] = rows
        }
        let overhead = count * (1 + shapes) * Self.rowOverhead
        return Plan(counts: planned, bytesAhead: bytes + overhead, values: 0, valuePages: 0)
    }

    // MARK: For tests

    /// How many changes of rows were charged to a table's tree since the transaction began.
    func changes(of database: Database) -> Int {
        let count = counts[Int(database.handle)]
        return count.allScattered + count.allEnds
    }

    /// The bound for the pages of the last transaction.
    var bound: DiskReserve.Bound { reserve?.bound ?? DiskReserve.Bound() }
}

extension RoomMeter.Tree {
    var place: Int { Int(database.handle) }
}
