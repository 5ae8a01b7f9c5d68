/// Walks the trees of one commit page by page, and notes which pages are whole and which are damaged.
///
/// Guarantees: The walk ends whatever the pages contain, because it enters each page of a tree at most once. It passes
/// on a record only if the record's page and overflow pages are whole, and have the numbers by which their parents
/// refer to them.
package struct TreeWalk {
    /// A record, as a copy of the bytes in its page.
    package struct Record {
        package let key: [UInt8]
        package let value: [UInt8]
        /// The root of a named database, if the value is one.
        package let root: TreeRoot?
    }

    /// Keys whose records could not be reached.
    package struct Gap {
        package let table: String
        /// The first key of the gap, or `nil` if it begins at the table's first key.
        package let lower: [UInt8]?
        /// The first key after the gap, or `nil` if it reaches to the table's last key.
        package let upper: [UInt8]?
        /// Whether leaves may lie below the lost page.
        package let hasLeaves: Bool

        /// Makes a gap.
        package init(table: String, lower: [UInt8]?, upper: [UInt8]?, hasLeaves: Bool) {
            self.table = table
            self.lower = lower
            self.upper = upper
            self.hasLeaves = hasLeaves
        }

        package func contains(_ key: [UInt8]) -> Bool {
            if let lower, key.lexicographicallyPrecedes(lower) { return false }
            if let upper { return key.lexicographicallyPrecedes(upper) }
            return true
        }
    }

    private let file: PageFile
    /// The number after that of the file's last page.
    private let end: UInt64
    /// The last page, as the meta page states it; LMDB treats the pages after it as unused.
    private let lastPage: UInt64
    /// All whole pages that the walks reached, overflow pages included.
    package private(set) var reached: Set<UInt64> = []
    package private(set) var faults: [PageFault] = []
    package private(set) var gaps: [Gap] = []
    /// The pages that are listed as free; `nil` if the list is damaged.
    package private(set) var free: Set<UInt64>?
    /// How many pages of each kind the tree that is being walked has.
    private var pages: (branch: UInt64, leaf: UInt64, overflow: UInt64) = (0, 0, 0)

    /// Makes a walk that has reached no page yet.
    ///
    /// `lastPage`: The last page, as the meta page states it; the meta page may be damaged.
    package init(_ file: PageFile, lastPage: UInt64) {
        self.file = file
        self.lastPage = lastPage
        end = max(file.pageCount, 2)
    }

    /// Walks the table of free pages.
    package mutating func walkFreeList(_ root: TreeRoot) {
        var free: Set<UInt64> = []
        var isWhole = true
        let before = faults.count
        var damaged: [PageFault] = []
        walk(root, "free pages", integerKeys: true) { record in
            let count = record.value.count >= 8 ? Int(clamping: record.value.number(0, UInt64.self)) : -1
            guard record.key.count == 8, count >= 0, count < record.value.count / 8 else {
                isWhole = false
                damaged.append(PageFault(root.page ?? 0, "free pages", "a list of free pages has a wrong length"))
                return
            }
            for index in 0..<count { free.insert(record.value.number(8 + 8 * index)) }
        }
        faults += damaged
        if let last = free.max(), last > lastPage { faults.append(Self.behind(last, lastPage, "free pages")) }
        self.free = isWhole && faults.count == before ? free : nil
    }

    /// Walks a tree, and passes on its records in the order of their keys.
    ///
    /// `fits`: Whether a record can belong to the table. A leaf without any such record counts as another table's.
    package mutating func walk(
        _ root: TreeRoot,
        _ table: String,
        integerKeys: Bool = false,
        fits: (Record) -> Bool = { _ in true },
        _ visit: (Record) -> Void
    ) {
        guard let page = root.page else { return }
        var entries: UInt64 = 0
        let before = (faults.count, gaps.count)
        pages = (0, 0, 0)
        descend(page, table, level: 1, depth: root.depth, nil, nil, integerKeys) { records in
            guard records.contains(where: fits) else { return false }
            entries += UInt64(records.count)
            records.forEach(visit)
            return true
        }
        guard faults.count == before.0, gaps.count == before.1 else { return }
        for (count, said, what) in [
            (entries, root.entries, "records"), (pages.branch, root.branchPages, "branch pages"),
            (pages.leaf, root.leafPages, "leaf pages"), (pages.overflow, root.overflowPages, "overflow pages"),
        ] where count != said {
            faults.append(PageFault(page, table, "the tree has \(count) \(what), but its root counts \(said)"))
        }
    }

    private static func behind(_ page: UInt64, _ lastPage: UInt64, _ table: String) -> PageFault {
        PageFault(page, table, "it lies after the last page, which is \(lastPage) according to the meta page")
    }

    private mutating func descend(
        _ number: UInt64,
        _ table: String,
        level: Int,
        depth: Int,
        _ lower: [UInt8]?,
        _ upper: [UInt8]?,
        _ integerKeys: Bool,
        _ take: ([Record]) -> Bool
    ) {
        let page: TreePage
        do throws(TreePage.Reason) {
            page = try read(number, level, lower, upper, integerKeys)
        } catch {
            faults.append(PageFault(number, table, error.text))
            // No leaf lies below a lost page at the level of the leaves. If the depth can't be right, that level is
            // unknown.
            let isAboveLeaves = level < depth || depth < 1 || depth > TreeRoot.deepest
            gaps.append(Gap(table: table, lower: lower, upper: upper, hasLeaves: isAboveLeaves))
            return
        }
        if number > lastPage { faults.append(Self.behind(number, lastPage, table)) }
        if page.isLeaf { pages.leaf += 1 } else { pages.branch += 1 }
        if page.isLeaf, level != depth {
            faults.append(PageFault(number, table, "it is a leaf at level \(level), and the tree's depth is \(depth)"))
        }
        guard page.isLeaf else {
            for (index, node) in page.nodes.enumerated() {
                let from = index == 0 ? lower : Array(page.bytes[node.key])
                let to = index + 1 < page.nodes.count ? Array(page.bytes[page.nodes[index + 1].key]) : upper
                descend(node.child, table, level: level + 1, depth: depth, from, to, integerKeys, take)
            }
            return
        }
        let records = page.nodes.compactMap { node -> Record? in
            guard let value = value(of: node, in: page, table) else { return nil }
            let root = node.isRoot ? TreeRoot(value) : nil
            return Record(key: Array(page.bytes[node.key]), value: value, root: root)
        }
        if !records.isEmpty, !take(records) {
            reached.remove(number)
            faults.append(PageFault(number, table, "none of its records belongs to this table"))
            gaps.append(Gap(table: table, lower: lower, upper: upper, hasLeaves: true))
        }
    }

    private mutating func read(
        _ number: UInt64,
        _ level: Int,
        _ lower: [UInt8]?,
        _ upper: [UInt8]?,
        _ integerKeys: Bool
    ) throws(TreePage.Reason) -> TreePage {
        guard level <= TreeRoot.deepest else {
            throw TreePage.Reason("the tree is deeper than \(TreeRoot.deepest) pages")
        }
        guard number >= 2, number < end, let bytes = file.bytes(number) else {
            throw TreePage.Reason("it lies outside the file")
        }
        guard !reached.contains(number) else { throw TreePage.Reason("it is in two trees, or twice in one") }
        let page = try TreePage(bytes, integerKeys: integerKeys)
        guard page.number == number else { throw TreePage.Reason("the page number in it is \(page.number)") }
        if !integerKeys {
            // LMDB never uses a branch's first key.
            let keys = page.isLeaf ? page.nodes[...] : page.nodes.dropFirst()
            if let first = keys.first, let last = keys.last,
                lower.map({ page.bytes[first.key].lexicographicallyPrecedes($0) }) ?? false
                    || upper.map({ !page.bytes[last.key].lexicographicallyPrecedes($0) }) ?? false
            {
                throw TreePage.Reason("its keys are outside the range that its parent gives")
            }
        }
        reached.insert(number)
        return page
    }

    private mutating func value(of node: TreePage.Node, in page: TreePage, _ table: String) -> [UInt8]? {
        do throws(TreePage.Reason) {
            let (value, own) = try value(of: node, in: page)
            reached.formUnion(own)
            if let last = own.last, last > lastPage { faults.append(Self.behind(last, lastPage, table)) }
            if case .overflow(let number, _) = node.value, let first = file.bytes(number) {
                // The first page states how many pages there are. They may be more than needed: a smaller value may
                // have replaced a larger one.
                pages.overflow += UInt64(first.number(12, UInt32.self))
            }
            return value
        } catch {
            if case .overflow(let number, _) = node.value { faults.append(PageFault(number, table, error.text)) }
            return nil
        }
    }

    /// A value, and the overflow pages that hold it.
    private func value(of node: TreePage.Node, in page: TreePage) throws(TreePage.Reason) -> ([UInt8], Range<UInt64>) {
        guard case .overflow(let number, let count) = node.value else {
            guard case .here(let range) = node.value else { return ([], 0..<0) }
            return (Array(page.bytes[range]), 0..<0)
        }
        let needed = UInt64(TreePage.overflowPages(count, pageSize: file.pageSize))
        guard number >= 2, number < end, needed <= end - number,
            let bytes = file.bytes(number, pages: Int(needed))
        else { throw TreePage.Reason("it lies outside the file") }
        if let refusal = TreePage.refusal(overflow: Array(bytes[..<file.pageSize]), number, count: count) {
            throw TreePage.Reason(refusal)
        }
        let pages = number..<number + needed
        guard !pages.contains(where: reached.contains) else {
            throw TreePage.Reason("it is in two trees, or twice in one")
        }
        return (Array(bytes[TreePage.header..<TreePage.header + count]), pages)
    }

    // MARK: Pages that no tree refers to

    /// Calls `visit` with the records of each whole leaf that no walk has reached and that is not listed as free.
    ///
    /// A record whose value lies in overflow pages is included if these pages are whole. `visit` returns whether the
    /// leaf is one that it looks for; only then do the leaf and its overflow pages count as reached.
    package mutating func forEachStrayLeaf(_ visit: (_ page: UInt64, _ records: [Record]) -> Bool) {
        for number in 2..<(lastPage < end ? max(lastPage + 1, 2) : end) {
            guard !reached.contains(number), free?.contains(number) != true, let bytes = file.bytes(number),
                let page = try? TreePage(bytes), page.isLeaf, page.number == number
            else { continue }
            var pages: Set<UInt64> = [number]
            let records = page.nodes.compactMap { node -> Record? in
                guard let (value, own) = try? value(of: node, in: page) else { return nil }
                pages.formUnion(own)
                return Record(key: Array(page.bytes[node.key]), value: value, root: node.isRoot ? TreeRoot(value) : nil)
            }
            if !records.isEmpty, visit(number, records) { reached.formUnion(pages) }
        }
    }

    /// The pages that are both in use and listed as free; a writer would overwrite them.
    package var pagesInTwoPlaces: [UInt64] { free.map { $0.intersection(reached).sorted() } ?? [] }
}
