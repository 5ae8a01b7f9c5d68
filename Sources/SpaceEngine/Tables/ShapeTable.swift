import LMDB
import Synchronization
import TupleCoding

/// A shape that has, or is getting, or is losing an index: a row of `shapes`.
///
///     key    number, two bytes, big-endian
///     value  0  state: 1 building, 2 ready, 3 dropping
///            8  watermark: tuples with lower ids are perhaps not indexed yet
///            16 last use, milliseconds since 1970
///            24 the shape, encoded
struct IndexedShape: Sendable {
    enum State: UInt8, Sendable { case building = 1, ready, dropping }
    static let headerSize = 24

    var number: UInt16
    var state: State
    var watermark: UInt64
    var lastUse: Int64
    var shape: Shape

    init(number: UInt16, state: State, watermark: UInt64, lastUse: Int64, shape: Shape) {
        self.number = number
        self.state = state
        self.watermark = watermark
        self.lastUse = lastUse
        self.shape = shape
    }

    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard key.count == 2, value.count > Self.headerSize, let state = State(rawValue: value[0]),
            let shape = Shape(encoded: UnsafeRawBufferPointer(rebasing: value[Self.headerSize...]))
        else { return nil }
        number = key.big(0)
        self.state = state
        watermark = value.little(8)
        lastUse = value.little(16)
        self.shape = shape
    }

    var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.headerSize)
        bytes[0] = state.rawValue
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: watermark.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: lastUse.littleEndian, toByteOffset: 16, as: Int64.self)
        }
        return bytes + shape.encoded()
    }

    func withKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var key = number.bigEndian
        return try withUnsafeBytes(of: &key) { (bytes) throws(E) -> R in try body(bytes) }
    }
}

/// The shapes of a namespace as one commit has them.
final class ShapeTable: Sendable {
    static let empty = ShapeTable(generation: 0, all: [])

    let generation: UInt64
    let all: [IndexedShape]
    /// Those that every new tuple is indexed for.
    let indexed: [IndexedShape]
    let isDropping: Bool

    init(generation: UInt64, all: [IndexedShape]) {
        self.generation = generation
        self.all = all
        indexed = all.filter { $0.state != .dropping }
        isDropping = indexed.count != all.count
    }

    func index(for shape: Shape) -> IndexedShape? { indexed.first { $0.shape == shape } }

    init(reading snapshot: Snapshot, generation: UInt64) throws(SpaceError) {
        var all: [IndexedShape] = []
        try snapshot.lmdb { () throws(LMDBError) in
            var cursor = try snapshot.access.cursor(snapshot.tables.shapes)
            while let row = try cursor.next() {
                if let shape = IndexedShape(key: row.key, value: row.value) { all.append(shape) }
            }
        }
        guard all.count <= Limits.shapes else { throw snapshot.damaged("it has more than \(Limits.shapes) shapes") }
        self.generation = generation
        self.all = all
        indexed = all.filter { $0.state != .dropping }
        isDropping = indexed.count != all.count
    }
}

/// The last table of shapes that this process read, good as long as its generation is the current one.
final class ShapeCache: Sendable {
    private struct Known {
        var table = ShapeTable.empty
        /// A commit that has this table; 0: not known.
        var commit = 0
    }

    private let known = Mutex(Known())

    /// The table of a snapshot; nothing is read where it is the commit that was last looked at.
    func table(of snapshot: Snapshot) throws(SpaceError) -> ShapeTable {
        let known = known.withLock { $0 }
        if known.commit == snapshot.access.id { return known.table }
        let generation = try snapshot.counters().shapesGeneration
        let table = try table(of: snapshot, generation: generation)
        confirm(generation: generation, at: snapshot.access.id)
        return table
    }

    func table(of snapshot: Snapshot, generation: UInt64) throws(SpaceError) -> ShapeTable {
        let table = known.withLock { $0.table }
        if table.generation == generation { return table }
        let read = try ShapeTable(reading: snapshot, generation: generation)
        // Only a table that a commit has is kept: in a write transaction that is undone the generation stays unused.
        known.withLock { $0 = Known(table: read) }
        return read
    }

    /// Notes that a commit has the table of this generation.
    func confirm(generation: UInt64, at commit: Int) {
        known.withLock { if $0.table.generation == generation { $0.commit = commit } }
    }
}
