import LMDB
import TupleCoding

/// How the keys of a dictionary's entries become keys of cells.
struct DictionaryKeys {
    static let separator = UInt8(ascii: "/")

    /// What the keys of the cells begin with.
    let prefix: [UInt8]

    init(_ name: String) { prefix = Array(name.utf8) + [Self.separator] }

    /// The entry's key; `nil` when the cell is none of the dictionary's, or its key no UTF-8.
    func key(ofCell cell: UnsafeRawBufferPointer) -> String? {
        guard cell.starts(with: prefix) else { return nil }
        return String(validating: cell.dropFirst(prefix.count), as: UTF8.self)
    }

    /// The same of a cell's key that is a string.
    func key(ofCell cell: String) -> String? {
        guard cell.utf8.starts(with: prefix) else { return nil }
        return String(Substring(cell.utf8.dropFirst(prefix.count)))
    }
}
