import TupleCoding

extension ChangeFilter {
    /// Whether a row is told of, decided on its bytes.
    func includes(_ row: JournalRow) -> Bool {
        if let kinds, !kinds.contains(row.kind) { return false }
        switch row.kind {
        case .set, .unset:
            // The entries of a dictionary are cells.
            if case .named(let name) = collections, row.dictionary?.elementsEqual(name.utf8) ?? false { return true }
            switch cells {
            case .none: return false
            case .all: return true
            case .key(let path): return Self.changes(path, row)
            }
        case .post:
            switch notifications {
            case .none: return false
            case .all: return true
            case .named(let name): return row.name.elementsEqual(name.utf8)
            case .sent(let sender, let name):
                guard row.pid == sender.pid, name.map({ row.name.elementsEqual($0.utf8) }) ?? true else { return false }
                guard let id = sender.id else { return true }
                return row.old.flatMap { try? Value(encodedElement: $0) } == .int(id)
            }
        case let kind where kind.isOfCollection:
            switch collections {
            case .none: return false
            case .all: return true
            case .named(let name): return row.name.elementsEqual(name.utf8)
            }
        default:
            guard let tuples, let tuple = row.tuple else { return false }
            return tuples.matches(tuple)
        }
    }

    /// Whether a row changes the cell, or the part of a cell, that a path names.
    ///
    /// A part that is the same before and after did not change.
    private static func changes(_ path: String, _ row: JournalRow) -> Bool {
        if row.name.elementsEqual(path.utf8) { return true }
        guard let names = names(of: path, in: row.name) else { return false }
        return part(names, row.old) != part(names, row.new)
    }

    /// The way from a cell into its value, where a path leads into that cell: what follows one of the path's dots.
    private static func names(of path: String, in key: UnsafeRawBufferPointer) -> [String]? {
        let path = path.utf8
        guard path.count > key.count + 1, path.starts(with: key),
            path[path.index(path.startIndex, offsetBy: key.count)] == UInt8(ascii: ".")
        else { return nil }
        return path.components(from: key.count + 1)
    }

    private static func part(_ names: [String], _ bytes: UnsafeRawBufferPointer?) -> Value? {
        guard let bytes, var value = try? Value(encodedElement: bytes) else { return nil }
        for name in names {
            guard case .object(let record) = value, let inner = record[name] else { return nil }
            value = inner
        }
        return value
    }

    // MARK: What is there already

    var wantsPresentTuples: Bool { tuples != nil && kinds?.contains(.write) ?? true }
    var wantsPresentCells: Bool { cells != .none && kinds?.contains(.set) ?? true }

    /// The one cell of which also an observer is told at first that it is not set.
    var wantedUnsetKey: String? {
        guard case .key(let path) = cells, wantsPresentCells, kinds?.contains(.unset) ?? true else { return nil }
        return path
    }

    /// The keys of the cells in which a path may end, in their order: what precedes each of its dots, and the path itself.
    package static func keys(on path: String) -> [[UInt8]] {
        let bytes = Array(path.utf8)
        let dots = bytes.indices.filter { $0 > 0 && bytes[$0] == UInt8(ascii: ".") }
        // Longer than any key, or empty, LMDB would refuse it.
        return (dots.map { Array(bytes[..<$0]) } + [bytes]).filter { (1...Limits.cellKeyBytes).contains($0.count) }
    }

    /// Whether a tuple that is there is told of.
    func includes(present tuple: EncodedTuple) -> Bool {
        wantsPresentTuples && tuples?.matches(tuple) ?? false
    }

    /// Whether a cell that is set is told of: of a path into it only where the path leads somewhere.
    func includes(presentCell key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        guard wantsPresentCells else { return false }
        switch cells {
        case .none: return false
        case .all: return true
        case .key(let path):
            if key.elementsEqual(path.utf8) { return true }
            return Self.names(of: path, in: key).map { Self.part($0, value) != nil } ?? false
        }
    }
}

extension String.UTF8View {
    /// The names of a path from a byte on, between its dots.
    ///
    /// By bytes: a dot that a combining mark follows is a dot, and no character of its own.
    func components(from offset: Int) -> [String] {
        dropFirst(offset).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
