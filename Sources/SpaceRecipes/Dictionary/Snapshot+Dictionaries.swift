import LMDB
import SpaceSystem
import TupleCoding

// The entries of a dictionary are cells: a cell's key is the dictionary's name, a slash, and the entry's key. No dictionary's name
// has a slash, so a cell's first slash says whose it is, and the entries of a dictionary lie side by side.

extension Snapshot {
    /// Throws: `closed` when the dictionary that a handle means is not there any more, also if it was made anew.
    func checkDictionary(_ name: String, _ number: UInt64) throws(SpaceError) {
        guard let object = try object(name), object.number == number else {
            throw SpaceError(
                .closed,
                operation,
                namespace: namespace,
                reason: "the dictionary \(name.quotedForPeople) was removed",
                advice: "open it again to start afresh"
            )
        }
    }

    /// Visits the entries of a dictionary in the order of their keys' UTF-8, until `visit` returns `false`.
    func forEachEntry(
        ofDictionary name: String,
        _ visit: (_ key: String, _ value: UnsafeRawBufferPointer) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        let keys = DictionaryKeys(name)
        var cursor = try lmdb { () throws(LMDBError) in try access.cursor(tables.cells) }
        var entry = try step(&cursor) { (cursor) throws(LMDBError) in
            try keys.prefix.withBytes { (prefix) throws(LMDBError) in try cursor.seek(prefix, .atLeast) }
        }
        while let found = entry, found.key.starts(with: keys.prefix) {
            guard let key = keys.key(ofCell: found.key) else {
                throw damaged("a key of the dictionary \(name.quotedForPeople) is no UTF-8")
            }
            guard try visit(key, found.value) else { return }
            entry = try step(&cursor) { (cursor) throws(LMDBError) in try cursor.next() }
        }
    }

    /// How many entries a dictionary has, counted one by one: cells are set and unset also by those who know nothing of it.
    package func entryCount(ofDictionary name: String) throws(SpaceError) -> Int {
        var count = 0
        try forEachEntry(ofDictionary: name) { (_, _) throws(SpaceError) in
            count += 1
            return true
        }
        return count
    }

    /// The cells of a dictionary, and what removing them demands.
    package func cells(ofDictionary name: String) throws(SpaceError) -> (keys: [String], demand: DiskReserve.Demand) {
        let prefix = name + "/"
        var keys: [String] = []
        var bytes = 0
        try forEachEntry(ofDictionary: name) { (key, value) throws(SpaceError) in
            keys.append(prefix + key)
            // The journal keeps both.
            bytes += prefix.utf8.count + key.utf8.count + value.count
            return true
        }
        var demand = DiskReserve.Demand.removing(keys.count, removed: bytes)
        demand.cells = keys.count
        return (keys, demand)
    }
}

extension NamespaceCore {
    /// Unsets all cells of a dictionary, as a part of a transaction.
    func removeEntries(ofDictionary name: String, in scope: WriteScope) throws(SpaceError) {
        let (keys, demand) = try scope.snapshot.cells(ofDictionary: name)
        scope.demand = scope.demand + demand
        try engine.ensureRoom(scope.demand)
        for key in keys { try scope.unset(key) }
    }
}
