/// The newest entries of a log, in memory, bounded by their bytes.
package struct EntryCache: Sendable {
    private let mostBytes: Int
    private var entries: [UInt64: [UInt8]] = [:]
    private var bytes = 0
    /// No entry below this one is here.
    private var oldest: UInt64 = 0
    private var newest: UInt64 = 0

    /// How far apart two entries may be that are kept together; the bound keeps the search for the oldest short.
    private static let widestGap: UInt64 = 4096

    package init(mostBytes: Int) { self.mostBytes = mostBytes }

    package subscript(entry: UInt64) -> [UInt8]? { entries[entry] }

    package mutating func insert(_ number: UInt64, _ entry: [UInt8]) {
        if entries.isEmpty || number > newest + Self.widestGap {
            entries.removeAll()
            bytes = 0
            (oldest, newest) = (number, number)
        }
        // An entry far behind the others would be the first to go.
        guard number + Self.widestGap >= oldest, entries[number] == nil else { return }
        entries[number] = entry
        bytes += entry.count
        oldest = min(oldest, number)
        newest = max(newest, number)
        while bytes > mostBytes, oldest < newest {
            bytes -= entries.removeValue(forKey: oldest)?.count ?? 0
            oldest += 1
        }
    }
}
