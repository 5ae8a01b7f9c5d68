import SpaceInspection

/// What a dump in JSON lines holds, as far as it can be loaded.
///
/// A dump comes from another process or another day: every line is checked, and a line that isn't understood ends the
/// reading.
struct DumpReader {
    /// What is loaded into the namespace.
    var contents = LoadedContents()
    /// What the namespace was made with.
    private var dumped = NamespaceOptions()
    private var namespaces = 0
    /// Whether a line of the dump announces a last one, which has not come yet.
    private var lacksEnd = false

    /// Reads standard input to its end.
    static func read() throws -> DumpReader {
        var reader = DumpReader()
        var input = Input(longest: Input.longestDumpLine)
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
        guard !reader.lacksEnd else {
            throw CommandFailure.badData(
                "standard input ends before the dump does: its last line is missing, so the rest was cut off; nothing was loaded "
                    + #"(to load a part on purpose, add the line {"kind":"end"})"#
            )
        }
        // A dump has the claimed tuples after the others; the order of the ids is that in which all were written.
        reader.contents.tuples = ids.sorted { $0.id < $1.id }.map(\.tuple)
        return reader
    }

    /// Takes a line of a dump.
    ///
    /// - Returns: The line's tuple with its id, by which the caller sorts the tuples; `nil` if the line has no tuple to
    ///   load.
    mutating func take(_ record: Record, _ what: String) throws -> (id: Int, tuple: LoadedTuple)? {
        let line = DumpLine(record: record, what: what)
        guard let kind = line.string("kind") else { throw line.bad("it has no \"kind\"") }
        switch kind {
        case "namespace":
            try takeNamespace(line)
        case "tuple", "claim", "buried":
            // A claim's own id is another number.
            guard case .int(let id)? = line["tuple_id"] ?? line["id"] else { throw line.bad("the \(kind) has no id") }
            let tuple = try line.tuple(of: kind)
            // What lived as long as a process is not brought back without it.
            if try line.endsWithProcess() { return nil }
            return (
                id,
                LoadedTuple(
                    tuple: tuple,
                    expires: try line.moment("expires"),
                    isBuried: kind == "buried",
                    deliveries: try line.deliveries(),
                    origin: try line.origin()
                )
            )
        case "cell":
            guard let key = line.string("key"), let value = try line.value("value") else {
                throw line.bad("the cell has no key or no value")
            }
            if try line.endsWithProcess() { return nil }
            let expires = try line.moment("expires")
            contents.cells.append(DumpedCell(key: key, value: value, expires: expires, holder: nil))
        case "collection": try takeCollection(line)
        case "element": try takeElement(line)
        case "queue": try takeQueue(line)
        case "item": try takeItem(line)
        case "counter", "latch", "rate", "semaphore": try takeState(line, kind)
        case DumpReport.end: lacksEnd = false
        case "owner", "waiter", "watcher", "change", "hold", "responder", "request":
            // Which processes used the namespace then, and what happened in it: there is nothing to write.
            break
        default:
            throw line.bad("lines of kind \(kind.quotedForPeople) are not known")
        }
        return nil
    }

    /// The options for making a namespace like the dumped one, unless `options` say otherwise.
    ///
    /// A namespace that exists may have another mode and history than the dump; only an option insists on them.
    func options(_ options: NamespaceOptions) -> NamespaceOptions {
        var options = options
        options.mode = options.mode ?? dumped.mode
        options.history = options.history ?? dumped.history
        options.byteLimit = options.byteLimit ?? dumped.byteLimit
        options.isPersistent = options.isPersistent || dumped.isPersistent
        return options
    }

    private mutating func takeNamespace(_ line: DumpLine) throws {
        namespaces += 1
        guard namespaces == 1 else { throw line.bad("a second namespace begins; load them one by one") }
        guard let name = line.string("mode"), let mode = StorageMode(rawValue: name) else {
            throw line.bad("the namespace's mode is unknown")
        }
        dumped.mode = mode
        // Dumps of earlier releases have no last line.
        lacksEnd = line["ends_with"] != nil
        dumped.isPersistent = line["persistent"] == .bool(true)
        // Dumps of earlier releases have no such limits.
        if case .int(let limit)? = line["limit"], limit > 0 { dumped.byteLimit = limit }
        if case .int(let limit)? = line["delivery_limit"], limit > 0 {
            guard Limits.deliveryLimits.contains(limit) else {
                throw line.bad("\"delivery_limit\" is no number from 1 to \(UInt32.max)")
            }
            contents.deliveryLimit = limit
        }
        // Dumps of earlier releases have no history.
        guard case .object(let history)? = line["history"] else { return }
        guard case .int(let changes)? = history["changes"], case .int(let bytes)? = history["bytes"] else {
            throw line.bad("the namespace's history is no numbers of changes and bytes")
        }
        dumped.history = History(changes: changes, bytes: bytes)
    }
}
