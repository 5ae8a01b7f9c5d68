package import LMDB
import SpaceSystem
import SystemPackage

/// The disk space for writing: the data file's blocks, reserved before they are used.
///
/// Guarantees: if the disk is full, a write fails with an error that leaves everything as it was, never by SIGBUS. With
/// a writable map the kernel raises SIGBUS if it can't provide a page. So every page that a transaction could touch has
/// its block before the transaction touches it: ``RoomMeter`` counts the changes, and this class turns the counts into
/// pages. Only claims, takes and deletes may use the last 4 MiB (less in a small file, more if many shapes have an
/// index), claims only one half of them, and returns three quarters; and additions also leave what claimed tuples need
/// for their rows in the index when they return. So a full namespace can still be emptied, and what is claimed can return.
///
/// What a transaction has used so far is known (``UsedPages``). What it will still use is bounded: for the rows that
/// are about to be changed, and for the commit. Each change of a row copies at most the path to it and splits every
/// page on that path: `2·(depth + 1)` pages per tree, the trees of the free pages and the main database included. Rows
/// at a tree's end share one path and fill the pages that they add. Large values and the list of freed pages are added.
/// No tree counts for more pages than it has and can get. The reserve asks for twice that bound, except for large
/// values, which need exactly as many pages as they have. The usual case is one comparison with a still more generous
/// bound, which needs no statistics. (If the used pages can't be read from this liblmdb, all rows of the transaction
/// are bounded.) That bound is some MiB, so the file grows to it only after its first transactions: a namespace that is
/// hardly used stays small, and measures each time.
///
/// Everything here happens under the gate.
package final class DiskReserve {
    let pageSize: Int
    private static let deepestTree = 8
    /// How many lists of free pages LMDB searches for contiguous pages, per page (mdb.c, mdb_page_alloc).
    private static let listsLookedThrough = 60
    /// How much is reserved at once: an eighth of the file, within these bounds; of a file below 4 MiB, a quarter. (On tmpfs,
    /// 1 GiB takes 285 ms, under the gate.)
    private static let steps = (1 << 20)...(64 << 20)
    private static let firstStep = 64 << 10
    /// How much more than is needed stays reserved: a batch has to be sure of a few MiB more than it uses, and the next batch
    /// would reserve them again.
    private static let keptSpare = 4 << 20
    /// The transactions, and the pages, after which the file grows to the bound that needs no statistics.
    private static let (youngTransactions, youngPages) = (256, 256)

    let environment: Environment
    let control: ControlFile
    private let pagesAhead: PagesAhead?
    /// Whether blocks were reserved (perhaps by a killed process) that no process has looked at since.
    private var mayHaveSpare = false
    /// How many bytes were reserved as the transaction began.
    private var reservedAtBegin = 0
    /// How many pages the last usual transaction and the last promise wanted beyond the last page.
    private var usualPages = 0
    private var promisedPages = 0
    /// The first page after LMDB's last one as the transaction began.
    private var end = 0
    /// What is kept for removals, as the transaction began.
    private var kept: KeptPages
    /// Whether the transaction has looked for space beyond the usual, so that the following properties are its own.
    private var hasLooked = false
    /// How many pages were refused, and why.
    private var refused: (pages: Int, error: SpaceError)?
    /// What the transaction is known to use at most.
    private(set) var bound = Bound()
    /// Whether the free pages were counted in this transaction.
    private var isCounted = false
    private var areFreePagesKnown = false
    /// How many of the free pages the transaction may use.
    private var taken = 0
    /// The free list's pages that can be used without growing, as last counted, less what transactions have used since.
    private var freePages = FreePages(count: 0, longestRun: 0, lists: 0)
    /// The oldest snapshot that was read as they were counted, or else the last transaction.
    private var countedBeside = 0
    /// The transaction in which they were last counted or used.
    private var countedFor = -1
    /// The first transaction in which reserving ahead of need may be tried again.
    private var growsAheadFrom = 0
    /// How many transactions pass after a failure to reserve ahead.
    private static let aheadPause = 1024

    package init(environment: Environment, control: ControlFile) {
        self.environment = environment
        self.control = control
        pageSize = max(512, environment.pageSize)
        kept = KeptPages(pageSize: pageSize, shapes: 0)
        pagesAhead =
            control.header.mode == .durable
            ? PagesAhead(descriptor: environment.descriptor, pageSize: pageSize) : nil
    }

    /// Begins a transaction, and returns whether there are the blocks for what a usual one changes.
    ///
    /// If there are not, the transaction ensures each change as it comes.
    @inline(__always)
    func begin(_ purpose: WritePurpose, rows: Int, shapes: Int, hidden: UInt64, _ transaction: Int) -> Bool {
        kept = KeptPages(pageSize: pageSize, shapes: shapes, hidden: hidden)
        end = environment.info.lastPage + 1
        hasLooked = false
        reservedAtBegin = Int(clamping: control.reserved.loadRelaxed())
        let cheap = cheapBound(UsedPages(next: end, freed: 0, taken: 0), rows: rows + shapes, bytes: 0)
        bound = Bound(end: cheap, pages: cheap - end)
        usualPages = cheap - end
        if hasBound(for: purpose) { return true }
        return !isYoung && growAhead(to: cheap + reserve(for: purpose, beside: cheap), transaction)
    }

    /// Whether there are the blocks for what the transaction is known to use at most, beside what it leaves alone.
    @inline(__always)
    func hasBound(for purpose: WritePurpose) -> Bool {
        (bound.end + reserve(for: purpose, beside: bound.end)) * pageSize <= room(for: purpose)
    }

    /// Writes pages ahead of their use for a transaction that is about to be committed and has stored `bytes`.
    @inline(__always)
    func prepareCommit(_ bytes: Int) {
        pagesAhead?.prepare(for: bytes, from: end, reserved: Int(clamping: control.reserved.loadRelaxed()))
    }

    /// How many bytes of the file have blocks that a transaction may use.
    ///
    /// Applied entries may have made the file larger than the limit; an addition still keeps the limit.
    @inline(__always)
    private func room(for purpose: WritePurpose) -> Int {
        let reserved = Int(clamping: control.reserved.loadRelaxed())
        return purpose == .adding ? min(reserved, Int(clamping: control.header.byteLimit)) : reserved
    }

    @inline(__always)
    private func reserve(for purpose: WritePurpose, beside end: Int) -> Int { kept.pages(for: purpose, beside: end) }

    /// Whether this many shapes can have an index: whether what is kept for removals is then at most a quarter of the
    /// limit.
    func hasRoom(forShapes shapes: Int) -> Bool {
        KeptPages(pageSize: pageSize, shapes: shapes).most * pageSize <= Int(clamping: control.header.byteLimit) / 4
    }

    /// Whether the file still grows by what is measured.
    @inline(__always)
    var isYoung: Bool {
        environment.lastTransaction < Self.youngTransactions && environment.info.lastPage < Self.youngPages
    }

    /// Whether the data file has so nearly grown to its limit that an addition may depend on free pages.
    var isNearLimit: Bool {
        let (used, limit) = (environment.info.lastPage + 1, Int(clamping: control.header.byteLimit))
        return (used + kept.pages(beside: used)) * pageSize > limit - limit / 8
    }

    /// Whether a good part of what is kept for removals is used, by claims for example.
    var isKeptPartUsed: Bool {
        let used = environment.info.lastPage + 1
        return (used + kept.pages(beside: used) * 3 / 4) * pageSize > room(for: .adding)
    }

    /// A bound for the last page that needs no statistics: the deepest trees, and an allowance for the rest.
    @inline(__always)
    private func cheapBound(_ used: UsedPages, rows: Int, bytes: Int) -> Int {
        used.next + 2 * rows * 2 * (Self.deepestTree + 1) + 4 * (bytes / pageSize) + 64 + used.next / 64
    }

    /// Reserves so much that the next transactions need no statistics, which cost as much as a write.
    ///
    /// Without it, the usual case's bound would hardly ever be met in a namespace that grows. The result is `false` if
    /// the blocks can't be reserved; the existing ones may be enough even so.
    private func growAhead(to pages: Int, _ transaction: Int) -> Bool {
        guard transaction >= growsAheadFrom, pages * pageSize <= Int(control.header.byteLimit) else { return false }
        try? environment.forgetDeadReaders()
        do throws(SpaceError) {
            try grow(to: pages)
            return true
        } catch {
            growsAheadFrom = transaction + Self.aheadPause
            return false
        }
    }

    /// What a transaction uses at most.
    struct Bound {
        /// The first page after those that it uses.
        var end = 0
        /// How many pages it uses, free ones among them.
        var pages = 0
    }

    /// The bound for rows that come, and for the commit, in pages.
    private struct Need {
        /// Pages of the trees; each of them can lie anywhere.
        var single: Int
        /// Pages of values that have pages of their own; those of one value are contiguous.
        var large: Int
        /// How many such values there can be.
        var rows: Int
        /// Pages of the list of the pages that the transaction frees, which are contiguous.
        var list: Int
        /// Pages of the existing values that can be moved: of claimed tuples, and of tuples that can be claimed.
        var movable: Int

        var all: Int { single + large }
        /// Pages that must be contiguous, at most; a value of one page can lie anywhere.
        var contiguous: Int { large > rows ? large : 0 }
    }

    /// Makes sure that all that a transaction changes according to a plan, from its start on, has its blocks.
    ///
    /// It throws before anything of what is not yet ensured has changed. `isLast` is whether the transaction fails if
    /// this does; only then the error names a reader that is in the way. `changesMuch` is for the error alone.
    func ensure(
        _ plan: RoomMeter.Plan,
        of trees: [RoomMeter.Tree?],
        for purpose: WritePurpose,
        changesMuch: @autoclosure () -> Bool,
        _ access: Access,
        isLast: Bool
    ) throws(SpaceError) {
        let used = plan.used ?? UsedPages(next: end, freed: 0, taken: 0)
        var rows = 2
        for count in plan.counts { rows += count.ensuredScattered + count.ensuredEnds }
        let cheap = cheapBound(used, rows: rows, bytes: plan.bytesAhead) + plan.valuePages
        if (cheap + reserve(for: purpose, beside: cheap)) * pageSize <= room(for: purpose) {
            return note(Bound(end: cheap, pages: used.taken + cheap - used.next), access.id)
        }
        let need = try lmdb { () throws(LMDBError) in try self.need(for: plan, of: trees, access) }
        note(Bound(end: used.next + need.all, pages: used.taken + need.all), access.id)
        let wanted = bound.end + reserve(for: purpose, beside: bound.end)
        if wanted * pageSize <= room(for: purpose) { return }
        if !hasLooked { beginLooking(access.id) }
        do throws(SpaceError) {
            if let refused, wanted >= refused.pages { throw refused.error }
            do throws(SpaceError) {
                try grow(to: wanted)
            } catch {
                refused = (wanted, error)
                throw error
            }
        } catch  where error.code == .limitReached || error.code == .storageFull {
            // There are no more blocks to reserve. But the reserved blocks contain pages that were freed.
            let tail = max(0, room(for: purpose) / pageSize - used.next)
            // The pages that the transaction has not taken after the last one were free ones.
            let taken = max(0, used.taken - (used.next - end))
            if !isCounted, !areFreePagesKnown || !suffices(tail, taken, for: need, purpose) {
                do throws(LMDBError) {
                    freePages = try countReusablePages(lastPage: end - 1)
                } catch .readersFull {
                    throw explain(error)
                } catch {
                    throw SpaceError(error)
                }
                (isCounted, areFreePagesKnown) = (true, true)
            }
            guard suffices(tail, taken, for: need, purpose) else {
                if !isLast { throw error }
                if purpose == .applying, error.code == .limitReached, end * pageSize <= mostApplied {
                    let limit = max(mostReserved, wanted * pageSize)
                    return try grow(to: wanted, limit: min(limit, Int(clamping: control.header.mapSize)))
                }
                let cause = purpose != .adding && error.code == .limitReached && changesMuch() ? tooMuch : error
                guard let snapshot = snapshotInTheWay(tail, taken, of: need, purpose) else {
                    throw explain(cause)
                }
                throw explain(cause, inTheWay: snapshot).with(snapshotInTheWay: snapshot)
            }
            (self.taken, countedFor) = (taken + need.all, access.id)
        }
    }

    /// Notes what the transaction uses at most from now on, of the free pages too.
    private func note(_ bound: Bound, _ transaction: Int) {
        self.bound = bound
        if countedFor == transaction { taken = max(taken, bound.pages) }
    }

    /// Makes sure, between two transactions, that one which adds what the plan says will have its blocks, beside those
    /// for removals; `false` if there are not enough.
    func promise(_ plan: RoomMeter.Plan, of trees: [RoomMeter.Tree?], slack: Int, _ access: Access) -> Bool {
        do {
            let need = try need(for: plan, of: trees, access)
            promisedPages = need.all + slack
            let used = environment.info.lastPage + 1 + promisedPages
            let wanted = used + reserve(for: .adding, beside: used)
            if wanted * pageSize <= room(for: .adding) { return true }
            return growAhead(to: wanted, access.id)
        } catch {
            return false
        }
    }

    /// Forgets what held for the last transaction that found no usual space.
    private func beginLooking(_ transaction: Int) {
        hasLooked = true
        isCounted = false
        refused = nil
        // The slots of dead readers pin every page that was freed since, until a process checks the readers.
        try? environment.forgetDeadReaders()
        // They are counted again if another process has written since, because it uses the same pages.
        areFreePagesKnown = transaction == countedFor &+ 1
        freePages.count -= taken
        freePages.longestRun -= taken
        taken = 0
    }

    /// Whether freed pages, and pages with blocks after the last one, are enough.
    ///
    /// The bound for single pages is doubled once more, because LMDB takes them from wherever it looks first. The count
    /// for large values is exact: a namespace that was emptied has space for as many as it had when it was new.
    ///
    /// A large value needs contiguous pages. LMDB looks for them among all freed pages, the lowest first; if it finds
    /// none, it goes beyond the last page. So there must be a free run that is long enough, even if single pages are
    /// taken from it, or there must be as many pages after the last one.
    ///
    /// The number of the last page never falls, so pages that are taken after it never become free there again. An
    /// addition goes beyond the last page only if the whole reserve is left there. Otherwise there must be a free run,
    /// and the pages after the last one are for the case that LMDB does not find it. In addition, if there is a tuple
    /// of the same size with pages of its own, a run must stay free into which that tuple can be moved when it is
    /// claimed. The reason: the changes that watchers read are between the pages of an emptied namespace, so it may
    /// have no long run.
    private func suffices(_ tail: Int, _ taken: Int, for need: Need, _ purpose: WritePurpose) -> Bool {
        let free = freePages.count - taken
        // A large claimed value needs as many pages as it frees. And the file does not grow by free pages, which LMDB takes
        // first.
        let isLargeClaim = [.claiming, .returning].contains(purpose) && need.contiguous > 0
        let reserve = isLargeClaim ? 0 : reserve(for: purpose, beside: bound.end - min(need.single, max(0, free)))
        guard free + tail >= need.single + need.all + reserve else { return false }
        // LMDB searches a limited number of lists for each page of a value, and then goes beyond the last page. It takes
        // single pages from the lowest ones, so what it took may be a part of the longest run.
        let longest = max(0, freePages.longestRun - taken)
        guard need.list == 1 || tail >= need.list || longest >= need.list else { return false }
        let row = tail >= need.rows * (freePages.lists / Self.listsLookedThrough) ? longest : 0
        if purpose != .adding { return need.contiguous == 0 || tail >= need.large || row >= need.all }
        if tail >= need.large + reserve { return true }
        // In a replica, what is moved may go beyond the limit.
        let moved = control.staying.isReplica ? 0 : min(reserve / 3, need.movable + need.contiguous)
        if moved == 0 { return need.contiguous == 0 || row >= need.all }
        let spare = max(moved, need.all)
        return row >= need.large && tail >= need.large + spare || row >= need.all && tail >= spare
            || row >= need.all + spare
    }

    /// Counts free pages in a read transaction of its own, because LMDB shows the list of free pages in no other.
    ///
    /// It is the list with which the write transaction began; the plan counts all that the transaction changes.
    private func countReusablePages(lastPage: Int) throws(LMDBError) -> FreePages {
        let oldest = oldestReader() ?? environment.lastTransaction
        countedBeside = oldest
        return try countPages(freedBefore: oldest, lastPage: lastPage)
    }

    private func countPages(freedBefore transaction: Int, lastPage: Int) throws(LMDBError) -> FreePages {
        let reader = try environment.beginRead()
        return try reader.access.reusableFreePages(oldestReader: transaction, lastPage: lastPage)
    }

    /// The snapshot that was the oldest one as the free pages were counted, if they would be enough without it.
    private func snapshotInTheWay(_ tail: Int, _ taken: Int, of need: Need, _ purpose: WritePurpose) -> Int? {
        let (oldest, last, counted) = (countedBeside, environment.lastTransaction, freePages)
        guard isCounted, oldest < last else { return nil }
        defer { freePages = counted }
        guard let all = try? countPages(freedBefore: last, lastPage: end - 1) else { return nil }
        freePages = all
        return suffices(tail, taken, for: need, purpose) ? oldest : nil
    }

    private func need(for plan: RoomMeter.Plan, of trees: [RoomMeter.Tree?], _ access: Access) throws(LMDBError) -> Need
    {
        let free = try access.freeListStatistics()
        var changed = touched(free, rows: 1, bytes: 0)
        var movable = 0
        for place in trees.indices {
            let count = plan.counts[place]
            if let tree = trees[place], tree.isTuples {
                movable += try access.statistics(tree.database).overflowPages
            }
            guard let tree = trees[place], count.ensuredScattered + count.ensuredEnds + tree.atCommit > 0 else {
                continue
            }
            let statistics = try access.statistics(tree.database)
            let bytes = count.bytes + plan.bytesAhead
            changed += touched(statistics, rows: count.ensuredScattered + tree.atCommit, bytes: bytes)
            // Rows at the ends share their paths. LMDB's pages are at least a quarter full.
            let path = 2 * (statistics.depth + 1)
            changed += min(count.ensuredEnds * path, 4 * bytes / pageSize + 2 * path)
        }
        let freed = changed + (plan.used?.freed ?? 0)
        return Need(
            single: 2 * (changed + freed / 500 + 1) + 2 * free.pages,
            large: plan.valuePages,
            rows: plan.values,
            list: freed * MemoryLayout<UInt>.size / pageSize + 1,
            movable: movable
        )
    }

    /// How many pages of a table a number of changes can touch.
    ///
    /// Each change touches a path and splits each of its levels. There are never more than the pages that the table has
    /// and can get.
    private func touched(_ table: Statistics, rows: Int, bytes: Int) -> Int {
        let path = 2 * (table.depth + 1)
        return rows == 0 ? 0 : min(rows * path, table.pages + 4 * bytes / pageSize + path)
    }

    /// The size up to which entries are applied beyond the limit: otherwise a stopped reader would let the file grow
    /// without end.
    private var mostApplied: Int { 2 * Int(clamping: control.header.byteLimit) }

    /// How much is reserved for such entries: LMDB may go beyond the last page although there are free pages.
    private var mostReserved: Int { mostApplied + mostApplied / 8 }

    private func grow(to pages: Int) throws(SpaceError) {
        try grow(to: pages, limit: Int(clamping: control.header.byteLimit))
    }

    private func grow(to pages: Int, limit: Int) throws(SpaceError) {
        let start = Int(clamping: control.reserved.load())
        let wanted = pages * pageSize
        let step = step(for: start)
        guard wanted <= limit else {
            // Even the little that the limit leaves is useful. If the disk has less than that, it is the disk that is
            // full.
            let rest = limit / pageSize * pageSize
            if start < rest, rest - start <= step {
                do throws(Errno) {
                    try reserve(from: start, to: rest)
                } catch {
                    throw SpaceError(error, subject: "the data file")
                }
            }
            throw .limitReached(
                "the namespace has reached its limit of \(limit) bytes",
                advice: "take or delete tuples, or create it with a larger limit"
            )
        }
        let target = min(limit, max(wanted, start + step) + pageSize - 1) / pageSize * pageSize
        do throws(Errno) {
            try reserve(from: start, to: target)
        } catch {
            guard error == .noSpace, target > wanted else { throw SpaceError(error, subject: "the data file") }
            do throws(Errno) {
                try reserve(from: start, to: wanted)
            } catch {
                throw SpaceError(error, subject: "the data file")
            }
        }
    }

    // MARK: Giving back

    /// Notes that a killed process may have reserved more than is needed.
    func noteUnknownReserve() { mayHaveSpare = true }

    /// Gives back the blocks that a transaction had to be sure of and has not used; called when it has ended.
    ///
    /// `hasPromise` is whether the disk space that was promised between transactions is still needed.
    @inline(__always)
    func giveBack(hasPromise: @autoclosure () -> Bool) { if mayHaveSpare { giveBackSpare(hasPromise()) } }

    /// Lowers the reserve to what the next transactions need, if there is much beyond that.
    ///
    /// It first lowers the number, so that no blocks are promised that are gone, even if this process is killed in
    /// between. Blocks that a process killed there has left are freed with the next ones. Under the gate no other
    /// process reserves or uses blocks, and no page beyond the last one is read.
    @inline(never)
    private func giveBackSpare(_ hasPromise: Bool) {
        mayHaveSpare = false
        let start = Int(clamping: control.reserved.load())
        let used = (environment.info.lastPage + 1) * pageSize
        let step = step(for: used)
        let ahead = max(step, max(isYoung ? 0 : usualPages, promisedPages) * pageSize)
        var rest = max(
            used + ahead + kept.pages(beside: (used + ahead) / pageSize) * pageSize,
            Limits.reserveAtBirth
        )
        // What was promised before this transaction was a part of what was reserved then.
        if hasPromise { rest = max(rest, reservedAtBegin) }
        guard start - rest > max(step, Self.keptSpare) else { return }
        rest = (rest + pageSize - 1) / pageSize * pageSize
        control.reserved.store(UInt64(rest))
        CrashPoint.reach(.reserveLowered)
        try? Blocks.cut(environment.descriptor, to: rest, length: length(beyond: rest))
    }

    private func step(for bytes: Int) -> Int {
        let small = max(bytes / 4, Self.firstStep)
        return min(max(bytes / 8, min(small, Self.steps.lowerBound)), Self.steps.upperBound)
    }

    func reserve(from start: Int, to end: Int) throws(Errno) {
        mayHaveSpare = true
        try Blocks.reserve(environment.descriptor, from: start, to: end, length: length(beyond: end))
        control.reserved.store(UInt64(end))
    }

    /// The oldest snapshot that is being read, or `nil` if none is.
    private func oldestReader() -> Int? {
        (try? environment.readers())?.compactMap(\.transaction).min()
    }
}
