/// A row of `holds`: one place in the queue of a name, whose process holds the name or waits for it.
///
/// The key is the name, encoded as a string, which ends itself and may contain a NUL, then the ticket, big-endian. So
/// the rows of a name stand together, in the order of their tickets. The value:
///
///     0  kind (`SharedObjectKind`)
///     1  state: 0 waits, 1 holds
///     2  1: shared
///     3  bit 0: unseen; bit 1: told of in a deadlock
///     4  weight: how many permits
///     8  holder (`ClaimHolder`)
///     16 since, milliseconds since 1970
///     24 process
///     28 when the wait ends by itself, on the namespace's clock; 0: it does not
///     36 details of the kind (the number of permits, a candidate's value), one encoded element
package struct PlaceRow: EncodedTableRow, Equatable {
    private static let headerSize = 36

    /// A number given out once; later ones are greater, so each holder's ticket is greater than those of all earlier
    /// holders.
    package let ticket: UInt64
    package let kind: SharedObjectKind
    package var isHolding: Bool
    package let isShared: Bool
    /// Whether the process has not looked at its row since another process's transaction served it; a queue's item does
    /// not count as delivered yet.
    var isUnseen = false
    /// Whether watchers were told of a deadlock that this wait is a part of.
    package var isTold = false
    package let weight: UInt32
    package var holder: ClaimHolder
    package let since: Int64
    /// The process that made the row.
    package let pid: Int32
    /// When the wait ends by itself, in milliseconds of the namespace's clock; 0 if it does not.
    package let ends: Int64
    package var details: Value

    package init(
        ticket: UInt64,
        kind: SharedObjectKind,
        holder: ClaimHolder,
        since: Int64,
        pid: Int32,
        isHolding: Bool,
        isShared: Bool = false,
        weight: UInt32 = 1,
        ends: Int64 = 0,
        details: Value = .null
    ) {
        self.ticket = ticket
        self.kind = kind
        self.isHolding = isHolding
        self.isShared = isShared
        self.weight = weight
        self.holder = holder
        self.since = since
        self.pid = pid
        self.ends = ends
        self.details = details
    }

    /// Copies the row out of the page; `nil` if the bytes are not a row.
    package init?(key: UnsafeRawBufferPointer, value bytes: UnsafeRawBufferPointer) {
        guard key.count > 8, bytes.count > Self.headerSize, let kind = SharedObjectKind(rawValue: bytes[0]),
            bytes[1] < 2,
            bytes[2] < 2, bytes[3] < 4,
            let details = try? Value(encodedElement: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]))
        else { return nil }
        ticket = key.big(key.count - 8)
        self.kind = kind
        isHolding = bytes[1] == 1
        isShared = bytes[2] == 1
        isUnseen = bytes[3] & 1 != 0
        isTold = bytes[3] & 2 != 0
        weight = bytes.little(4)
        holder = ClaimHolder(raw: bytes.little(8))
        since = bytes.little(16)
        pid = bytes.little(24)
        ends = bytes.little(28)
        self.details = details
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerSize + 16)
        bytes += [kind.rawValue, isHolding ? 1 : 0, isShared ? 1 : 0, (isUnseen ? 1 : 0) | (isTold ? 2 : 0)]
        withUnsafeBytes(of: weight.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: holder.raw.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: since.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: pid.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: ends.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + details.knownElement
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        key.count > 8 ? "hold \(key.big(key.count - 8, UInt64.self)) does not decode" : "a hold does not decode"
    }
}

extension TransactionTables {
    /// The places, by keys that `PlaceKeys` makes and reads.
    package var placeRows: Table<[UInt8], PlaceRow> { table(tables.holds) }
}

extension Snapshot {
    /// The row with a ticket, or `nil` if it has gone.
    package func place(_ keys: PlaceKeys, _ ticket: UInt64) throws(SpaceError) -> PlaceRow? {
        try placeRows.get(keys.key(ticket))
    }

    /// Visits copies of a name's rows, in the order of their tickets, until `visit` returns false.
    func forEachPlace(_ keys: PlaceKeys, _ visit: (PlaceRow) throws(SpaceError) -> Bool) throws(SpaceError) {
        var rows = try placeRows.scan(prefix: keys.prefix)
        while let (key, value) = try rows.nextBytes(), keys.ticket(of: key) != nil {
            guard let row = PlaceRow(key: key, value: value) else { throw .damaged(PlaceRow.damage(at: key)) }
            if try !visit(row) { return }
        }
    }

    /// The oldest holder of a name, or `nil` if it is not held.
    ///
    /// Throws `typeMismatch` if the name belongs to another kind of object.
    func firstHolder(_ name: String, _ kind: SharedObjectKind) throws(SpaceError) -> PlaceRow? {
        var holder: PlaceRow?
        try forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if row.kind != kind { throw .mismatch(name, row.kind, wanted: kind) }
            // A waiter that wants more permits than there now are can be before holders.
            if row.isHolding { holder = row }
            return holder == nil
        }
        return holder
    }

    /// The rows of all names, by name; rows that do not decode are left out.
    package func allPlaces() throws(SpaceError) -> [(name: String, row: PlaceRow)] {
        var rows: [(String, PlaceRow)] = []
        var all = try placeRows.scan()
        while let (key, value) = try all.nextBytes() {
            if let (name, _) = PlaceKeys.parts(of: key), let row = PlaceRow(key: key, value: value) {
                rows.append((name, row))
            }
        }
        return rows
    }
}
