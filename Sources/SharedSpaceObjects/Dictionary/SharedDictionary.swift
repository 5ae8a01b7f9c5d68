/// Values by key that all processes share.
///
/// ```swift
/// let settings = try space.namespace("app").dictionary("settings", of: Int.self)
/// try settings.updateValue(3, forKey: "retries")
/// try settings.modify("retries") { $0 = ($0 ?? 0) + 1 }
/// self.token = try settings.observe(options: .initial) { change in show(change) }
/// ```
///
/// Each call is one step: other processes see all of its changes or none. Several calls are one step in
/// ``Namespace/transaction(_:)``, with ``Transaction/dictionary(_:)``.
///
/// An entry is a cell; the cell's key is the dictionary's name, a slash, and the entry's key.
/// `space get app settings/retries` reads it, and `space set` sets it. So an entry may have a value of another type:
/// reading it throws `badData` with its key, and setting or removing the entry repairs this.
///
/// Two keys are the same if their UTF-8 is. Each read may fail, as all communication between processes may, so this
/// type is not a `Sequence`: ``snapshot()`` gives a dictionary of one moment.
///
/// A handle is a value, and keeps its namespace open. After the dictionary was removed, the handle throws `closed`,
/// even if a new dictionary has the name.
public struct SharedDictionary<Value: Codable & Sendable>: StoredObject, StoredHandle {
    package let object: ObjectReference
    package let number: UInt64

    package var detail: String { " of \(Value.self)" }

    // MARK: Reading

    /// The value of a key, or `nil` if there is none.
    ///
    /// - Throws: `badData` if the value does not decode as the type; `tooLarge` for a key that no entry can have;
    ///   `closed`.
    /// - Complexity: O(log n), without a lock.
    public func value(forKey key: String) throws(SpaceError) -> Value? {
        try context.naming("read a value") { () throws(SpaceError) in try decode(try encodedValue(forKey: key), key) }
    }

    /// The value of a key, or `nil` if there is none.
    ///
    /// - Throws: The same errors as ``value(forKey:)``.
    public subscript(key: String) -> Value? {
        get throws(SpaceError) { try value(forKey: key) }
    }

    /// Whether there is a value for a key, of any type.
    ///
    /// - Complexity: O(log n), without a lock.
    public func contains(_ key: String) throws(SpaceError) -> Bool {
        try context.naming("look for a key") { () throws(SpaceError) in
            let cell = try cellKey(key)
            return try read { (snapshot) throws(SpaceError) in try snapshot.cell(cell) != nil }
        }
    }

    /// The number of entries.
    ///
    /// - Complexity: O(n).
    public var count: Int {
        get throws(SpaceError) {
            try context.naming("count the entries") { () throws(SpaceError) in
                try read { (snapshot) throws(SpaceError) in try snapshot.entryCount(ofDictionary: name) }
            }
        }
    }

    /// Whether there are no entries.
    ///
    /// - Complexity: O(log n).
    public var isEmpty: Bool {
        get throws(SpaceError) {
            try context.naming("look for an entry") { () throws(SpaceError) in
                var isEmpty = true
                try read { (snapshot) throws(SpaceError) in
                    try snapshot.forEachEntry(ofDictionary: name) { (_, _) throws(SpaceError) in
                        isEmpty = false
                        return false
                    }
                }
                return isEmpty
            }
        }
    }

    /// The keys of one moment, in the order of their UTF-8.
    ///
    /// - Complexity: O(n).
    public func keys() throws(SpaceError) -> [String] {
        try context.naming("read the keys") { () throws(SpaceError) in
            var keys: [String] = []
            try read { (snapshot) throws(SpaceError) in
                try snapshot.forEachEntry(ofDictionary: name) { (key, _) throws(SpaceError) in
                    keys.append(key)
                    return true
                }
            }
            return keys
        }
    }

    /// The entries of one moment, as a Swift dictionary that later changes don't affect.
    ///
    /// - Throws: `badData` if a value does not decode as the type, or if two keys are equal for Swift and differ as
    ///   UTF-8, so that a Swift dictionary can hold only one of them: ``entries()`` reads both.
    /// - Complexity: O(n).
    public func snapshot() throws(SpaceError) -> [String: Value] {
        try context.naming("read the entries") { () throws(SpaceError) in
            let entries = try entries(of: nil).entries
            let dictionary = entries.asDictionary
            guard dictionary.count == entries.count else {
                throw SpaceError(
                    .badData,
                    reason: "\(title) has keys that a Swift dictionary takes for one, since they differ only in their "
                        + "Unicode form",
                    advice: "read them with entries(), or remove one of them"
                )
            }
            return dictionary
        }
    }

    /// The entries of one moment, by keys that compare as UTF-8.
    ///
    /// - Throws: `badData` if a value does not decode as the type.
    /// - Complexity: O(n).
    public func entries() throws(SpaceError) -> Entries {
        try context.naming("read the entries") { () throws(SpaceError) in try entries(of: nil).entries }
    }

    /// The entry of one key or all entries, with the number of the last change that they contain.
    package func entries(of key: String?) throws(SpaceError) -> (entries: Entries, sequence: UInt64) {
        let cell = try key.map { (key) throws(SpaceError) in try cellKey(key) }
        let (values, sequence) = try read { (snapshot) throws(SpaceError) in
            var values: [(key: String, value: TupleCoding.Value)] = []
            if let key, let cell {
                if let bytes = try snapshot.cell(cell) { values.append((key, try snapshot.value(cell, bytes))) }
            } else {
                try snapshot.forEachEntry(ofDictionary: name) { (key, bytes) throws(SpaceError) in
                    values.append((key, try snapshot.value(key, bytes)))
                    return true
                }
            }
            return (values, try snapshot.counters().sequence)
        }
        var entries = Entries()
        for (key, value) in values { entries[key] = try decode(value, key) }
        return (entries, sequence)
    }

    // MARK: Helpers

    package func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try core.write(.removing) { (scope) throws(SpaceError) in
            guard try scope.snapshot.object(name, .dictionary)?.number == number else { return false }
            try scope.dictionaries.removeEntries(of: name)
            try scope.objects.remove(name)
            try scope.note(.discard, name: name)
            return true
        }
    }

    /// The same dictionary, read and edited elsewhere.
    func moved(to context: ObjectContext) -> SharedDictionary {
        SharedDictionary(object: ObjectReference(.dictionary, name, in: context), number: number)
    }

    /// The dictionary's name in errors.
    package var title: String { "the dictionary \(name.quotedForPeople)" }

    package func read<R>(_ body: (Snapshot) throws(SpaceError) -> R) throws(SpaceError) -> R {
        func read(_ snapshot: Snapshot) throws(SpaceError) -> R {
            try snapshot.checkDictionary(name, number)
            return try body(snapshot)
        }
        switch context {
        case .namespace(let namespace):
            return try namespace.usableCore().read(read)
        case .transaction(let state):
            try state.checkRunsHere(title)
            return try state.read { (scope) throws(SpaceError) in try read(scope.snapshot) }
        }
    }

    func encodedValue(forKey key: String) throws(SpaceError) -> TupleCoding.Value? {
        let cell = try cellKey(key)
        return try read { (snapshot) throws(SpaceError) in
            try snapshot.cell(cell).map { (bytes) throws(SpaceError) in try snapshot.value(cell, bytes) }
        }
    }

    /// The key of an entry's cell.
    func cellKey(_ key: String) throws(SpaceError) -> String {
        let cell = "\(name)/\(key)"
        guard cell.utf8.count <= Limits.cellKeyBytes else {
            throw SpaceError(
                .tooLarge,
                reason: "a key of \(key.utf8.count) bytes is too long for \(title)",
                advice: "its keys have at most \(Limits.cellKeyBytes - name.utf8.count - 1) bytes of UTF-8: with the "
                    + "name and a slash they are keys of cells"
            )
        }
        return cell
    }

    func encode(_ value: Value) throws(SpaceError) -> [UInt8] { try TupleCoding.Value.elementToStay(value, "a value") }

    package func decode(_ value: TupleCoding.Value?, _ key: String) throws(SpaceError) -> Value? {
        guard let value else { return nil }
        return try value.content("the value of \(key.quotedForPeople) in \(title)", orElse: "set or remove the entry")
    }
}
