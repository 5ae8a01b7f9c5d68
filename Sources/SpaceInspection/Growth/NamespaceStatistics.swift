/// What takes up the room in a namespace: the tuples, cells and changes, and the watchers that keep the changes.
package struct NamespaceStatistics: Sendable {
    /// Tuples or cells that look alike.
    package struct Group: Hashable, Sendable {
        /// What they have in common; `nil` for those beyond ``NamespaceStatistics/mostGroups``.
        package let shape: String?
        package fileprivate(set) var count: Int
        /// The bytes of their encoded forms.
        package fileprivate(set) var bytes: Int
        /// When and by which process the oldest and the newest of them were written; unknown for cells.
        package fileprivate(set) var oldest: Origin
        package fileprivate(set) var newest: Origin
        /// How often claims on them came back.
        package fileprivate(set) var returns: Int
    }

    /// How many groups are counted separately; everything else is counted in one more.
    package static let mostGroups = 4096

    package let status: NamespaceStatus
    /// The bytes of free pages among those in use.
    package let freeBytes: Int
    package let trees: [TreeSize]
    /// The tuples by shape and first field, those that take up most bytes first.
    package let tuples: [Group]
    /// The cells by the first part of their keys, those that take up most bytes first.
    package let cells: [Group]
    /// The number of the oldest change that is kept; `nil`: none is.
    package let firstChange: UInt64?

    /// Counts everything in a snapshot.
    ///
    /// Complexity: O(n) for n tuples and cells.
    init(_ status: NamespaceStatus, _ snapshot: Snapshot) throws(SpaceError) {
        self.status = status
        freeBytes = try snapshot.freeBytes(of: status.bytes)
        trees = try snapshot.treeSizes()
        var tuples = Grouping()
        var search = Search(snapshot, .empty, .oldestFirst)
        try search.forEach(.any) { (id, row) throws(SpaceError) in
            tuples.add(Self.shape(try snapshot.tuple(id, row)), row.size, row.origin, returns: Int(row.deliveries))
            return true
        }
        self.tuples = tuples.sorted
        var cells = Grouping()
        var rows = try snapshot.cells.scan()
        while let (key, row) = try rows.next() {
            cells.add(Self.shape(key), key.utf8.count + CellRow.headerSize + row.element.count)
        }
        self.cells = cells.sorted
        var changes = try snapshot.journal.scan()
        firstChange = try changes.next()?.0
    }

    /// How many changes are kept.
    package var changes: Int { trees.first { $0.name == "journal" }?.rows ?? 0 }

    // MARK: Groups

    private struct Grouping {
        private var groups: [Name?: Group] = [:]

        mutating func add(_ shape: String, _ bytes: Int, _ origin: Origin = .unknown, returns: Int = 0) {
            let name = Name(shape)
            let key = groups.count < mostGroups || groups[name] != nil ? name : nil
            var group =
                groups[key]
                ?? Group(shape: key?.text, count: 0, bytes: 0, oldest: origin, newest: origin, returns: 0)
            group.count += 1
            group.bytes += bytes
            group.returns += returns
            // Tuples come in the order of writing; the clock may have been set back since.
            if origin.seconds < group.oldest.seconds { group.oldest = origin }
            if origin.seconds > group.newest.seconds { group.newest = origin }
            groups[key] = group
        }

        var sorted: [Group] {
            groups.values.sorted { ($1.bytes, $0.shape ?? "") < ($0.bytes, $1.shape ?? "") }
        }
    }

    /// The shape of a tuple: the first field as it is, and the types of the others; `["job",int,…]`.
    private static func shape(_ tuple: Tuple) -> String {
        if let record = tuple.record {
            var parts = record.prefix(1).map { "\(Value.string($0.name).json):\(first($0.value))" }
            parts += record.dropFirst().prefix(mostFields).map { Value.string($0.name).json }
            if record.count > mostFields + 1 { parts.append("…") }
            return "{\(parts.joined(separator: ","))}"
        }
        let fields = tuple.fields
        var parts = fields.prefix(1).map(first) + fields.dropFirst().prefix(mostFields).map(type)
        if fields.count > mostFields + 1 { parts.append("…") }
        return "[\(parts.joined(separator: ","))]"
    }

    /// How many fields after the first are named; a tuple with many is known by these.
    private static let mostFields = 8

    /// A short string, a truth value or null as it is, because it says what a tuple is for; for anything else, its
    /// type.
    private static func first(_ value: Value) -> String {
        switch value {
        case .string(let text) where text.utf8.count <= 40: value.json
        case .bool, .null: value.json
        default: type(value)
        }
    }

    private static func type(_ value: Value) -> String {
        switch value {
        case .null: "null"
        case .bytes: "bytes"
        case .string: "string"
        case .array: "array"
        case .int: "int"
        case .double: "double"
        case .bool: "bool"
        case .uuid: "uuid"
        case .object: "object"
        }
    }

    /// The first part of a cell's key, up to `/`, `.` or `:`.
    private static func shape(_ key: String) -> String {
        guard let end = key.firstIndex(where: { $0 == "/" || $0 == "." || $0 == ":" }) else { return key }
        return "\(key[...end])*"
    }
}

extension Namespace {
    /// What takes up the room in the namespace.
    ///
    /// The look holds one snapshot: pages that others free during it are used again only afterwards. Complexity: O(n)
    /// for n tuples and cells.
    package func statistics() throws(SpaceError) -> NamespaceStatistics {
        let status = try status()
        return try attempt("look at what takes up the room") { (core) throws(SpaceError) in
            try core.read(showsNear: true) { (snapshot) throws(SpaceError) in try NamespaceStatistics(status, snapshot)
            }
        }
    }
}
