/// Converts between the keys of a dictionary's entries and the keys of cells.
package struct DictionaryKeys {
    package static let separator = UInt8(ascii: "/")

    /// The common prefix of the cells' keys.
    package let prefix: [UInt8]

    package init(_ name: String) { prefix = Array(name.utf8) + [Self.separator] }

    /// The key of an entry, or `nil` if the cell does not belong to the dictionary or its key is not UTF-8.
    package func key(ofCell cell: UnsafeRawBufferPointer) -> String? {
        guard cell.starts(with: prefix) else { return nil }
        return String(validating: cell.dropFirst(prefix.count), as: UTF8.self)
    }

    /// The key of an entry, from a cell's key that is a string.
    package func key(ofCell cell: String) -> String? {
        guard cell.utf8.starts(with: prefix) else { return nil }
        return String(Substring(cell.utf8.dropFirst(prefix.count)))
    }
}
