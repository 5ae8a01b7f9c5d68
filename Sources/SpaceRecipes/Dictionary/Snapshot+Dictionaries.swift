// The entries of a dictionary are cells: a cell's key is the dictionary's name, a slash, and the entry's key. No
// dictionary's name contains a slash. So the part before a cell's first slash names its dictionary, and the entries of
// a dictionary are adjacent.

extension Snapshot {
    /// Throws `closed` if the dictionary of a handle no longer exists, even if a new one has its name.
    package func checkDictionary(_ name: String, _ number: UInt64) throws(SpaceError) {
        guard let object = try object(name), object.number == number else {
            throw .removed("the dictionary", name)
        }
    }

    /// Visits the entries of a dictionary in the order of their keys' UTF-8, until `visit` returns `false`.
    package func forEachEntry(
        ofDictionary name: String,
        _ visit: (_ key: String, _ value: UnsafeRawBufferPointer) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        let keys = DictionaryKeys(name)
        var rows = try cellsByBytes.scan(prefix: keys.prefix)
        while let (cell, value) = try rows.nextBytes() {
            guard let key = keys.key(ofCell: cell) else {
                throw .damaged("a key of the dictionary \(name.quotedForPeople) is no UTF-8")
            }
            guard let row = CellRow(value) else { throw .damaged(CellRow.damage(at: cell)) }
            guard row.end.isVisible(clock) else { continue }
            guard try visit(key, row.element) else { return }
        }
    }

    /// The number of a dictionary's entries, counted one by one, because cells are also set and unset by calls that
    /// know no dictionary.
    package func entryCount(ofDictionary name: String) throws(SpaceError) -> Int {
        var count = 0
        try forEachEntry(ofDictionary: name) { (_, _) throws(SpaceError) in
            count += 1
            return true
        }
        return count
    }

    /// The cells of a dictionary, and the size of their keys and values.
    package func cells(ofDictionary name: String) throws(SpaceError) -> (keys: [String], bytes: Int) {
        let prefix = name + "/"
        var keys: [String] = []
        var bytes = 0
        try forEachEntry(ofDictionary: name) { (key, value) throws(SpaceError) in
            keys.append(prefix + key)
            bytes += prefix.utf8.count + key.utf8.count + value.count
            return true
        }
        return (keys, bytes)
    }
}
