import LMDB

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
struct Tables {
    let main: Database
    let tuples: Database
    let index: Database
    let cells: Database
    let expiries: Database
    let journal: Database
    /// The rows of collections and recipes, each beginning with its object's number.
    let elements: Database
    let shapes: Database
    let watchers: Database
    /// Named objects: collections, queues, whatever is there also while nobody uses it.
    let objects: Database
    /// What goes with a session: locks and places in their queues, responders.
    let holds: Database
    let claims: Database

    /// How many of them LMDB has under a name.
    static let named = 6
    static let count = 12

    /// Those that are sections of the main database.
    var sections: [Database] { [shapes, watchers, objects, holds, claims] }

    /// What exists is opened, the named ones created if `create` says so.
    init(_ access: Access, create: Bool) throws(LMDBError) {
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

/// The numbers that every write needs, in one row of the main table.
struct Counters: Equatable {
    static let key: StaticString = "counters"
    static let size = 128

    /// The id that the next tuple gets.
    ///
    /// Ids rise, so ascending ids are the order of writing; they are never used twice.
    var nextTuple: UInt64 = 1
    /// The number of the last change.
    var sequence: UInt64 = 0
    var nextClaim: UInt64 = 1
    /// Changes whenever the table of shapes does, so that processes can keep a copy.
    var shapesGeneration: UInt64 = 1
    /// How many rows the table of expiries has: with none, nobody reads a clock.
    var expiring: UInt64 = 0
    /// How many claims are out.
    var claimed: UInt64 = 0
    /// How many watchers are registered: with none, nothing is journaled.
    var watchers: UInt64 = 0
    var nextWatcher: UInt64 = 1
    /// The sequence of the journal's first row; 0: it is empty.
    var journalFirst: UInt64 = 0
    var journalBytes: UInt64 = 0
    /// How many changes the journal keeps also when nobody watches; 0: none.
    var historyRows: UInt64 = 0
    /// How many bytes of changes it keeps then at most; 0: the journal's own bound.
    var historyBytes: UInt64 = 0
    /// How many claimed tuples are set aside; these are no claims of anybody's.
    var buried: UInt64 = 0
    /// After how many deliveries a returning tuple is set aside; 0: never.
    var deliveryLimit: UInt64 = 0
    /// The number that the next named object gets.
    var nextObject: UInt64 = 1
    /// How many rows the table of holds has: with none, nobody looks whose they are.
    var holds: UInt64 = 0

    init() {}

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        nextTuple = word(0)
        sequence = word(1)
        nextClaim = word(2)
        shapesGeneration = word(3)
        expiring = word(4)
        claimed = word(5)
        watchers = word(6)
        nextWatcher = word(7)
        journalFirst = word(8)
        journalBytes = word(9)
        historyRows = word(10)
        historyBytes = word(11)
        buried = word(12)
        deliveryLimit = word(13)
        nextObject = word(14)
        holds = word(15)
        // 48 bits are what a waiter's slot has for an id; the others can't have come near 64.
        let all =
            sequence | nextClaim | shapesGeneration | expiring | claimed | watchers | nextWatcher | journalFirst
            | journalBytes | historyRows | historyBytes | buried | deliveryLimit | nextObject | holds
        guard (1..<1 << 48).contains(nextTuple), all < 1 << 62, journalFirst <= sequence else { return nil }
    }

    func write(to bytes: UnsafeMutableRawBufferPointer) {
        func store(_ index: Int, _ word: UInt64) {
            bytes.storeBytes(of: word.littleEndian, toByteOffset: index * 8, as: UInt64.self)
        }
        store(0, nextTuple)
        store(1, sequence)
        store(2, nextClaim)
        store(3, shapesGeneration)
        store(4, expiring)
        store(5, claimed)
        store(6, watchers)
        store(7, nextWatcher)
        store(8, journalFirst)
        store(9, journalBytes)
        store(10, historyRows)
        store(11, historyBytes)
        store(12, buried)
        store(13, deliveryLimit)
        store(14, nextObject)
        store(15, holds)
    }
}

extension UnsafeRawBufferPointer {
    /// An unaligned little-endian integer.
    ///
    /// The caller has checked the bounds.
    func little<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(littleEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }

    /// An unaligned big-endian integer, as keys have it.
    ///
    /// The caller has checked the bounds.
    func big<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(bigEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }
}
