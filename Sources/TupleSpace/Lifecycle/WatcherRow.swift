/// A row of `watchers`: a registered watcher.
///
///     key    number, eight bytes, big-endian
///     value  0  session; 0: a subscription whose process is away
///            8  the last change that need not be delivered again
///            16 length of the subscription's name; 0: none
///            18 name, then the filter as text
package struct WatcherRow: EncodedTableRow {
    package static let headerSize = 18

    package var session: UInt64
    package var position: UInt64
    package var subscription: String
    package var filter: String

}

extension WatcherRow {
    package init?(key: UnsafeRawBufferPointer, value bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else { return nil }
        session = bytes.little(0)
        position = bytes.little(8)
        let length = Int(bytes.little(16, UInt16.self))
        guard bytes.count >= Self.headerSize + length else { return nil }
        subscription = String(decoding: bytes[Self.headerSize..<Self.headerSize + length], as: UTF8.self)
        filter = String(decoding: bytes[(Self.headerSize + length)...], as: UTF8.self)
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: session.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: position.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(subscription.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: subscription.utf8)
        // The filter is for people to read: a prefix of it is enough.
        bytes.append(contentsOf: filter.utf8.prefix(400))
        return bytes
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String { "a row of the watchers does not decode" }
}

extension TransactionTables {
    package var watcherRows: Table<UInt64, WatcherRow> { table(tables.watchers) }
}

extension Snapshot {
    /// All rows of `watchers`; those that don't decode are left out.
    package func watchers() throws(SpaceError) -> [(number: UInt64, row: WatcherRow)] {
        var rows = try watcherRows.scan()
        var watchers: [(number: UInt64, row: WatcherRow)] = []
        while let (number, row) = try rows.nextValid() { watchers.append((number, row)) }
        return watchers
    }

    /// The row of a subscription, or `nil` if there is none with that name.
    func watcher(of subscription: String) throws(SpaceError) -> (number: UInt64, row: WatcherRow)? {
        try watchers().first { $0.row.subscription.isSame(as: subscription) }
    }
}
