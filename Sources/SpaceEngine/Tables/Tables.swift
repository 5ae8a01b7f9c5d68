package import LMDB

/// The tables of a namespace, opened once with the environment.
///
/// Tables that grow with the namespace's contents are LMDB's named databases, each a tree of its own. Tables with few
/// rows, or whose rows come and go with claims and locks, are sections of the unnamed main database. It also holds the
/// counters and the roots of the named databases, so every commit writes its page anyway. A section therefore costs a
/// transaction no page of its own, and no look-up and rewrite of a root. (One tree for all tables would save pages only
/// in small namespaces. The index's rows come in rising order, but would not come last in that tree, and only there
/// does LMDB fill its pages completely.)
///
/// No table uses duplicate keys, because LMDB 0.9.24 has unfixed faults there. Instead, the key is composite and the
/// value is empty.
package struct Tables {
    package let main: Database
    package let tuples: Database
    package let index: Database
    package let cells: Database
    package let expiries: Database
    package let journal: Database
    /// The rows of collections and recipes, each beginning with its object's number.
    package let elements: Database
    package let shapes: Database
    package let watchers: Database
    /// Named objects such as collections and queues, which exist even if no process uses them.
    package let objects: Database
    /// Rows that end with a session: locks and places in their queues, responders.
    package let holds: Database
    package let claims: Database
    /// The machines that share the namespace.
    package let members: Database

    /// How many of the tables are LMDB's named databases.
    package static let named = 6
    package static let count = 13

    /// The tables that are sections of the main database.
    package var sections: [Database] { [shapes, watchers, objects, holds, claims, members] }

    /// The trees of the tables: the main database with its sections, and the named databases.
    package var trees: [Database] { [main, tuples, index, cells, expiries, journal, elements] }

    /// How many bytes the keys and values of some tuples and of their rows in the index have.
    static func bytes(ofTuples count: Int, content: Int, shapes: Int) -> Int {
        // A claimed one has a row in `claims`, and none in the index.
        let claim = 1 + MemoryLayout<UInt64>.size + ClaimRow.size
        let rest = max(shapes * IndexKey.size, claim)
        return content + count * (MemoryLayout<UInt64>.size + TupleRow.headerSize + rest)
    }

    /// What a usual transaction changes in the trees: one tuple, cell or claim, and what belongs to it.
    var usualChanges: [RoomMeter.Tree] {
        [
            // The roots of the other trees, and the counters, are rows of the main database.
            .init(database: main, scattered: 4, hasClaims: true, atCommit: Self.named + 1),
            .init(database: tuples, scattered: 1, ends: 1, isTuples: true), .init(database: index, isIndex: true),
            .init(database: cells, scattered: 1), .init(database: expiries, scattered: 3),
            // A row is added, and up to four are dropped.
            .init(database: journal, ends: 5), .init(database: elements),
        ]
    }

    /// Opens the tables; if `create` is true, it creates the named ones that are missing.
    package init(_ access: Access, create: Bool) throws(LMDBError) {
        main = try access.database(nil, create: false)
        tuples = try access.database("tuples", create: create)
        index = try access.database("index", create: create)
        cells = try access.database("cells", create: create)
        expiries = try access.database("expiries", create: create)
        journal = try access.database("journal", create: create)
        elements = try access.database("elements", create: create)
        // The shapes of these trees come from the file, and LMDB computes with them.
        try access.checkShapes([main, tuples, index, cells, expiries, journal, elements])
        // No table's name begins with one of these bytes, because names are ASCII.
        shapes = main.section(0x80)
        watchers = main.section(0x81)
        objects = main.section(0x82)
        holds = main.section(0x83)
        claims = main.section(0x84)
        members = main.section(0x85)
    }
}
