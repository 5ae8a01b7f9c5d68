/// The value of a table's row: from bytes and to bytes.
package protocol TableRow {
    /// Borrows a row from its page, or copies it; `nil` if the bytes are not such a row.
    ///
    /// A row that states a part of its key reads it from the key's bytes.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    /// Writes the row to the room that `room` makes for its size.
    func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError)

    /// What is wrong with the row of a key that does not decode, for people.
    static func damage(at key: UnsafeRawBufferPointer) -> String
}

extension EncodedTableRow {
    /// Reads a row that is in memory.
    package init?(keyBytes: [UInt8], valueBytes: [UInt8]) {
        let row = keyBytes.withUnsafeBytes { key in valueBytes.withUnsafeBytes { Self(key: key, value: $0) } }
        guard let row else { return nil }
        self = row
    }
}

/// A row that is put together in memory before it is stored.
package protocol EncodedTableRow: TableRow {
    /// The row's bytes.
    var encoded: [UInt8] { get }
}

extension EncodedTableRow {
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let bytes = encoded
        try room(bytes.count).copyBytes(from: bytes)
    }
}

/// No value: the row of a table whose keys say all.
package struct NoValue: TableRow {
    package init() {}

    @inline(__always)
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {}

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        _ = try room(0)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        "a key of \(key.count) bytes does not decode"
    }
}

/// Bytes that the table does not look into, borrowed from their page.
extension UnsafeRawBufferPointer: TableRow {
    @inline(__always)
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self = value }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        try room(count).copyMemory(from: self)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        "a key of \(key.count) bytes does not decode"
    }
}

/// Bytes that the table does not look into, in memory.
extension [UInt8]: TableRow, EncodedTableRow {
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    package var encoded: [UInt8] { self }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        "a key of \(key.count) bytes does not decode"
    }
}
