/// The numbers that every write needs, in one row of the main table.
package struct Counters: TableRow, Equatable {
    package static let size = 152

    /// The id that the next tuple gets.
    ///
    /// Ids rise and are never used twice, so the order of ids is the order of writing.
    package var nextTuple: UInt64 = 1
    /// The number of the last change.
    package var sequence: UInt64 = 0
    /// The number of the next claim, place, item, responder or request: each number is given out once.
    package var nextNumber: UInt64 = 1
    /// Changes whenever the table of shapes changes, so that processes can keep a copy of that table.
    package var shapesGeneration: UInt64 = 1
    /// How many rows the table of expiries has; while there are none, no process reads a clock.
    package var expiring: UInt64 = 0
    /// How many claims have a holder.
    package var claimed: UInt64 = 0
    /// How many watchers are registered; while there are none and no history is kept, nothing is journaled.
    package var watchers: UInt64 = 0
    package var nextWatcher: UInt64 = 1
    /// The sequence of the journal's first row, or 0 if the journal is empty.
    package var journalFirst: UInt64 = 0
    package var journalBytes: UInt64 = 0
    /// How many changes the journal keeps even if no watcher is registered, or 0 for none.
    package var historyRows: UInt64 = 0
    /// The most bytes of changes that the journal then keeps, or 0 for the journal's own bound.
    package var historyBytes: UInt64 = 0
    /// How many claimed tuples are buried or rest; these claims have no holder.
    package var withoutHolder: UInt64 = 0
    /// The number of deliveries after which a returning tuple is buried, or 0 for never.
    package var deliveryLimit: UInt64 = 0
    /// The number that the next named object gets.
    package var nextObject: UInt64 = 1
    /// How many rows the table of holds has; while there are none, no process checks whose holds they are.
    package var holds: UInt64 = 0

    /// The number of the log's last entry that the namespace has, or 0 if its commits are not logged.
    package var logEntry: UInt64 = 0
    /// Whether the namespace is a standby: the log's entries are its only writers.
    package var followsLog = false

    /// What of the near end's marks the commit has applied (`NearMarks`).
    package var appliedMarks: UInt64 = 0
    /// No tuple of a lower id that has its row in the tables is visible: a walk past claimed ones begins here.
    package var firstVisible: UInt64 = 0

    private static let following: UInt64 = 1 << 61

    /// Whether a tuple may be about to return from a claim, because its holder has ended or its time has come.
    package var mayReturn: Bool { claimed > 0 || withoutHolder > 0 && expiring > 0 }

    package init() {}

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        nextTuple = word(0)
        sequence = word(1)
        nextNumber = word(2)
        shapesGeneration = word(3)
        expiring = word(4)
        claimed = word(5)
        watchers = word(6)
        nextWatcher = word(7)
        journalFirst = word(8)
        journalBytes = word(9)
        historyRows = word(10)
        historyBytes = word(11)
        withoutHolder = word(12)
        deliveryLimit = word(13)
        nextObject = word(14)
        holds = word(15)
        logEntry = word(16) & ~Self.following
        followsLog = word(16) & Self.following != 0
        appliedMarks = word(17)
        firstVisible = word(18)
        // A waiter's slot has 48 bits for an id. The other numbers can't have come near 64 bits.
        let all =
            sequence | nextNumber | shapesGeneration | expiring | claimed | watchers | nextWatcher | journalFirst
            | journalBytes | historyRows | historyBytes | withoutHolder | deliveryLimit | nextObject | holds | logEntry
            | appliedMarks | firstVisible
        guard (1..<1 << 48).contains(nextTuple), all < 1 << 62, journalFirst <= sequence else { return nil }
    }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let bytes = try room(Self.size)
        func store(_ index: Int, _ word: UInt64) {
            bytes.storeBytes(of: word.littleEndian, toByteOffset: index * 8, as: UInt64.self)
        }
        store(0, nextTuple)
        store(1, sequence)
        store(2, nextNumber)
        store(3, shapesGeneration)
        store(4, expiring)
        store(5, claimed)
        store(6, watchers)
        store(7, nextWatcher)
        store(8, journalFirst)
        store(9, journalBytes)
        store(10, historyRows)
        store(11, historyBytes)
        store(12, withoutHolder)
        store(13, deliveryLimit)
        store(14, nextObject)
        store(15, holds)
        store(16, logEntry | (followsLog ? Self.following : 0))
        store(17, appliedMarks)
        store(18, firstVisible)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String { missing }

    static let missing = "the row of counters is missing or damaged"
}
