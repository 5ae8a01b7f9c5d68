package import LMDB
import SpaceSystem
import SystemPackage

/// Room to write: the data file's blocks, reserved ahead of use.
///
/// Guarantees: a full disk is an error before anything was changed, never a SIGBUS. With a writable map the kernel raises
/// SIGBUS when a page can't be had, so every page that a transaction could touch has its block before the transaction
/// touches it. The last 4 MiB are for takes and deletes alone: a full namespace can still be emptied.
///
/// How many pages a transaction could add is not to be had from LMDB (inside a write transaction `mdb_env_info` shows the
/// last *committed* page), so it is bounded: each change of a row copies at most the path to it and splits every page on
/// it, `2·(depth + 1)` pages a tree, those of the free pages and the main database included; plus large values, plus the list
/// of freed pages; and never more than a tree has and gets. Twice that is asked for, but for the large values, whose pages are
/// exactly as many as they need. The usual case is one comparison
/// against a still more generous bound that needs no statistics.
///
/// Everything here happens under the gate.
package final class DiskReserve {
    /// What a transaction is about to do, for the bound.
    package struct Demand {
        /// Tuples or cells added or changed.
        package var additions = 0
        /// Their bytes, rows' headers included.
        package var bytes = 0
        /// Tuples or cells removed or moved.
        package var removals = 0
        /// How many of all these are cells, which lie scattered and have rows nowhere else but in the journal.
        package var cells = 0
        /// Rows of `elements` added, changed or removed, which lie scattered.
        package var elements = 0
        /// The bytes of tuples that are removed, which the journal keeps a copy of.
        package var removedBytes = 0
        /// Cells whose old values the journal keeps a copy of; `nil`: none.
        ///
        /// Not an empty array, which is an object: a demand is copied often, and each copy would count a reference.
        package var replaced: [String]?
        /// Whether the journal gets rows, and loses old ones.
        private(set) var isJournaled = false
        /// Whether the journal may be emptied, and all its pages be freed.
        private(set) var mayEmptyJournal = false

        /// Additions may not touch the reserve for removals.
        package var isRemoval: Bool { additions == 0 }

        /// Nothing yet: the transaction asks for more as it goes.
        package static var none: Demand { Demand() }

        package static func adding(_ count: Int, bytes: Int) -> Demand { Demand(additions: count, bytes: bytes) }

        /// `bytes`: Of tuples that are moved, to `claims` or back.
        package static func removing(_ count: Int, bytes: Int = 0, removed: Int = 0) -> Demand {
            Demand(bytes: bytes, removals: count, removedBytes: removed)
        }

        /// Upkeep after which nobody may be left for whom the journal is kept.
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

        /// The same, with the journal's rows.
        func journaled(_ snapshot: Snapshot) throws(SpaceError) -> Demand {
            var demand = self
            demand.bytes += bytes + removedBytes + (additions + removals) * (JournalRow.headerSize + 64)
            for key in replaced ?? [] { demand.bytes += try snapshot.cell(key)?.count ?? 0 }
            demand.isJournaled = true
            if mayEmptyJournal {
                let pages = try snapshot.lmdb { () throws(LMDBError) in
                    try snapshot.access.statistics(snapshot.tables.journal).pages
                }
                // mdb.c, mdb_freelist_save: the list of what a transaction freed is one value, eight bytes a page.
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
    /// Through how many lists of free pages LMDB looks for pages in a row, for each of these pages (mdb.c, mdb_page_alloc).
    private static let listsLookedThrough = 60
    /// What is reserved at once: an eighth of the file, within these bounds. (285 ms a GiB on tmpfs, under the gate.)
    private static let steps = (1 << 20)...(64 << 20)

    private let environment: Environment
    private let control: ControlFile
    private let tables: Tables
    private let pagesAhead: PagesAhead?
    /// Pages of the free list that can be used without growing, as last counted; spent with every demand.
    private var freePages = FreePages(count: 0, longestRun: 0, lists: 0)
    /// The transaction that they were last counted or spent in.
    private var countedFor = -1
    /// From which transaction on it may be tried again to reserve ahead of need.
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

    /// Sees that the blocks for a demand are there, or throws before anything was changed.
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

    /// Reserves so much that the next transactions need no statistics, which cost as much as a write; without it the bound of
    /// the usual case would hardly ever hold in a namespace that grows.
    ///
    /// Returns: `false` where it can't be had; what is there may be enough all the same.
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
        /// Pages of the trees, each to be had anywhere.
        var single: Int
        /// Pages of values that have pages of their own, each value's in a row.
        var large: Int
        /// How many values these can be.
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
            throw SpaceError(error, "measure the namespace")
        }
        let wanted = end + need.all + reserve
        if wanted * pageSize <= Int(clamping: control.reserved.load()) { return }
        // They pin every page freed since, until somebody looks.
        try? environment.forgetDeadReaders()
        do throws(SpaceError) {
            try grow(to: wanted, for: demand)
            return
        } catch  where error.code == .limitReached || error.code == .storageFull {
            // No more blocks. But pages that were freed lie within those that are there.
            let tail = max(0, Int(clamping: control.reserved.load()) / pageSize - end)
            // Counted anew when anybody else has written since: they spend the same pages.
            if access.id != countedFor &+ 1 || !suffices(tail, for: need, reserve: reserve) {
                do throws(LMDBError) {
                    freePages = try countReusablePages(lastPage: end - 1)
                } catch .readersFull {
                    throw explain(error)
                } catch {
                    throw SpaceError(error, "measure the namespace")
                }
            }
            guard suffices(tail, for: need, reserve: reserve) else { throw explain(error) }
            freePages.count -= need.all
            freePages.longestRun -= need.all
            countedFor = access.id
        }
    }

    /// Whether a demand can be met by pages that were freed, and by those that have blocks behind the last one.
    ///
    /// The bound of single pages is doubled once more, since LMDB takes them from wherever it looks first. The count for
    /// large values is exact: a namespace that was emptied has room for as many as it had when it was new.
    ///
    /// A large value needs pages in a row. LMDB looks for them among all that were freed, the lowest first, and goes beyond the
    /// last page where it finds none. So a row must be free that is long enough, also when single pages are taken from
    /// it, or there must be as many pages behind the last one.
    ///
    /// The last page never becomes a lower one, so what is taken behind it is gone from there for good. An addition goes
    /// beyond it only while the whole reserve is left there. Otherwise a row must be free, and the pages behind the last one are for
    /// the case that LMDB does not find it; and somewhere a row stays free into which a tuple of its size can be moved
    /// when it is claimed.
    private func suffices(_ tail: Int, for need: Need, reserve: Int) -> Bool {
        guard freePages.count + tail >= need.single + need.all + reserve else { return false }
        // LMDB gives up after so many lists for each page of a value, and goes beyond the last page.
        let row = tail >= need.rows * (freePages.lists / Self.listsLookedThrough) ? freePages.longestRun : 0
        if reserve == 0 { return need.large == 0 || tail >= need.large || row >= need.all }
        if tail >= need.large + reserve { return true }
        let spare = max(reserve / 3, need.all)
        return row >= need.large && tail >= need.large + spare || row >= need.all && tail >= spare
            || row >= need.all + spare
    }

    /// In a read transaction of its own: LMDB shows the list of free pages in no other.
    ///
    /// Nobody has changed anything yet, so it is the list that the write transaction began with.
    private func countReusablePages(lastPage: Int) throws(LMDBError) -> FreePages {
        let oldest = oldestReader() ?? environment.lastTransaction
        let reader = try environment.beginRead()
        return try reader.access.reusableFreePages(oldestReader: oldest, lastPage: lastPage)
    }

    private func need(for demand: Demand, shapes: Int, _ access: Access) throws(LMDBError) -> Need {
        let changes = demand.additions + demand.removals
        // Cells have rows in their own table and in the journal alone.
        let others = max(1, changes - demand.cells)
        let removals = max(1, min(demand.removals, others))
        let free = try access.freeListStatistics()
        // Tuples are appended: a batch shares the path, and fills pages. All else is scattered.
        var changed = touched(try access.statistics(tables.tuples), rows: removals, bytes: 32)
        changed += touched(try access.statistics(tables.index), rows: others * max(1, shapes), bytes: 32)
        changed += touched(try access.statistics(tables.expiries), rows: others, bytes: 32)
        changed += touched(try access.statistics(tables.cells), rows: max(1, demand.cells), bytes: 32)
        if demand.elements > 0 {
            changed += touched(try access.statistics(tables.elements), rows: demand.elements, bytes: 32)
        }
        // A row at the end for each change, and up to four dropped at the beginning.
        changed += touched(try access.statistics(tables.journal), rows: 5 * max(1, changes), bytes: 0)
        // Large rows drop as many bytes of small ones, which lie in a row; LMDB's pages are a quarter full at least.
        if demand.isJournaled { changed += 4 * (demand.bytes / pageSize) }
        changed += touched(try access.statistics(tables.elements), rows: others, bytes: 64)
        // Claims and holds; the counters; a watcher, two objects and a shape.
        changed += touched(try access.statistics(tables.main), rows: removals + others + 5, bytes: 64)
        changed += touched(free, rows: 1, bytes: 0)
        changed += demand.additions / 16
        let values = demand.bytes / pageSize
        if values == 0 { changed += 2 }
        let rows = (demand.isJournaled ? 2 : 1) * max(1, changes)
        return Need(
            single: 2 * (changed + changed / 500 + 1) + 2 * free.pages,
            // Half full pages at worst; a value in pages of its own leaves less than two of them unused, and so does each
            // row of the journal.
            large: values == 0 ? 0 : min(4 * (values + 1), values + 2 * rows),
            rows: min(rows, values)
        )
    }

    /// How many pages of a table a number of changes can touch: a path, and a split on each of its levels, for each, but no
    /// more than there are and can come.
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
            // What little the limit leaves is of use all the same. And where the disk hasn't even that, it is what is full.
            let rest = limit / pageSize * pageSize
            if start < rest, rest - start <= step {
                do throws(Errno) {
                    try reserve(from: start, to: rest)
                } catch {
                    throw SpaceError(error, "write", subject: "the data file")
                }
            }
            throw refusal(of: demand, limit)
        }
        let target = min(limit, max(wanted, start + step) + pageSize - 1) / pageSize * pageSize
        do throws(Errno) {
            try reserve(from: start, to: target)
        } catch {
            guard error == .noSpace, target > wanted else { throw SpaceError(error, "write", subject: "the data file") }
            do throws(Errno) {
                try reserve(from: start, to: wanted)
            } catch {
                throw SpaceError(error, "write", subject: "the data file")
            }
        }
    }

    private func refusal(of demand: Demand, _ limit: Int) -> SpaceError {
        demand.isRemoval && demand.removals > 1
            ? SpaceError(
                .limitReached,
                "write",
                reason:
                    "to move or remove \(demand.removals) tuples at once takes more room than the namespace's limit of "
                    + "\(limit) bytes leaves",
                advice: "take fewer at once"
            )
            : SpaceError(
                .limitReached,
                "write",
                reason: "the namespace has reached its limit of \(limit) bytes",
                advice: "take or delete tuples, or create it with a larger limit"
            )
    }

    private func reserve(from start: Int, to end: Int) throws(Errno) {
        // Without a writable map the file ends where something was last written; the blocks behind it are only kept.
        try Blocks.reserve(environment.descriptor, from: start, to: end, keepSize: control.header.mode != .fast)
        control.reserved.store(UInt64(end))
    }

    /// The oldest snapshot that anybody reads; `nil` when nobody does.
    private func oldestReader() -> Int? {
        (try? environment.readers())?.compactMap(\.transaction).min()
    }

    /// Names the living reader that pins freed pages, if one does: the limit is not reached by what is alive then.
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
