import LMDB
import SpaceSystem
import TupleCoding

/// Finds the tuples that match a template, in order.
///
/// If the template's shape has an index, the candidates are the index's rows for the template's hash: O(log n),
/// whichever fields are bound. Everything that the index can't know (a hash shared by chance, types, ranges, patterns)
/// is checked on the tuple itself. While an index is being built, the search also walks through all ids below its
/// watermark. Without an index it walks through all tuples, and counts them, so that the shape can earn an index.
package struct Search {
    package let snapshot: Snapshot
    package let shapes: ShapeTable
    package let template: Template
    package let order: MatchOrder
    /// How many tuples the search has looked at.
    package private(set) var examined = 0

    package init(_ snapshot: Snapshot, _ shapes: ShapeTable, _ template: Template, _ order: MatchOrder) {
        self.snapshot = snapshot
        self.shapes = shapes
        self.template = template
        self.order = order
    }

    package typealias Visit = (UInt64, TupleRow) throws(SpaceError) -> Bool

    /// Calls `visit` for each match, in order, until it returns `false`.
    ///
    /// The rows stay valid until something is changed.
    package mutating func forEach(_ visit: Visit) throws(SpaceError) {
        guard let index = shapes.index(for: template.shape) else {
            _ = try scan(0..<UInt64.max, visit)
            return
        }
        switch order {
        case .oldestFirst:
            if index.watermark > 0, try !scan(0..<index.watermark, visit) { return }
            _ = try lookUp(index, from: index.watermark, visit)
        case .newestFirst:
            guard try lookUp(index, from: index.watermark, visit), index.watermark > 0 else { return }
            _ = try scan(0..<index.watermark, visit)
        }
    }

    /// Walks through all tuples in a range of ids.
    private mutating func scan(_ ids: Range<UInt64>, _ visit: Visit) throws(SpaceError) -> Bool {
        let (access, tuples) = (snapshot.access, snapshot.tables.tuples)
        var cursor = try snapshot.lmdb { () throws(LMDBError) in try access.cursor(tuples) }
        var entry = try step(&cursor) { (cursor) throws(LMDBError) in
            switch order {
            case .oldestFirst: return try cursor.first()
            case .newestFirst:
                if ids.upperBound == .max { return try cursor.last() }
                _ = try cursor.seek(ids.upperBound, .atLeast)
                return try cursor.previous()
            }
        }
        while let found = entry {
            guard let id = UInt64(key: found.key), let row = TupleRow(found.value) else {
                throw snapshot.damaged("a row of the table of tuples is too short")
            }
            guard ids.contains(id) else { return true }
            examined += 1
            if template.matches(row.encoded), snapshot.isVisible(row), try !visit(id, row) { return false }
            entry = try step(&cursor) { (cursor) throws(LMDBError) in
                order == .oldestFirst ? try cursor.next() : try cursor.previous()
            }
        }
        return true
    }

    /// Looks at the tuples that an index names.
    private mutating func lookUp(_ index: IndexedShape, from: UInt64, _ visit: Visit) throws(SpaceError) -> Bool {
        let (access, table) = (snapshot.access, snapshot.tables.index)
        let hash = template.boundHash
        var cursor = try snapshot.lmdb { () throws(LMDBError) in try access.cursor(table) }
        var entry = try step(&cursor) { (cursor) throws(LMDBError) in
            switch order {
            case .oldestFirst:
                return try IndexKey(shape: index.number, hash: hash, id: from)
                    .withBytes { (key) throws(LMDBError) in try cursor.seek(key, .atLeast) }
            case .newestFirst:
                _ = try IndexKey(shape: index.number, hash: hash, id: .max)
                    .withBytes { (key) throws(LMDBError) in try cursor.seek(key, .atLeast) }
                return try cursor.previous()
            }
        }
        while let found = entry {
            guard let key = IndexKey(found.key) else { throw snapshot.damaged("a key of the index has a wrong length") }
            guard key.shape == index.number, key.hash == hash, key.id >= from else { return true }
            let bytes = try snapshot.lmdb { () throws(LMDBError) in
                try withKey(key.id) { (key) throws(LMDBError) in try access.get(snapshot.tables.tuples, key) }
            }
            guard let bytes, let row = TupleRow(bytes) else {
                throw snapshot.damaged("the index names tuple \(key.id), which is not there")
            }
            examined += 1
            if template.matches(row.encoded), snapshot.isVisible(row), try !visit(key.id, row) { return false }
            entry = try step(&cursor) { (cursor) throws(LMDBError) in
                order == .oldestFirst ? try cursor.next() : try cursor.previous()
            }
        }
        return true
    }

    private func step(
        _ cursor: inout Cursor,
        _ body: (inout Cursor) throws(LMDBError) -> Cursor.Entry?
    ) throws(SpaceError) -> Cursor.Entry? {
        do throws(LMDBError) {
            return try body(&cursor)
        } catch {
            throw SpaceError(error, snapshot.operation, namespace: snapshot.namespace)
        }
    }
}
