import TupleCoding

extension Limits {
    /// The longest name of a shared object (a collection, a lock, a queue …), in bytes of UTF-8.
    public static let objectNameBytes = 240

    /// Throws `invalidArgument` for a name that no object can have; `what` says whose name it is.
    package static func check(objectName name: String, _ what: String = "the name") throws(SpaceError) {
        guard (1...objectNameBytes).contains(name.utf8.count) else {
            throw .badName(what, bytes: name.utf8.count, most: objectNameBytes)
        }
    }
}

extension TransactionTables {
    package var objectRows: Table<String, SharedObjectRow> { table(tables.objects) }
}

extension Snapshot {
    /// The object with a name, or `nil` if there is none; throws `damaged`.
    package func object(_ name: String) throws(SpaceError) -> SharedObjectRow? {
        // The empty name is that of requests, and an empty key is not allowed in the table.
        guard !name.isEmpty else { return nil }
        return try objectRows.get(name)
    }

    /// The object with a name and a kind, or `nil` if there is none.
    ///
    /// Throws `typeMismatch` if the object is of another kind.
    package func object(_ name: String, _ kind: SharedObjectKind) throws(SpaceError) -> SharedObjectRow? {
        guard let object = try object(name) else { return nil }
        guard object.kind == kind else { throw .mismatch(name, object.kind, wanted: kind) }
        return object
    }

    /// Visits all objects, by name; rows that do not decode are left out.
    package func forEachObject(_ visit: (String, SharedObjectRow) throws(SpaceError) -> Void) throws(SpaceError) {
        var rows = try objectRows.scan()
        while let (name, row) = try rows.nextValid() { try visit(name, row) }
    }
}

extension WriteScope {
    /// Adds an object whose name is free, and returns its number.
    func addObject(_ name: String, _ kind: SharedObjectKind, details: Value) throws(SpaceError) -> UInt64 {
        let number = counters.nextObject
        counters.nextObject += 1
        try store(name, SharedObjectRow(kind: kind, number: number, details: details))
        return number
    }

    /// Replaces the row of an object.
    package func store(_ name: String, _ row: SharedObjectRow) throws(SpaceError) {
        try objectRows.put(name, row)
        noteUpkeep()
    }

    /// Removes the row of an object; its rows in other tables must be removed first, by its kind's code.
    package func removeObject(_ name: String) throws(SpaceError) {
        try objectRows.delete(name)
        noteUpkeep()
    }
}
