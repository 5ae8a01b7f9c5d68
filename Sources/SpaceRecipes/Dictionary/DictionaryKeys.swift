import LMDB
import TupleCoding

/// How the keys of a dictionary's entries become keys of cells.
package struct DictionaryKeys {
    package static let separator = UInt8(ascii: "/")

    /// What the keys of the cells begin with.
    package let prefix: [UInt8]

    package init(_ name: String) { prefix = Array(name.utf8) + [Self.separator] }

    /// The entry's key; `nil` when the cell is none of the dictionary's, or its key no UTF-8.
    package func key(ofCell cell: UnsafeRawBufferPointer) -> String? {
        guard cell.starts(with: prefix) else { return nil }
        return String(validating: cell.dropFirst(prefix.count), as: UTF8.self)
    }

    /// The same of a cell's key that is a string.
    package func key(ofCell cell: String) -> String? {
        guard cell.utf8.starts(with: prefix) else { return nil }
        return String(Substring(cell.utf8.dropFirst(prefix.count)))
    }
}
