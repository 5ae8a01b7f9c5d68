package import LMDB
import SpaceSystem
import SystemPackage

/// The disk space for writing: the data file's blocks, reserved before they are used.
///
/// Guarantees: if the disk is full, a write fails with an error before anything has changed, never by SIGBUS. With a
/// writable map the kernel raises SIGBUS if it can't provide a page. So every page that a transaction could touch has
/// its block before the transaction touches it. The last 4 MiB are for takes and deletes alone, so a full namespace can
/// still be emptied.
///
/// LMDB does not tell how many pages a transaction could add (inside a write transaction `mdb_env_info` shows the last
/// *committed* page). So the number is bounded. Each change of a row copies at most the path to it and splits every
/// page on that path: `2·(depth + 1)` pages per tree, the trees of the free pages and the main database included. Large
/// values and the list of freed pages are added. No tree counts for more pages than it has and can get. The reserve
/// asks for twice that bound, except for large values, which need exactly as many pages as they have. The usual case is
/// one comparison with a still more generous bound, which needs no statistics.
///
/// Everything here happens under the gate.
package final class DiskReserve {
    /// What a transaction is about to do, from which the bound is computed.
    package struct Demand {
        /// How many tuples or cells are added or changed.
        package var additions = 0
        /// The bytes of these additions, rows' headers included.
        package var bytes = 0
        /// How many tuples or cells are removed or moved.
        package var removals = 0
        /// How many of all these are cells; they lie scattered, and have rows only in their own table and the journal.
        package var cells = 0
        /// How many rows of `elements`, which lie scattered, are added, changed or removed.
        package var elements = 0
        /// The bytes of the removed tuples, of which the journal keeps a copy.
        package var removedBytes = 0
        /// The cells whose old values the journal copies, or `nil` for none.
        ///
        /// It is not an empty array, because an array is an object: a demand is copied often, and each copy would count
        /// a reference.
        package var replaced: [String]?
        /// Whether the journal gets rows, and loses old ones.
        private(set) var isJournaled = false
        /// Whether the journal may be emptied, so that all its pages are freed.
        private(set) var mayEmptyJournal = false

        /// Whether nothing is added; only then may the demand use the reserve for removals.
        package var isRemoval: Bool { additions == 0 }

        /// No demand yet: the transaction asks for more as it runs.
        package static var none: Demand { Demand() }

        package static func adding(_ count: Int, bytes: Int) -> Demand { Demand(additions: count, bytes: bytes) }

        /// A demand for removals; `bytes` is the size of the tuples that are moved to `claims` or back.
        package static func removing(_ count: Int, bytes: Int = 0, removed: Int = 0) -> Demand {
            Demand(bytes: bytes, removals: count, removedBytes: removed)
        }

        /// A demand for upkeep after which no watcher may be left that needs the journal.
        package static var emptyingJournal: Demand {
            var demand = removing(1, bytes: 1024)
            demand.mayEmptyJournal = true
            return demand
        }

        package func replacing(cell: String) -> Demand {
            var demand = self
            demand.replaced = [cell]
            return demand
        }

        /// The same demand plus the journal's rows.
        func journaled(_ snapshot: Snapshot) throws(SpaceError) -> Demand {
            var demand = self
            demand.bytes += bytes + removedBytes + (additions + removals) * (JournalRow.headerSize + 64)
            for key in replaced ?? [] { demand.bytes += try snapshot.cell(key)?.count ?? 0 }
            demand.isJournaled = true
            if mayEmptyJournal {
                let pages = try lmdb { () throws(LMDBError) in
                    try snapshot.access.statistics(snapshot.tables.journal).pages
                }
                // mdb.c, mdb_freelist_save: the list of the pages that a transaction freed is one value, eight bytes
                // per page.
                demand.bytes += 2 * 8 * min(max(pages, 0), Limits.mapBytes / 4096)
            }
            return demand
        }

        package static func + (a: Demand, b: Demand) -> Demand {
            Demand(
                additions: a.additions + b.additions,
                bytes: a.bytes + b.bytes,
                removals: a.removals + b.removals,
                cells: a.cells + b.cells,
                elements: a.elements + b.elements,
                removedBytes: a.removedBytes + b.removedBytes,
                replaced: a.replaced.map { $0 + (b.replaced ?? []) } ?? b.replaced,
                isJournaled: a.isJournaled || b.isJournaled,
                mayEmptyJournal: a.mayEmptyJournal || b.mayEmptyJournal
            )
        }
    }

    private let pageSize: Int
    private static let deepestTree = 8
    /// How many lists of free pages LMDB searches for contiguous pages, per page (mdb.c, mdb_page_alloc).
    private static let listsLookedThrough = 60
    /// How much is reserved at once: an eighth of the file, within these bounds. (On tmpfs, 1 GiB takes 285 ms, under
    /// the gate.)
    private static let steps = (1 << 20)...(64 << 20)

    private let environment: Environment
    private let control: ControlFile
    private let tables: Tables
    private let pagesAhead: PagesAhead?
    /// The free list's pages that can be used without growing, as last counted, less what demands have used since.
    private var freePages = FreePages(count: 0, longestRun: 0, lists: 0)
    /// The transaction in which they were last counted or used.
    private var countedFor = -1
    /// The first transaction in which reserving ahead of need may be tried again.
    private var growsAheadFrom = 0
    /// How many transactions pass after a failure to reserve ahead.
    private static let aheadPause = 1024

    package init(environment: Environment, control: ControlFile, tables: Tables) {
        self.environment = environment
        self.control = control
        self.tables = tables
        pageSize = max(512, environment.pageSize)
        pagesAhead =
            control.header.mode == .durable
            ? PagesAhead(descriptor: environment.descriptor, pageSize: pageSize) : nil
    }

    /// Makes sure that a demand has its blocks, or throws before anything has changed.
    func ensure(_ demand: Demand, shapes: Int, _ access: Access) throws(SpaceError) {
        guard Safeguard.room.stands else { return }
        let end = environment.info.lastPage + 1
        try ensure(demand, shapes: shapes, access, from: end)
        pagesAhead?.prepare(for: demand.bytes, from: end, reserved: Int(clamping: control.reserved.loadRelaxed()))
    }

    @inline(__always)
    private func ensure(_ demand: Demand, shapes: Int, _ access: Access, from end: Int) throws(SpaceError) {
        let reserve = demand.isRemoval ? 0 : Limits.removalReserve / pageSize
        let reserved = Int(clamping: control.reserved.loadRelaxed()) / pageSize
        if demand.additions + demand.removals <= 1, demand.bytes < 1 << 16, demand.elements <= 16 {
            let generous =
                2 * (Tables.count + 2 + shapes + demand.elements) * 2 * (Self.deepestTree + 1) + 64 + end / 64
            if end + generous + reserve <= reserved || growAhead(to: end + generous + reserve, for: demand, access.id) {
                return
            }
        }
        try ensureExactly(demand, shapes: shapes, access, end: end, reserve: reserve)
    }

    /// Reserves so much that the next transactions need no statistics, which cost as much as a write.
    ///
    /// Without it, the usual case's bound would hardly ever be met in a namespace that grows. The result is `false` if
    /// the blocks can't be reserved; the existing ones may be enough even so.
    private func growAhead(to pages: Int, for demand: Demand, _ transaction: Int) -> Bool {
        guard transaction >= growsAheadFrom, pages * pageSize <= Int(control.header.byteLimit) else { return false }
        try? environment.forgetDeadReaders()
        do throws(SpaceError) {
            try grow(to: pages, for: demand)
            return true
        } catch {
            growsAheadFrom = transaction + Self.aheadPause
            return false
        }
    }

    /// The bound for a demand, in pages.
    private struct Need {
        /// Pages of the trees; each of them can lie anywhere.
        var single: Int
        /// Pages of values that have pages of their own; those of one value are contiguous.
        var large: Int
        /// How many such values there can be.
        var rows: Int

        var all: Int { single + large }
    }

    private func ensureExactly(
        _ demand: Demand,
        shapes: Int,
        _ access: Access,
        end: Int,
        reserve: Int
    ) throws(SpaceError) {
        let need: Need
        do throws(LMDBError) {
            need = try self.need(for: demand, shapes: shapes, access)
        } catch {
            throw SpaceError(error)
        }
        let wanted = end + need.all + reserve
        if wanted * pageSize <= Int(clamping: control.reserved.load()) { return }
        // The slots of dead readers pin every page that was freed since, until a process checks the readers.
        try? environment.forgetDeadReaders()
        do throws(SpaceError) {
            try grow(to: wanted, for: demand)
            return
        } catch  where error.code == .limitReached || error.code == .storageFull {
            // There are no more blocks to reserve. But the reserved blocks contain pages that were freed.
            let tail = max(0, Int(clamping: control.reserved.load()) / pageSize - end)
            // They are counted anew if another process has written since, because it uses the same pages.
            if access.id != countedFor &+ 1 || !suffices(tail, for: need, reserve: reserve) {
                do throws(LMDBError) {
                    freePages = try countReusablePages(lastPage: end - 1)
                } catch .readersFull {
                    throw explain(error)
                } catch {
                    throw SpaceError(error)
                }
            }
            guard suffices(tail, for: need, reserve: reserve) else { throw explain(error) }
            freePages.count -= need.all
            freePages.longestRun -= need.all
            countedFor = access.id
        }
    }

    /// Whether freed pages, and pages with blocks after the last one, are enough for a demand.
    ///
    /// The bound for single pages is doubled once more, because LMDB takes them from wherever it looks first. The count
    /// for large values is exact: a namespace that was emptied has space for as many as it had when it was new.
    ///
    /// A large value needs contiguous pages. LMDB looks for them among all freed pages, the lowest first; if it finds
    /// none, it goes beyond the last page. So there must be a free run that is long enough, even if single pages are
    /// taken from it, or there must be as many pages after the last one.
    ///
    /// The number of the last page never falls, so pages that are taken after it are gone from there for good. An
    /// addition goes beyond the last page only if the whole reserve is left there. Otherwise there must be a free run,
    /// and the pages after the last one are for the case that LMDB does not find it. Besides, a run must stay free
    /// somewhere into which a tuple of the same size can be moved when it is claimed.
    private func suffices(_ tail: Int, for need: Need, reserve: Int) -> Bool {
        guard freePages.count + tail >= need.single + need.all + reserve else { return false }
        // LMDB searches a limited number of lists for each page of a value, and then goes beyond the last page.
        let row = tail >= need.rows * (freePages.lists / Self.listsLookedThrough) ? freePages.longestRun : 0
        if reserve == 0 { return need.large == 0 || tail >= need.large || row >= need.all }
        if tail >= need.large + reserve { return true }
        let spare = max(reserve / 3, need.all)
        return row >= need.large && tail >= need.large + spare || row >= need.all && tail >= spare
            || row >= need.all + spare
    }

    /// Counts free pages in a read transaction of its own, because LMDB shows the list of free pages in no other.
    ///
    /// Nothing has been changed yet, so it is the list with which the write transaction began.
    private func countReusablePages(lastPage: Int) throws(LMDBError) -> FreePages {
        let oldest = oldestReader() ?? environment.lastTransaction
        let reader = try environment.beginRead()
        return try reader.access.reusableFreePages(oldestReader: oldest, lastPage: lastPage)
    }

    private func need(for demand: Demand, shapes: Int, _ access: Access) throws(LMDBError) -> Need {
        let changes = demand.additions + demand.removals
        // Cells have rows only in their own table and in the journal.
        let others = max(1, changes - demand.cells)
        let removals = max(1, min(demand.removals, others))
        let free = try access.freeListStatistics()
        // Tuples are appended, so a batch shares the path, and fills pages. All other rows are scattered.
        var changed = touched(try access.statistics(tables.tuples), rows: removals, bytes: 32)
        changed += touched(try access.statistics(tables.index), rows: others * max(1, shapes), bytes: 32)
        changed += touched(try access.statistics(tables.expiries), rows: others, bytes: 32)
        changed += touched(try access.statistics(tables.cells), rows: max(1, demand.cells), bytes: 32)
        if demand.elements > 0 {
            changed += touched(try access.statistics(tables.elements), rows: demand.elements, bytes: 32)
        }
        // Each change adds a row at the end, and drops up to four at the beginning.
        changed += touched(try access.statistics(tables.journal), rows: 5 * max(1, changes), bytes: 0)
        // A large row drops as many bytes of small, contiguous ones; LMDB's pages are at least a quarter full.
        if demand.isJournaled { changed += 4 * (demand.bytes / pageSize) }
        changed += touched(try access.statistics(tables.elements), rows: others, bytes: 64)
        // These are claims and holds, the counters, a watcher, two objects and a shape.
        changed += touched(try access.statistics(tables.main), rows: removals + others + 5, bytes: 64)
        changed += touched(free, rows: 1, bytes: 0)
        changed += demand.additions / 16
        let values = demand.bytes / pageSize
        if values == 0 { changed += 2 }
        let rows = (demand.isJournaled ? 2 : 1) * max(1, changes)
        return Need(
            single: 2 * (changed + changed / 500 + 1) + 2 * free.pages,
            // At worst, pages are half full. A value in pages of its own leaves less than two of them unused, and so
            // does each row of the journal.
            large: values == 0 ? 0 : min(4 * (values + 1), values + 2 * rows),
            rows: min(rows, values)
        )
    }

    /// How many pages of a table a number of changes can touch.
    ///
    /// Each change touches a path and splits each of its levels. There are never more than the pages that the table has
    /// and can get.
    private func touched(_ table: Statistics, rows: Int, bytes: Int) -> Int {
        let path = 2 * (table.depth + 1)
        return min(rows * path, table.pages + rows * bytes / (pageSize / 4) + path)
    }

    private func grow(to pages: Int, for demand: Demand) throws(SpaceError) {
        let limit = Int(control.header.byteLimit)
        let start = Int(clamping: control.reserved.load())
        let wanted = pages * pageSize
        let step = min(max(start / 8, Self.steps.lowerBound), Self.steps.upperBound)
        guard wanted <= limit else {
            // The little that the limit leaves is useful all the same. If the disk has not even that much, the disk is
            // what is full.
            let rest = limit / pageSize * pageSize
            if start < rest, rest - start <= step {
                do throws(Errno) {
                    try reserve(from: start, to: rest)
                } catch {
                    throw SpaceError(error, subject: "the data file")
                }
            }
            throw refusal(of: demand, limit)
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

    private func refusal(of demand: Demand, _ limit: Int) -> SpaceError {
        demand.isRemoval && demand.removals > 1
            ? SpaceError(
                .limitReached,
                reason:
                    "to move or remove \(demand.removals) tuples at once takes more room than the namespace's limit of "
                    + "\(limit) bytes leaves",
                advice: "take fewer at once"
            )
            : SpaceError(
                .limitReached,
                reason: "the namespace has reached its limit of \(limit) bytes",
                advice: "take or delete tuples, or create it with a larger limit"
            )
    }

    private func reserve(from start: Int, to end: Int) throws(Errno) {
        // Without a writable map, the file ends where something was last written, and the blocks after the end are only
        // reserved.
        try Blocks.reserve(environment.descriptor, from: start, to: end, keepSize: control.header.mode != .fast)
        control.reserved.store(UInt64(end))
    }

    /// The oldest snapshot that is being read, or `nil` if none is.
    private func oldestReader() -> Int? {
        (try? environment.readers())?.compactMap(\.transaction).min()
    }

    /// Names the living reader that pins freed pages, if there is one: then the limit is not reached by living data.
    private func explain(_ error: SpaceError) -> SpaceError {
        let readers = (try? environment.readers()) ?? []
        let last = environment.lastTransaction
        guard
            let oldest = readers.filter({ $0.transaction.map { last &- $0 > 64 } ?? false })
                .min(by: { ($0.transaction ?? 0) < ($1.transaction ?? 0) })
        else { return error }
        return SpaceError(
            error.code,
            error.operation,
            holder: oldest.pid,
            reason: "\(error.reason), and process \(oldest.pid) has been reading the same snapshot for "
                + "\(last &- (oldest.transaction ?? last)) transactions, which keeps freed pages from being used",
            advice: "let process \(oldest.pid) go on, or end it"
        )
    }
}
