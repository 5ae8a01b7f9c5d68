/// The numbers that bound a namespace.
///
/// The documentation promises each of these numbers.
package enum Limits {
    /// The longest encoded tuple or cell value, in bytes: 64 MiB.
    package static let valueBytes = 64 << 20
    /// The longest cell key, in bytes of UTF-8. (LMDB's keys have at most 511 bytes.)
    package static let cellKeyBytes = 480
    /// The size of a namespace's map, and so the most that a namespace can ever hold, in bytes: 64 GiB.
    ///
    /// The map is sparse: it costs addresses, not memory.
    package static let mapBytes = 64 << 30
    /// The smallest byte limit that a namespace can be created with: 16 MiB.
    package static let smallestByteLimit = 16 << 20
    /// How many readers can have a snapshot open at once, counted over all processes.
    package static let readers = 2048
    /// How many shapes of templates can have an index at once in a namespace.
    package static let shapes = 64
    /// How many changes a transaction's body can make: 65,536, as many as the journal keeps.
    package static let transactionChanges = 65_536
    /// How many bytes a transaction's body can write and remove: 128 MiB.
    package static let transactionBytes = 128 << 20
    /// The interval at which a waiting process looks for what a killed process left undone: 250 ms.
    package static let tick = Duration.milliseconds(250)
    /// How many rows, and how many bytes of them, one snapshot reads of a long listing: they take about a millisecond.
    package static let part = (rows: 500, bytes: 256 << 10)
    /// The bytes that a namespace keeps free for takes and deletes alone: 4 MiB; less while it is small.
    package static let removalReserve = 4 << 20
    /// The bytes of the data file that are reserved in a new namespace: 544 KiB.
    package static let reserveAtBirth = 544 << 10
}
