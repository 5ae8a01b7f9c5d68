// Keys that are unsigned 64-bit numbers. They are stored big-endian: LMDB compares bytes, so the keys are in numeric
// order.

extension UInt64 {
    /// Reads a big-endian key; `nil` unless there are exactly 8 bytes.
    @inlinable
    package init?(bigEndianKey bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<UInt64>.size else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    /// Calls `body` with the number's bytes as a key; nothing is allocated.
    @inlinable
    @inline(__always)
    package func withKey<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes(of: bigEndian, body)
    }
}

extension Access {
    /// The value of a number's key, or `nil` if the key does not exist.
    package func get(_ database: Database, _ key: UInt64) throws(LMDBError) -> UnsafeRawBufferPointer? {
        try key.withKey { bytes throws(LMDBError) in try get(database, bytes) }
    }

    /// Stores a value under a number's key, and replaces an existing value.
    package func put(
        _ database: Database,
        _ key: UInt64,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        try key.withKey { bytes throws(LMDBError) in try put(database, bytes, value, flags: flags) }
    }

    /// Makes room for a value under a number's key; the caller writes the value there.
    package func reserve(
        _ database: Database,
        _ key: UInt64,
        size: Int,
        flags: PutFlags = []
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        try key.withKey { bytes throws(LMDBError) in try reserve(database, bytes, size: size, flags: flags) }
    }

    /// Removes a number's key and its value; `false` if the key does not exist.
    package func delete(_ database: Database, _ key: UInt64) throws(LMDBError) -> Bool {
        try key.withKey { bytes throws(LMDBError) in try delete(database, bytes) }
    }
}
