import CGuardedLMDB
import Synchronization

/// A position in a database or a section, which moves in the order of the keys.
///
/// A cursor is *at* a record, *before* the first record, *after* the last record, or nowhere yet. From nowhere or
/// before the first record, ``next()`` goes to the first record; from nowhere or after the last record, ``previous()``
/// goes to the last. After ``delete()`` the cursor is between the neighbours of the deleted record. (LMDB's own cursor
/// stays at the last record when `next` finds nothing, so a delete would hit that record; therefore this type keeps its
/// own position.) The cursor follows changes that are made without it in the same transaction.
///
/// A write transaction's cursor must be closed, that is, go out of scope, before the transaction ends, because LMDB
/// then frees it. A cursor that is still open at that time is not freed again, and answers `.badTransaction`. A read
/// transaction's cursor may be kept, and used again after ``renew(on:)``. Without a renewal it must not be used once
/// its transaction has ended.
package struct Cursor: ~Copyable {
    /// A record in the map: not aligned, and valid until the next change, or until the transaction's end or reset.
    package struct Entry {
        /// The key.
        package let key: UnsafeRawBufferPointer
        /// The value.
        package let value: UnsafeRawBufferPointer
    }

    /// How ``seek(_:_:)`` chooses a record.
    package enum Match: Sendable {
        /// The record with this key.
        case exactly
        /// The record with this key or, if there is none, the record with the smallest key above it.
        case atLeast
    }

    private enum Position {
        case nowhere, beforeFirst, at, deleted, afterLast
    }

    private let handle: OpaquePointer
    private let guarding: OpaquePointer
    private let database: Database
    private var position = Position.nowhere
    private var steps: UInt64 = 0

    /// The environment of a write transaction's cursor, `nil` for a read transaction's.
    ///
    /// If the transaction has ended, the environment's count of ended write transactions differs from ``writesEnded``.
    private let environment: Environment?
    private let writesEnded: UInt64

    init(
        _ handle: OpaquePointer,
        _ guarding: OpaquePointer,
        in database: Database,
        writingIn environment: Environment?
    ) {
        self.handle = handle
        self.guarding = guarding
        self.database = database
        self.environment = environment
        writesEnded = environment?.writesEnded.load(ordering: .relaxed) ?? 0
    }

    deinit {
        // mdb.c, mdb_cursors_close: the end of a write transaction frees its cursors.
        if isLive { mdb_cursor_close(handle) }
    }

    @inline(__always)
    private var isLive: Bool {
        guard let environment else { return true }
        return environment.writesEnded.load(ordering: .relaxed) == writesEnded
    }

    // MARK: Moving

    /// Goes to a key or, with `.atLeast`, to the first key that is not below it; `nil` if there is none.
    ///
    /// If no record is found with `.atLeast`, the cursor is after the last record, so that ``previous()`` returns the
    /// record with the greatest key below. If no record is found with `.exactly`, the cursor is nowhere.
    ///
    /// The corresponding C function is `mdb_cursor_get` with `MDB_SET_KEY` or `MDB_SET_RANGE`.
    ///
    /// - Throws: `.badValueSize` for an empty key; `.badTransaction`.
    package mutating func seek(_ key: UnsafeRawBufferPointer, _ match: Match) throws(LMDBError) -> Entry? {
        try database.withStored(key) { (key) throws(LMDBError) in
            switch match {
            case .exactly: try move(MDB_SET_KEY, key, else: .nowhere)
            case .atLeast: try move(MDB_SET_RANGE, key, else: .afterLast)
            }
        }
    }

    /// Goes to the first record; `nil` if there is none.
    package mutating func first() throws(LMDBError) -> Entry? {
        guard database.mark != 0 else { return try move(MDB_FIRST, else: .afterLast) }
        return try withUnsafeBytes(of: database.mark) { (mark) throws(LMDBError) in
            try move(MDB_SET_RANGE, MDB_val(mark), else: .afterLast)
        }
    }

    /// Goes to the last record; `nil` if there is none.
    package mutating func last() throws(LMDBError) -> Entry? {
        var isFollowed = false
        if 1..<UInt8.max ~= database.mark {
            // LMDB's cursor goes to the first record after the section, if there is one.
            isFollowed = try withUnsafeBytes(of: database.mark + 1) { (mark) throws(LMDBError) in
                var (key, value) = (MDB_val(mark), MDB_val())
                return try finds(MDB_SET_RANGE, &key, &value)
            }
        }
        return try move(isFollowed ? MDB_PREV : MDB_LAST, else: .beforeFirst)
    }

    /// Goes to the next record; `nil` if there is none.
    package mutating func next() throws(LMDBError) -> Entry? {
        try countStep()
        return switch position {
        case .at, .deleted: try move(MDB_NEXT, else: .afterLast)
        case .nowhere, .beforeFirst: try first()
        case .afterLast: nil
        }
    }

    /// Goes to the previous record; `nil` if there is none.
    package mutating func previous() throws(LMDBError) -> Entry? {
        try countStep()
        return switch position {
        case .at, .deleted: try move(MDB_PREV, else: .beforeFirst)
        case .nowhere, .afterLast: try last()
        case .beforeFirst: nil
        }
    }

    /// The record that the cursor is at; `nil` if it is at none.
    ///
    /// If the record was removed without ``delete()``, this is the record that follows it.
    package mutating func current() throws(LMDBError) -> Entry? {
        guard position == .at else { return nil }
        return try move(MDB_GET_CURRENT, else: .afterLast)
    }

    /// Throws `.damagedPage` if the cursor has taken more steps than the file has room for records.
    ///
    /// In such a file the tree leads to some of its pages again and again.
    ///
    /// (If a page leads to itself or to a page above it, LMDB ends the walk sooner: its cursors are 32 pages deep.) A
    /// write transaction's walk is not checked, because it may also pass records that are not committed yet.
    @inline(__always)
    private mutating func countStep() throws(LMDBError) {
        steps &+= 1
        if steps & 0xF_FFFF == 0, environment == nil, !guarded_fits(guarding, steps) { throw .damagedPage }
    }

    @inline(__always)
    private mutating func move(
        _ operation: MDB_cursor_op,
        _ wanted: MDB_val = MDB_val(),
        else missing: Position
    ) throws(LMDBError) -> Entry? {
        var (key, value) = (wanted, MDB_val())
        guard try finds(operation, &key, &value), let key = database.key(stored: key) else {
            position = missing
            return nil
        }
        position = .at
        return Entry(key: key, value: value.bytes)
    }

    /// Moves LMDB's cursor, perhaps into another section, and returns whether it is at a record.
    @inline(__always)
    private mutating func finds(
        _ operation: MDB_cursor_op,
        _ key: inout MDB_val,
        _ value: inout MDB_val
    ) throws(LMDBError) -> Bool {
        guard isLive else { throw .badTransaction }
        let result = guarded_cursor_get(guarding, handle, &key, &value, operation)
        if result == MDB_SUCCESS { return true }
        if result == MDB_NOTFOUND { return false }
        position = .nowhere
        throw LMDBError(code: result)
    }

    // MARK: Changing

    /// Stores a value under a key, replaces an existing value, and goes to the record.
    ///
    /// The corresponding C function is `mdb_cursor_put`.
    ///
    /// - Throws: The errors of ``Access/put(_:_:_:flags:)``; the cursor is nowhere then.
    package mutating func put(
        _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        guard isLive else { throw .badTransaction }
        var value = MDB_val(value)
        let result = try database.withStored(key) { (key) throws(LMDBError) in
            guarded_cursor_put(guarding, handle, &key, &value, flags.permitted)
        }
        position = result == MDB_SUCCESS ? .at : .nowhere
        try check(result)
    }

    /// Makes room for a value and goes to the record; the caller writes the value there.
    ///
    /// See ``Access/reserve(_:_:size:flags:)``. A cursor that is at the last record
    /// appends without a search.
    package mutating func reserve(
        _ key: UnsafeRawBufferPointer,
        size: Int,
        flags: PutFlags = []
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        guard isLive else { throw .badTransaction }
        guard size >= 0 else { throw .badValueSize }
        var value = MDB_val(mv_size: size, mv_data: nil)
        let result = try database.withStored(key) { (key) throws(LMDBError) in
            guarded_cursor_put(guarding, handle, &key, &value, flags.permitted | UInt32(MDB_RESERVE))
        }
        position = result == MDB_SUCCESS ? .at : .nowhere
        try check(result)
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: size)
    }

    /// Deletes the record that the cursor is at; ``next()`` and ``previous()`` then return its neighbours.
    ///
    /// The corresponding C function is `mdb_cursor_del`.
    ///
    /// - Throws: `.invalidArgument` if the cursor is at no record; `.accessDenied` in a read transaction.
    package mutating func delete() throws(LMDBError) {
        guard isLive else { throw .badTransaction }
        guard position == .at else { throw .invalidArgument }
        let result = guarded_cursor_del(guarding, handle)
        position = result == MDB_SUCCESS ? .deleted : .nowhere
        try check(result)
    }
}
