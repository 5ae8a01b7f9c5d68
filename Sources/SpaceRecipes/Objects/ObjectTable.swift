import SpaceSystem

extension Limits {
    /// The longest name of a shared object (a collection, a lock, a queue …), in bytes of UTF-8.
    package static let objectNameBytes = 240

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

/// The rows of objects, in a write transaction.
package struct ObjectTable {
    let scope: WriteScope

    /// Adds an object whose name is free, and returns its number.
    func add(_ name: String, _ kind: SharedObjectKind, details: Value) throws(SpaceError) -> UInt64 {
        let number = scope.counters.nextObject
        scope.counters.nextObject += 1
        try store(name, SharedObjectRow(kind: kind, number: number, details: details))
        return number
    }

    /// Replaces the row of an object.
    package func store(_ name: String, _ row: SharedObjectRow) throws(SpaceError) {
        try scope.objectRows.put(name, row)
        scope.noteUpkeep()
    }

    /// Removes the row of an object; its rows in other tables must be removed first, by its kind's code.
    package func remove(_ name: String) throws(SpaceError) {
        try scope.objectRows.delete(name)
        scope.noteUpkeep()
    }

    /// Notes a change of an object for watchers; its values are made only if a watcher or the history needs them.
    func note(
        _ kind: ChangeKind,
        object name: String,
        old: @autoclosure () -> Value?,
        new: @autoclosure () -> Value?
    ) throws(SpaceError) {
        guard scope.isJournaling else { return try scope.note(kind, name: name) }
        let (old, new) = (old()?.knownElement, new()?.knownElement)
        try Self.withBytes(old) { (old) throws(SpaceError) in
            try Self.withBytes(new) { (new) throws(SpaceError) in
                try scope.note(kind, name: name, old: old, new: new)
            }
        }
    }

    private static func withBytes(
        _ bytes: [UInt8]?,
        _ body: (UnsafeRawBufferPointer?) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard let bytes else { return try body(nil) }
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(bytes) }
    }
}

extension WriteScope {
    /// The objects of the namespace.
    package var objects: ObjectTable { ObjectTable(scope: self) }
}
