import CGuardedLMDB
import CLMDB
import Synchronization

/// A place in a database or a section of one, moved in the order of keys.
///
/// A cursor is *at* a record, *before* the first, *after* the last, or nowhere yet. ``next()`` from nowhere or before
/// the first goes to the first record, ``previous()`` from nowhere or after the last to the last. After ``delete()`` it
/// is between the neighbours of what it deleted. (LMDB's own cursor stays at the last record when `next` finds nothing,
/// so a delete there would hit it; hence the bookkeeping.) Changes made otherwise in the same transaction are followed.
///
/// A write transaction's cursor has to be closed, that is go out of scope, before the transaction ends: LMDB frees it
/// then. One that is left is noticed, is not freed again, and answers `.badTransaction`. A read transaction's cursor
/// may stay, and be used again after ``renew(on:)``; not renewed, it must not be used once its transaction has ended.
package struct Cursor: ~Copyable {
    /// A record, in place: not aligned, and valid until the next change or the transaction's end or reset.
    package struct Entry {
        /// The key.
        package let key: UnsafeRawBufferPointer
        /// The value.
        package let value: UnsafeRawBufferPointer
    }

    /// How ``seek(_:_:)-(UnsafeRawBufferPointer,_)`` chooses a record.
    package enum Match: Sendable {
        /// The record with this key.
        case exactly
        /// The record with this key, or else the one with the smallest key above it.
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

    /// For a write transaction's cursor: where to ask whether that transaction has ended, and what the count was.
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
        // mdb.c, mdb_cursors_close: a write transaction's end frees its cursors.
        if isLive { mdb_cursor_close(handle) }
    }

    @inline(__always)
    private var isLive: Bool {
        guard let environment else { return true }
        return environment.writesEnded.load(ordering: .relaxed) == writesEnded
    }

    // MARK: Moving

    /// Goes to a key, or to the first one not below it; nil if there is none.
    ///
    /// If nothing is found the cursor is after the last record for `.atLeast`, so that ``previous()`` gives the
    /// greatest key below, and nowhere for `.exactly`.
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

    /// Goes to a number's key, or to the first one not below it; nil if there is none.
    package mutating func seek(_ key: UInt64, _ match: Match) throws(LMDBError) -> Entry? {
        try key.withKey { bytes throws(LMDBError) in try seek(bytes, match) }
    }

    /// Goes to the first record; nil if there is none.
    package mutating func first() throws(LMDBError) -> Entry? {
        guard database.mark != 0 else { return try move(MDB_FIRST, else: .afterLast) }
        return try withUnsafeBytes(of: database.mark) { (mark) throws(LMDBError) in
            try move(MDB_SET_RANGE, MDB_val(mark), else: .afterLast)
        }
    }

    /// Goes to the last record; nil if there is none.
    package mutating func last() throws(LMDBError) -> Entry? {
        var isFollowed = false
        if 1..<UInt8.max ~= database.mark {
            // Behind the section: the first record of what follows it, if anything does.
            isFollowed = try withUnsafeBytes(of: database.mark + 1) { (mark) throws(LMDBError) in
                var (key, value) = (MDB_val(mark), MDB_val())
                return try finds(MDB_SET_RANGE, &key, &value)
            }
        }
        return try move(isFollowed ? MDB_PREV : MDB_LAST, else: .beforeFirst)
    }

    /// Goes to the next record; nil if there is none.
    package mutating func next() throws(LMDBError) -> Entry? {
        try countStep()
        return switch position {
        case .at, .deleted: try move(MDB_NEXT, else: .afterLast)
        case .nowhere, .beforeFirst: try first()
        case .afterLast: nil
        }
    }

    /// Goes to the previous record; nil if there is none.
    package mutating func previous() throws(LMDBError) -> Entry? {
        try countStep()
        return switch position {
        case .at, .deleted: try move(MDB_PREV, else: .beforeFirst)
        case .nowhere, .afterLast: try last()
        case .beforeFirst: nil
        }
    }

    /// The record that the cursor is at; nil if it is at none.
    ///
    /// If the record was removed otherwise than by ``delete()``, this is the one that follows it.
    package mutating func current() throws(LMDBError) -> Entry? {
        guard position == .at else { return nil }
        return try move(MDB_GET_CURRENT, else: .afterLast)
    }

    /// Ends a walk that goes past more records than the file has room for: the tree leads to some of its pages again and again.
    ///
    /// (A page that leads to itself, or to one above it, ends the walk sooner: LMDB's cursors are 32 pages deep.) What a write
    /// transaction walks is not bounded by what is committed.
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

    /// Moves LMDB's cursor, into whichever section; whether it came to a record.
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

    /// Stores a value under a key, in place of one that is there, and goes to it.
    ///
    /// The corresponding C function is `mdb_cursor_put`.
    ///
    /// - Throws: As ``Access/put(_:_:_:flags:)-(_,UnsafeRawBufferPointer,_,_)``; the cursor is nowhere then.
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

    /// Stores a value under a number's key, in place of one that is there, and goes to it.
    package mutating func put(
        _ key: UInt64,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        try key.withKey { bytes throws(LMDBError) in try put(bytes, value, flags: flags) }
    }

    /// Makes room for a value under a number's key, goes to it, and leaves it to the caller to write it there.
    ///
    /// As ``Access/reserve(_:_:size:flags:)-(_,UnsafeRawBufferPointer,_,_)`` does. A cursor that is at the last record
    /// appends without a search.
    package mutating func reserve(
        _ key: UInt64,
        size: Int,
        flags: PutFlags = []
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        guard isLive else { throw .badTransaction }
        guard size >= 0 else { throw .badValueSize }
        var value = MDB_val(mv_size: size, mv_data: nil)
        let result = try key.withKey { (key) throws(LMDBError) in
            try database.withStored(key) { (key) throws(LMDBError) in
                guarded_cursor_put(guarding, handle, &key, &value, flags.permitted | UInt32(MDB_RESERVE))
            }
        }
        position = result == MDB_SUCCESS ? .at : .nowhere
        try check(result)
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: size)
    }

    /// Deletes the record that the cursor is at; ``next()`` and ``previous()`` then give its neighbours.
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

    // MARK: Reusing

    /// Ties a read transaction's cursor to a read transaction that has begun or been renewed since; it is nowhere then.
    ///
    /// Allocates nothing. The corresponding C function is `mdb_cursor_renew`.
    ///
    /// - Throws: `.invalidArgument` if either belongs to a write transaction; `.badTransaction` if it is reset.
    package mutating func renew(on access: Access) throws(LMDBError) {
        guard environment == nil else { throw .invalidArgument }
        position = .nowhere
        try check(guarded_cursor_renew(guarding, access.handle, handle))
    }
}
