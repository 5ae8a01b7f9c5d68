import LMDB
import SpaceSystem

/// The rows of a data file that can still be read, by table.
///
/// Guarantees: a row is from the newest commit whose meta page is whole, and all its pages are whole. If a branch page
/// is lost, a look at all pages finds the leaves below it. That look considers only pages to which no whole page leads
/// and that are not listed as free, so it does not take an older version of a page for the current one. If the list of
/// free pages is lost too, `isOlderPossible` says so.
package struct SalvagedRows {
    package struct Row {
        package let key: [UInt8]
        package let value: [UInt8]

        package init(key: [UInt8], value: [UInt8]) {
            self.key = key
            self.value = value
        }
    }

    /// The rows of each table, in the order of their keys.
    package private(set) var rows: [SalvagedTable: [Row]] = [:]
    /// The damage in pages, one sentence each.
    package private(set) var faults: [String] = []
    /// Whether the rows may include some that were removed or replaced since.
    package private(set) var isOlderPossible = false
    /// The commit that was read; `nil` if neither meta page is whole.
    package let transaction: UInt64?

    /// The next id by the counters, or 0 if they are lost.
    package var nextTuple: UInt64 {
        let row = rows[.main]?.first { MainKey(keyBytes: $0.key) == .counters }
        return row.flatMap { $0.value.withBytes { Counters($0) } }?.nextTuple ?? 0
    }

    private var walk: TreeWalk
    private var roots: [SalvagedTable: TreeRoot] = [:]

    // The tables that are not saved: indexes to the rows of other tables, which are built again, and the journal.
    private static let unneeded: Set<SalvagedTable> = [.index, .expiries, .journal]

    /// Reads the whole file.
    init(_ file: PageFile) {
        let candidates = file.metas.map { Self.main(file, $0) }
        // Each meta page describes the file at one commit. The newest counts, unless it leads to no data. If a commit's
        // number is damaged, the counters tell which commit is the newest.
        let best = candidates.indices.max { left, right in
            let (first, second) = (candidates[left], candidates[right])
            if first.worth != second.worth { return first.worth < second.worth }
            if !file.isOrderCertain, first.newness != second.newness { return first.newness < second.newness }
            return left > right
        }
        transaction = best.map { file.metas[$0].transaction }
        walk = best.map { candidates[$0].walk } ?? TreeWalk(file, lastPage: max(file.pageCount, 1) - 1)
        var faults = file.faults
        if let best {
            for record in candidates[best].records { take(record, .main) }
            if best != candidates.startIndex, file.isOrderCertain {
                let text =
                    "the last commit's meta page leads to nothing; the commit before is read, and what the last one did "
                    + "may be missing"
                faults.append(PageFault(file.metas[0].number, nil, text))
            }
        }
        let isMainLost = best == nil || walk.gaps.contains { $0.table == SalvagedTable.main.rawValue }
        if isMainLost {
            salvageMain(older: candidates.indices.first { $0 != best }.map { candidates[$0].records } ?? [])
        }
        for table in SalvagedTable.named {
            guard let root = roots[table] else { continue }
            var found: [TreeWalk.Record] = []
            walk.walk(root, table.rawValue, fits: table.fits) { record in
                if !Self.unneeded.contains(table) { found.append(record) }
            }
            for record in found { take(record, table) }
        }
        salvageLeaves(isMainLost: isMainLost)
        faults += walk.faults
        faults += walk.pagesInTwoPlaces.map { PageFault($0, nil, "it is in use, and listed as free") }
        self.faults = faults.map(\.sentence)
        for table in rows.keys { rows[table]?.sort { $0.key.lexicographicallyPrecedes($1.key) } }
    }

    private struct Main {
        let walk: TreeWalk
        let records: [TreeWalk.Record]
        /// How many of the records that a main database always has were found.
        var worth: Int { records.count { $0.root != nil || MainKey(keyBytes: $0.key) == .counters } }
        /// A number that rises with the commits of a namespace.
        var newness: UInt64 { SalvagedRows.newness(of: records) }
    }

    private static func main(_ file: PageFile, _ meta: MetaPage) -> Main {
        var walk = TreeWalk(file, lastPage: meta.lastPage)
        walk.walkFreeList(meta.free)
        var records: [TreeWalk.Record] = []
        walk.walk(meta.main, SalvagedTable.main.rawValue, fits: SalvagedTable.main.fits) { records.append($0) }
        return Main(walk: walk, records: records)
    }

    /// A number, made from the counters, that rises with the changes of a namespace; 0 if the records lack the
    /// counters.
    private static func newness(of records: [TreeWalk.Record]) -> UInt64 {
        let counters = records.first { MainKey(keyBytes: $0.key) == .counters }
        return counters.flatMap { $0.value.withBytes { Counters($0) } }.map { $0.sequence + $0.nextTuple } ?? 0
    }

    private mutating func take(_ record: TreeWalk.Record, _ table: SalvagedTable) {
        guard let root = record.root else {
            rows[table, default: []].append(Row(key: record.key, value: record.value))
            return
        }
        let name = String(decoding: record.key, as: UTF8.self)
        if let named = SalvagedTable(rawValue: name), named != .main { roots[named] = root }
    }

    // MARK: Leaves to which no whole page leads

    /// Finds rows of the main database in leaves to which no page leads, and takes lost rows from the commit before.
    private mutating func salvageMain(older: [TreeWalk.Record]) {
        var known = Set((rows[.main] ?? []).map(\.key))
        let gaps = walk.gaps.filter { $0.table == SalvagedTable.main.rawValue }
        let isLost = { (key: [UInt8]) in gaps.isEmpty || gaps.contains { $0.contains(key) } }
        let isFreeKnown = walk.free != nil
        var leaves: [(newness: UInt64, records: [TreeWalk.Record])] = []
        walk.forEachStrayLeaf { (_, records) in
            guard records.allSatisfy({ SalvagedTable.main.fits($0) && isLost($0.key) }) else { return false }
            leaves.append((Self.newness(of: records), records))
            return isFreeKnown
        }
        // Without the list of free pages, leaves of older commits are among these, so the newest comes first.
        leaves.sort { $0.newness > $1.newness }
        if walk.free == nil, leaves.count > 1 { isOlderPossible = true }
        for leaf in leaves {
            for record in leaf.records where known.insert(record.key).inserted { take(record, .main) }
        }
        for record in older where record.root == nil && isLost(record.key) && known.insert(record.key).inserted {
            isOlderPossible = true
            take(record, .main)
        }
        // If current leaves of tables can't be told from older ones, the commit before leads to the tables.
        if walk.free == nil, roots.isEmpty {
            for record in older where record.root != nil { take(record, .main) }
        }
    }

    /// Finds rows in leaves whose branch pages are lost.
    private mutating func salvageLeaves(isMainLost: Bool) {
        var gaps = walk.gaps.filter(\.hasLeaves)
        if isMainLost {
            for table in SalvagedTable.named where roots[table] == nil {
                gaps.append(TreeWalk.Gap(table: table.rawValue, lower: nil, upper: nil, hasLeaves: true))
            }
        }
        let wanted = SalvagedTable.named.compactMap { table -> (table: SalvagedTable, gaps: [TreeWalk.Gap])? in
            let own = gaps.filter { $0.table == table.rawValue }
            return own.isEmpty ? nil : (table, own)
        }
        guard !wanted.isEmpty else { return }
        var found: [(SalvagedTable, [TreeWalk.Record])] = []
        walk.forEachStrayLeaf { (_, records) in
            let match = wanted.first { (table, gaps) in
                records.allSatisfy { record in table.fitsAlone(record) && gaps.contains { $0.contains(record.key) } }
            }
            guard let match else { return false }
            found.append((match.table, records))
            return true
        }
        if walk.free == nil, !found.isEmpty { isOlderPossible = true }
        var known: [SalvagedTable: Set<[UInt8]>] = [:]
        for (table, _) in wanted { known[table] = Set((rows[table] ?? []).map(\.key)) }
        for (table, records) in found where !Self.unneeded.contains(table) {
            for record in records where known[table, default: []].insert(record.key).inserted { take(record, table) }
        }
    }
}

extension PageFault {
    /// The fault as a sentence for people.
    fileprivate var sentence: String {
        let whose = table.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
        return "page \(page)\(whose): \(reason)"
    }
}
