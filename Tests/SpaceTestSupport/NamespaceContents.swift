import SharedSpace
import SpaceEngine
import TupleSpace

/// All rows of a namespace, but for what each copy of it has for itself: its life and its place in the log.
package struct NamespaceContents {
    /// The tables' rows, and the counters as the last of them.
    private var tables: [[[UInt8]]] = []
    /// How much of the log they show.
    package private(set) var entry: UInt64 = 0

    package init() {}

    /// Reads them, all at one moment.
    package init(of namespace: Namespace) throws {
        self = try namespace.attempt("read") { (core) throws(SpaceError) in
            try core.read { (snapshot) throws(SpaceError) in
                var contents = NamespaceContents()
                for table in 1..<snapshot.tables.numbered.count {
                    var all: [[UInt8]] = []
                    var rows = try snapshot.table(numbered: table).scan()
                    while let (key, value) = try rows.nextBytes() { all.append(Array(key) + [0, 0] + Array(value)) }
                    contents.tables.append(all)
                }
                var counters = try snapshot.counters()
                contents.entry = counters.logEntry
                (counters.logEntry, counters.followsLog) = (0, false)
                contents.tables.append([Array("\(counters)".utf8)])
                return contents
            }
        }
    }

    /// The tables that differ, in words.
    package func differences(from other: NamespaceContents) -> [String] {
        zip(tables, other.tables).enumerated().compactMap { table, rows in
            guard rows.0 != rows.1 else { return nil }
            let differing = Set(rows.0).symmetricDifference(rows.1).count
            return "table \(table + 1) differs in \(differing) of \(rows.0.count) rows"
        }
    }
}
