import SharedSpace

/// What a dump in JSON lines holds, as far as it can be loaded.
///
/// A dump comes from another process or another day: every line is checked, and one that isn't understood ends it.
struct DumpReader {
    private(set) var tuples: [LoadedTuple] = []
    private(set) var cells: [(key: String, value: Value)] = []
    var collections: [CollectionDump] = []
    var recipes = RecipesDump()
    private(set) var mode: StorageMode?
    private(set) var history: History?
    private var namespaces = 0

    /// Reads standard input to its end.
    static func read() throws -> DumpReader {
        var reader = DumpReader()
        var input = Input()
        var ids: [(id: Int, tuple: LoadedTuple)] = []
        while let line = try input.next() {
            let what = "standard input, line \(input.line)"
            guard case .object(let record) = try JSONText.line(line, what: what) else {
                throw CommandFailure.badData("\(what): a line of a dump is a JSON object")
            }
            if let tuple = try reader.take(record, what) { ids.append(tuple) }
        }
        guard input.line > 0 else {
            throw CommandFailure.badData("standard input is empty: a dump has a line at least, for the namespace")
        }
        // Claims come after the tuples; by their ids all were written in this order.
        reader.tuples = ids.sorted { $0.id < $1.id }.map(\.tuple)
        return reader
    }

    /// Takes a line of a dump; a tuple is returned with its id, since claims come after the tuples.
    mutating func take(_ record: Record, _ what: String) throws -> (id: Int, tuple: LoadedTuple)? {
        func bad(_ reason: String) -> CommandFailure { .badData("\(what): \(reason)") }
        guard case .string(let kind)? = record["kind"] else { throw bad("it has no \"kind\"") }
        switch kind {
        case "namespace":
            namespaces += 1
            guard namespaces == 1 else { throw bad("a second namespace begins; load them one by one") }
            guard case .string(let name)? = record["mode"], let mode = StorageMode(rawValue: name) else {
                throw bad("the namespace's mode is unknown")
            }
            self.mode = mode
            // Dumps of earlier releases have none.
            if case .object(let history)? = record["history"] {
                guard case .int(let changes)? = history["changes"], case .int(let bytes)? = history["bytes"] else {
                    throw bad("the namespace's history is no numbers of changes and bytes")
                }
                self.history = History(changes: changes, bytes: bytes)
            }
            return nil
        case "tuple", "claim", "buried":
            // A claim's own id is another number.
            guard case .int(let id)? = record["tuple_id"] ?? record["id"] else { throw bad("the \(kind) has no id") }
            guard let value = record["tuple"] else { throw bad("the \(kind) has no tuple") }
            return (
                id,
                LoadedTuple(
                    tuple: try Self.tuple(value, bad),
                    expires: try Self.moment("expires", record, bad),
                    isBuried: kind == "buried"
                )
            )
        case "cell":
            guard case .string(let key)? = record["key"], let value = try Self.value("value", record, bad) else {
                throw bad("the cell has no key or no value")
            }
            cells.append((key, value))
            return nil
        case "collection", "element":
            try takeCollection(kind, record, bad)
            return nil
        case "queue", "item":
            try takeQueue(kind, record, bad)
            return nil
        case "counter", "latch", "rate":
            try takeState(kind, record, bad)
            return nil
        case "owner", "waiter", "watcher", "change", "hold", "responder", "request":
            // Who used the namespace then, and what happened in it: nothing to be written.
            return nil
        default:
            throw bad("lines of kind \(kind.quotedForPeople) are not known")
        }
    }

    private static func tuple(_ value: Value, _ bad: (String) -> CommandFailure) throws -> Tuple {
        do {
            switch value {
            case .array(let fields): return try Tuple(checking: fields)
            case .object(let record): return try Tuple(checking: record)
            default: throw bad("a tuple is an array or an object")
            }
        } catch let error as TupleCodingError {
            throw bad("\(error)")
        }
    }

    /// A value that is stored as it is; `nil` where it is missing.
    static func value(_ key: String, _ record: Record, _ bad: (String) -> CommandFailure) throws -> Value? {
        guard let value = record[key] else { return nil }
        if let fault = JSONText.fault(of: value) { throw bad("\"\(key)\" \(fault)") }
        return value
    }

    static func moment(_ key: String, _ record: Record, _ bad: (String) -> CommandFailure) throws -> Int64? {
        switch record[key] {
        case nil, .null?: nil
        case .int(let milliseconds)?: Int64(milliseconds)
        default: throw bad("\"\(key)\" is milliseconds since 1970, or null")
        }
    }

    /// The name of a shared object.
    static func name(_ record: Record, _ bad: (String) -> CommandFailure) throws -> String {
        guard case .string(let name)? = record["name"], (1...Limits.objectNameBytes).contains(name.utf8.count) else {
            throw bad("\"name\" is no string of 1 to \(Limits.objectNameBytes) bytes")
        }
        return name
    }
}
