/// What a backup has of each row, without the rows: 24 bytes a row and the dictionary's own room.
///
/// At a billion rows, two rows with different keys are taken for one row in one case of 2⁹⁰, and a changed value for
/// the old value in one case of 2⁶⁴. The hashes are SipHash with seeds that differ in each process (`Hasher`), so keys
/// and values that collide can't be chosen.
struct RowFingerprints {
    private struct Key: Hashable {
        let first: Int
        let second: Int
    }

    private var values: [Key: Int] = [:]

    private static func hash(_ salt: Int, _ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }

    private static func key(_ change: RowChange) -> Key {
        Key(first: hash(change.table, change.key), second: hash(~change.table, change.key))
    }

    /// Notes what a backup says of a row.
    mutating func note(_ change: RowChange) {
        values[Self.key(change)] = change.value.map { Self.hash(0, $0) }
    }

    /// Strikes out a row that exists, and returns whether its value differs from the backup's.
    mutating func strike(_ change: RowChange) -> Bool {
        guard let known = values.removeValue(forKey: Self.key(change)), let value = change.value else { return true }
        return known != Self.hash(0, value)
    }

    /// Whether the backup has this row and it was not struck out, so that the row was removed; `true` only once.
    mutating func strikeGone(_ change: RowChange) -> Bool { values.removeValue(forKey: Self.key(change)) != nil }

    var isEmpty: Bool { values.isEmpty }
}
