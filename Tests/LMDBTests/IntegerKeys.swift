import LMDB

// Keys that are unsigned 64-bit numbers, for tests. They are stored big-endian: LMDB compares bytes, so the keys are in
// numeric order.

extension UInt64 {
    /// Reads a big-endian key; `nil` unless there are exactly 8 bytes.
    init?(bigEndianKey bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<UInt64>.size else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// Calls `body` with the number's bytes as a key; nothing is allocated.
    func withKey<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes(of: bigEndian, body)
    }
}

extension Access {
    /// The value of a number's key, or `nil` if the key does not exist.
    func get(_ database: Database, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        try key.withKey { bytes throws(LMDBError) in try get(database, bytes) }
    }

    /// Stores a value under a number's key, and replaces an existing value.
    func put(
        _ database: Database,
        _ key: UInt64,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        try key.withKey { bytes throws(LMDBError) in try put(database, bytes, value, flags: flags) }
    }

    /// Makes room for a value under a number's key; the caller writes the value there.
    func reserve(
        _ database: Database,
        _ key: UInt64,
        size: Int,
        flags: PutFlags = []
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        try key.withKey { bytes throws(LMDBError) in try reserve(database, bytes, size: size, flags: flags) }
    }

    /// Removes a number's key and its value; `false` if the key does not exist.
    func delete(_ database: Database, _ key: UInt64) throws(LMDBError) -> Bool {
        try key.withKey { bytes throws(LMDBError) in try delete(database, bytes) }
    }
}

extension Cursor {
    /// Goes to a number's key or, with `.atLeast`, to the first key that is not below it; `nil` if there is none.
    mutating func seek(_ key: UInt64, _ match: Match) throws(LMDBError) -> Entry? {
        try key.withKey { bytes throws(LMDBError) in try seek(bytes, match) }
    }

    /// Stores a value under a number's key, replaces an existing value, and goes to the record.
    mutating func put(
        _ key: UInt64,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        try key.withKey { bytes throws(LMDBError) in try put(bytes, value, flags: flags) }
    }
}
