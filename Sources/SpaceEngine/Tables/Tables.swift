package import LMDB

/// The tables of a namespace, opened once with the environment.
///
/// Those that grow with what the namespace holds are LMDB's named databases, each a tree of its own. Those whose rows are few,
/// or come and go with claims and locks, are sections of the unnamed main database, beside the counters and the roots of
/// the named ones, whose page every commit writes anyway: so they cost a transaction no page of their own, nor a look-up
/// of their root and a new record of it. (All in one tree would save pages in small namespaces alone. Rows of the index
/// come in rising order, but would not come last in the tree, where alone LMDB fills its pages to the end.)
///
/// No table uses duplicate keys (LMDB 0.9.24 has unfixed faults there): what would be a duplicate is a composite key with
/// an empty value.
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
    /// Named objects: collections, queues, whatever is there also while nobody uses it.
    package let objects: Database
    /// What goes with a session: locks and places in their queues, responders.
    package let holds: Database
    package let claims: Database

    /// How many of them LMDB has under a name.
    package static let named = 6
    package static let count = 12

    /// Those that are sections of the main database.
    package var sections: [Database] { [shapes, watchers, objects, holds, claims] }

    /// What exists is opened, the named ones created if `create` says so.
    package init(_ access: Access, create: Bool) throws(LMDBError) {
        main = try access.database(nil, create: false)
        tuples = try access.database("tuples", create: create)
        index = try access.database("index", create: create)
        cells = try access.database("cells", create: create)
        expiries = try access.database("expiries", create: create)
        journal = try access.database("journal", create: create)
        elements = try access.database("elements", create: create)
        // Their shapes come from the file, and LMDB computes with them.
        try access.checkShapes([main, tuples, index, cells, expiries, journal, elements])
        // No name begins with these: names are ASCII.
        shapes = main.section(0x80)
        watchers = main.section(0x81)
        objects = main.section(0x82)
        holds = main.section(0x83)
        claims = main.section(0x84)
    }
}
