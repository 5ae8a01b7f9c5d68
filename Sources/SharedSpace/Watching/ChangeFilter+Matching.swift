import TupleCoding

extension ChangeFilter {
    /// Whether a row is told of, decided on its bytes.
    func includes(_ row: JournalRow) -> Bool {
        if let kinds, !kinds.contains(row.kind) { return false }
        switch row.kind {
        case .set, .unset:
            switch cells {
            case .none: return false
            case .all: return true
            case .key(let path): return Self.changes(path, row)
            }
        case .post:
            switch notifications {
            case .none: return false
            case .all: return true
            case .named(let name): return row.name.elementsEqual(name.utf8)
            }
        default:
            guard let tuples, let tuple = row.tuple else { return false }
            return tuples.matches(tuple)
        }
    }

    /// Whether a row changes the cell, or the part of a cell, that a path names.
    ///
    /// A cell whose key is the whole path comes first; else the key is what precedes one of the path's dots, and the rest leads
    /// into the value. A part that is the same before and after did not change.
    private static func changes(_ path: String, _ row: JournalRow) -> Bool {
        if row.name.elementsEqual(path.utf8) { return true }
        let key = String(decoding: row.name, as: UTF8.self)
        guard path.utf8.count > key.utf8.count + 1, path.hasPrefix(key + ".") else { return false }
        let parts = path.dropFirst(key.count + 1).split(separator: ".", omittingEmptySubsequences: false)
        func part(_ bytes: UnsafeRawBufferPointer?) -> Value? {
            guard let bytes, var value = try? Value(encodedElement: bytes) else { return nil }
            for name in parts {
                guard case .object(let record) = value, let inner = record[String(name)] else { return nil }
                value = inner
            }
            return value
        }
        return part(row.old) != part(row.new)
    }
}
