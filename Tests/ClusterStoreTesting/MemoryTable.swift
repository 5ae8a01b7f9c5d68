import ClusterStore

/// Rows in the order of their keys' bytes.
///
/// The rows lie in chunks, so that a row in the middle of many costs one chunk's move.
struct MemoryTable {
    struct Entry {
        /// The key's bytes: `String` compares by characters, a store by bytes.
        let key: [UInt8]
        var row: StoreRow
    }

    private var chunks: [[Entry]] = []
    private static let maximumChunk = 256

    private(set) var count = 0

    /// The chunk that has the key or would have it, and where in it the key is or would be.
    private func place(of key: [UInt8]) -> (chunk: Int, position: Int) {
        let after = Self.firstIndex(of: chunks) { $0[0].key.lexicographicallyPrecedes(key) || $0[0].key == key }
        let chunk = max(0, after - 1)
        guard chunk < chunks.count else { return (0, 0) }
        return (chunk, Self.firstIndex(of: chunks[chunk]) { $0.key.lexicographicallyPrecedes(key) })
    }

    /// The first index whose element does not precede; those that precede come first.
    private static func firstIndex<Element>(of elements: [Element], where precedes: (Element) -> Bool) -> Int {
        var low = 0
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if precedes(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    subscript(key: [UInt8]) -> StoreRow? {
        let (chunk, position) = place(of: key)
        guard chunk < chunks.count, position < chunks[chunk].count, chunks[chunk][position].key == key else {
            return nil
        }
        return chunks[chunk][position].row
    }

    mutating func put(_ key: [UInt8], _ row: StoreRow) {
        let (chunk, position) = place(of: key)
        guard chunk < chunks.count else {
            chunks.append([Entry(key: key, row: row)])
            count += 1
            return
        }
        if position < chunks[chunk].count, chunks[chunk][position].key == key {
            chunks[chunk][position].row = row
            return
        }
        chunks[chunk].insert(Entry(key: key, row: row), at: position)
        count += 1
        guard chunks[chunk].count > Self.maximumChunk else { return }
        let half = chunks[chunk].count / 2
        let rest = Array(chunks[chunk][half...])
        chunks[chunk].removeSubrange(half...)
        chunks.insert(rest, at: chunk + 1)
    }

    mutating func remove(_ key: [UInt8]) {
        let (chunk, position) = place(of: key)
        guard chunk < chunks.count, position < chunks[chunk].count, chunks[chunk][position].key == key else { return }
        chunks[chunk].remove(at: position)
        count -= 1
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// The entries of a range, in order.
    ///
    /// - Parameters:
    ///   - range: Which keys.
    ///   - limit: How many at most.
    /// - Returns: The entries.
    func entries(_ range: StoreRange, limit: Int = .max) -> [Entry] {
        switch range {
        case .key(let key):
            let bytes = Array(key.utf8)
            return self[bytes].map { [Entry(key: bytes, row: $0)] } ?? []
        case .prefix(let prefix):
            let bytes = Array(prefix.utf8)
            var (chunk, position) = place(of: bytes)
            var found: [Entry] = []
            while chunk < chunks.count, found.count < limit {
                guard position < chunks[chunk].count else {
                    chunk += 1
                    position = 0
                    continue
                }
                let entry = chunks[chunk][position]
                guard entry.key.starts(with: bytes) else { break }
                found.append(entry)
                position += 1
            }
            return found
        }
    }
}

extension StoreRange {
    /// Whether the range has a key, by bytes.
    func contains(_ key: String) -> Bool {
        switch self {
        case .key(let own): own.utf8.elementsEqual(key.utf8)
        case .prefix(let prefix): key.utf8.starts(with: prefix.utf8)
        }
    }
}
