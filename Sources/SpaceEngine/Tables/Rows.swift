import Glibc
import LMDB
import SpaceSystem

/// A walk through the rows of a table, in the order of their keys.
///
/// A walk can stay open while its write transaction changes rows: it then sees the changed table.
package struct Rows<Key: TableKey, Row: TableRow>: ~Copyable {
    private var cursor: Cursor
    private let database: Database
    private let meter: Unmanaged<RoomMeter>?
    /// The row that the walk begins with, until `next` returns it.
    private var first: Cursor.Entry?
    /// The bytes with which all keys begin.
    private var prefix: [UInt8] = []
    /// Whether the walk has deleted the row that it was at.
    private var hasDeleted = false

    @inline(__always)
    init(_ cursor: consuming Cursor, _ database: Database, _ meter: Unmanaged<RoomMeter>?) {
        self.cursor = cursor
        self.database = database
        self.meter = meter
    }

    @inline(__always)
    mutating func seek(_ key: Key) throws(SpaceError) {
        try key.withBytes { (key) throws(SpaceError) in try seek(bytes: key) }
    }

    mutating func seek(prefix: [UInt8]) throws(SpaceError) {
        self.prefix = prefix
        try seek(from: prefix)
    }

    /// Goes to the first row whose key is not below some bytes, which are not empty.
    mutating func seek(from start: [UInt8]) throws(SpaceError) {
        try start.withBytes { (start) throws(SpaceError) in try seek(bytes: start) }
    }

    @inline(__always)
    private mutating func seek(bytes: UnsafeRawBufferPointer) throws(SpaceError) {
        first = try lmdb { () throws(LMDBError) in try cursor.seek(bytes, .atLeast) }
    }

    /// Makes `next` continue after the row that was sought, and `previous` before it.
    @inline(__always)
    mutating func pass() { first = nil }

    // MARK: Moving

    /// Goes to the next row; `nil` if there is none.
    ///
    /// Throws `damaged` for a row that does not decode.
    @inline(__always)
    package mutating func next() throws(SpaceError) -> (key: Key, row: Row)? {
        guard let entry = try step() else { return nil }
        return try decode(entry)
    }

    /// Goes to the previous row; `nil` if there is none.
    ///
    /// Throws `damaged` for a row that does not decode.
    @inline(__always)
    package mutating func previous() throws(SpaceError) -> (key: Key, row: Row)? {
        guard let entry = try lmdb({ () throws(LMDBError) in try cursor.previous() }) else { return nil }
        return try decode(entry)
    }

    /// Goes to the next row that decodes; `nil` if there is none.
    package mutating func nextValid() throws(SpaceError) -> (key: Key, row: Row)? {
        while let entry = try step() {
            if let key = Key(key: entry.key), let row = Row(key: entry.key, value: entry.value) { return (key, row) }
        }
        return nil
    }

    /// Goes to the next row, and returns its bytes, whether or not it decodes; `nil` if there is none.
    package mutating func nextBytes() throws(SpaceError) -> (
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    )? {
        try step().map { ($0.key, $0.value) }
    }

    @inline(__always)
    private mutating func step() throws(SpaceError) -> Cursor.Entry? {
        var entry = first
        first = nil
        if entry == nil { entry = try lmdb { () throws(LMDBError) in try cursor.next() } }
        guard !prefix.isEmpty, let found = entry else { return entry }
        return found.key.starts(with: prefix) ? found : nil
    }

    @inline(__always)
    private func decode(_ entry: Cursor.Entry) throws(SpaceError) -> (key: Key, row: Row) {
        guard let key = Key(key: entry.key), let row = Row(key: entry.key, value: entry.value) else {
            throw .damaged(Row.damage(at: entry.key))
        }
        return (key, row)
    }

    /// Goes to the row of a key; `nil` if there is none.
    ///
    /// If it is the next one, or the first of a walk from a key, it is found without a search from the tree's root.
    @inline(__always)
    mutating func next(_ key: Key) throws(SpaceError) -> Row? {
        guard let entry = try step() else { return nil }
        return try key.withBytes { (bytes) throws(SpaceError) in
            if Self.isSame(entry.key, bytes) { return try decode(entry).row }
            return try find(key)
        }
    }

    /// Goes to the row of a key; `nil` if there is none.
    ///
    /// If the row lies right before the row that was deleted last, it is found without a search from the tree's root.
    @inline(__always)
    mutating func find(_ key: Key) throws(SpaceError) -> Row? {
        let isBeside = hasDeleted
        (first, hasDeleted) = (nil, false)
        return try key.withBytes { (bytes) throws(SpaceError) in
            let found = try lmdb { () throws(LMDBError) -> Cursor.Entry? in
                if isBeside, let entry = try cursor.previous(), Self.isSame(entry.key, bytes) { return entry }
                return try cursor.seek(bytes, .exactly)
            }
            return try found.map { (entry) throws(SpaceError) in try decode(entry).row }
        }
    }

    @inline(__always)
    private static func isSame(_ key: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard key.count == other.count, let start = key.baseAddress, let other = other.baseAddress else { return false }
        return memcmp(start, other, key.count) == 0
    }

    // MARK: Changing

    /// Stores a row and goes to it.
    ///
    /// If the row belongs next to the row at which the walk is, its place is found without a search from the tree's
    /// root.
    @inline(__always)
    mutating func put(_ key: Key, _ row: Row) throws(SpaceError) { try put(key, row, []) }

    /// Stores a row whose key is greater than all others, and goes to it.
    @inline(__always)
    mutating func append(_ key: Key, _ row: Row) throws(SpaceError) { try put(key, row, .append) }

    @inline(__always)
    private mutating func put(_ key: Key, _ row: Row, _ flags: PutFlags) throws(SpaceError) {
        try row.write { (size) throws(SpaceError) in
            try key.withBytes { (key) throws(SpaceError) in
                try meter.charge(database, key, key.count + size, flags)
                return try lmdb { () throws(LMDBError) in try cursor.reserve(key, size: size, flags: flags) }
            }
        }
    }

    /// The key of the row that the walk is at.
    private mutating func key() throws(SpaceError) -> UnsafeRawBufferPointer? {
        try lmdb { () throws(LMDBError) in try cursor.current()?.key }
    }

    /// Deletes the row that the walk is at.
    package mutating func delete() throws(SpaceError) {
        let (meter, database) = (meter, database)
        try meter.charge(database, try key(), 0, [])
        try lmdb { () throws(LMDBError) in try cursor.delete() }
        hasDeleted = true
    }
}
