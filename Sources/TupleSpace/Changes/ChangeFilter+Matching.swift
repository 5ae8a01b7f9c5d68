extension ChangeFilter {
    /// Whether the filter lets a row through, decided on the row's bytes.
    func includes(_ row: JournalRow) -> Bool {
        if let kinds, !kinds.contains(row.kind) { return false }
        switch row.kind {
        case .set, .unset:
            // A dictionary's entries are cells.
            if case .named(let name) = collections, row.dictionary?.elementsEqual(name.utf8) ?? false { return true }
            switch cells {
            case .none: return false
            case .all: return true
            case .key(let path): return Self.changes(path, row)
            default: return cells.include(row.name)
            }
        case .post:
            switch notifications {
            case .none: return false
            case .all: return true
            case .named(let name): return row.name.elementsEqual(name.utf8)
            case .matching(let pattern): return Glob(pattern).matches(row.name)
            case .sent(let sender, let name):
                guard row.pid == sender.pid, name.map({ row.name.elementsEqual($0.utf8) }) ?? true else { return false }
                guard let id = sender.id else { return true }
                return row.old.flatMap { try? Value(encodedElement: $0) } == .int(id)
            }
        case .respond: return responders.include(row.name)
        case .deadlock: return objects.includes(deadlock: row, isNamed: kinds != nil)
        case let kind where kind.isOfObject: return objects.include(row.name)
        case let kind where kind.isOfCollection: return collections.include(row.name)
        default:
            guard let tuples, let tuple = row.tuple else { return false }
            return tuples.matches(tuple)
        }
    }

    /// Whether a row changes the cell, or the part of a cell, that a path names.
    ///
    /// A part whose value is the same before and after did not change.
    private static func changes(_ path: String, _ row: JournalRow) -> Bool {
        if row.name.elementsEqual(path.utf8) { return true }
        guard let names = names(of: path, in: row.name) else { return false }
        return part(names, row.old) != part(names, row.new)
    }

    /// The names that lead from a cell into its value, if the path starts with that cell's key and a dot follows.
    fileprivate static func names(of path: String, in key: UnsafeRawBufferPointer) -> [String]? {
        let path = path.utf8
        guard path.count > key.count + 1, path.starts(with: key),
            path[path.index(path.startIndex, offsetBy: key.count)] == UInt8(ascii: ".")
        else { return nil }
        return path.components(from: key.count + 1)
    }

    private static func part(_ names: [String], _ bytes: UnsafeRawBufferPointer?) -> Value? {
        bytes.flatMap { try? Value(encodedElement: $0) }?.part(names)
    }

    // MARK: What is there already

    var wantsPresentTuples: Bool { tuples != nil && kinds?.contains(.write) ?? true }
    var wantsPresentCells: Bool { cells != .none && kinds?.contains(.set) ?? true }

    /// The one cell for which a new observer also gets a call if it is not set.
    var wantedUnsetKey: String? {
        guard case .key(let path) = cells, wantsPresentCells, kinds?.contains(.unset) ?? true else { return nil }
        return path
    }

    /// The cell keys that a path may start with, in order: the text before each of its dots, and the whole path.
    package static func keys(on path: String) -> [[UInt8]] {
        let bytes = Array(path.utf8)
        let dots = bytes.indices.filter { $0 > 0 && bytes[$0] == UInt8(ascii: ".") }
        // LMDB would refuse an empty key, or one longer than the limit.
        return (dots.map { Array(bytes[..<$0]) } + [bytes]).filter { (1...Limits.cellKeyBytes).contains($0.count) }
    }

    /// Whether the filter lets through a tuple that exists already.
    func includes(present tuple: EncodedTuple) -> Bool {
        wantsPresentTuples && tuples?.matches(tuple) ?? false
    }

    /// Whether the filter lets through a cell that is set; for a path into the cell, only if its value has that part.
    func includes(presentCell key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        guard wantsPresentCells else { return false }
        switch cells {
        case .none: return false
        case .all: return true
        case .key(let path):
            if key.elementsEqual(path.utf8) { return true }
            return Self.names(of: path, in: key).map { Self.part($0, value) != nil } ?? false
        default: return cells.include(key)
        }
    }
}

extension Change {
    /// The part of a cell that a path into it names, before and after a change of the cell; `nil` if the path is the cell's
    /// key, or the change is none of that cell.
    package func part(_ path: String) -> (old: Value?, new: Value?)? {
        guard case .cell(var key, let old, let new) = event else { return nil }
        let names = key.withUTF8 { ChangeFilter.names(of: path, in: UnsafeRawBufferPointer($0)) }
        return names.map { (old?.part($0), new?.part($0)) }
    }
}

extension ChangeFilter.Cells {
    /// Whether a key is among those chosen, whatever the value of its cell.
    func include(_ key: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .key(let path): key.elementsEqual(path.utf8)
        case .prefix(let prefix): key.starts(with: prefix.utf8)
        case .range(let range):
            !key.lexicographicallyPrecedes(range.lowerBound.utf8)
                && !range.upperBound.utf8.lexicographicallyPrecedes(key)
        case .matching(let pattern): Glob(pattern).matches(key)
        }
    }
}

extension ChangeFilter.Names {
    /// Whether a deadlock concerns what is chosen.
    ///
    /// The changes of one object are those of its holders. So its observers get a deadlock whose circle contains the
    /// object only if they ask for that kind of change.
    fileprivate func includes(deadlock row: JournalRow, isNamed: Bool) -> Bool {
        switch self {
        case .none: return false
        case .all: return true
        case .named(let name):
            guard isNamed, let told = row.new.flatMap({ try? Value(encodedElement: $0) }) else { return false }
            return told.objectsOfDeadlock.contains { $0.isSame(as: name) }
        }
    }

    fileprivate func include(_ name: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .named(let own): name.elementsEqual(own.utf8)
        }
    }
}

extension Value {
    /// The names of the objects in the circle of a deadlock, as its change tells them.
    fileprivate var objectsOfDeadlock: [String] {
        (members?["circle"]?.list ?? []).compactMap { $0.members?["name"]?.text }
    }
}

extension String.UTF8View {
    /// The names between the dots of a path, from a byte offset on.
    ///
    /// The path is split by bytes: a dot that is followed by a combining mark still separates names.
    func components(from offset: Int) -> [String] {
        dropFirst(offset).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
