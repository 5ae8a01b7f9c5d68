/// The root of a tree, as a meta page or a record of the main database stores it (mdb.c: `MDB_db`).
package struct TreeRoot: Equatable, Sendable {
    static let size = 48
    /// The levels that a cursor has room for (mdb.c: `CURSOR_STACK`); mdb.c never checks a tree's depth against it.
    static let deepest = 32
    private static let none = UInt64.max

    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    /// The number of records, as the root states it.
    package let entries: UInt64
    /// The root's page, or `nil` if the tree is empty.
    package let page: UInt64?

    /// Reads a root; `nil` unless there are exactly ``size`` bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let bytes = Array(bytes)
        flags = bytes.number(4)
        depth = Int(bytes.number(6, UInt16.self))
        branchPages = bytes.number(8)
        leafPages = bytes.number(16)
        overflowPages = bytes.number(24)
        entries = bytes.number(32)
        let root: UInt64 = bytes.number(40)
        page = root == Self.none ? nil : root
    }

    /// Why no tree of a file with this last page can have this root; `nil` if a tree can.
    func refusal(lastPage: UInt64, pageSize: Int) -> String? {
        if let page, page < 2 || page > lastPage { return "its root is page \(page)" }
        if depth > Self.deepest || (depth == 0) != (page == nil) { return "its depth is \(depth)" }
        for (count, what) in [(branchPages, "branch"), (leafPages, "leaf"), (overflowPages, "overflow")]
        where count > lastPage {
            return "it has \(count) \(what) pages"
        }
        // mdb.c: a record takes at least ten bytes, for the node's header and its offset.
        return entries / 10 > lastPage * UInt64(pageSize) ? "it has \(entries) records" : nil
    }
}
