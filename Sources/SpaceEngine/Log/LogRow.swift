import SpaceSystem

/// The row of the main table with the log of the namespace's commits: where it is, and how much of it the namespace
/// has.
///
///     0   where the next entry begins
///     8   the hash that the next entry refers to
///     16  the log's path, from `/` on; or `@`, if the log is that of several machines, reached through the daemon
package struct LogRow: TableRow, Equatable {
    private static let headerSize = 16

    package var end: UInt64
    package var link: UInt64
    package let path: [UInt8]

    /// The path of the log of several machines.
    package static let ofMembers = Array("@".utf8)

    package init(_ position: LogPosition, path: [UInt8]) {
        (end, link) = (position.end, position.link)
        self.path = path
    }

    /// Whether the log is that of several machines.
    package var isOfMembers: Bool { path == Self.ofMembers }

    /// How much of the log the namespace has.
    package func position(entry: UInt64) -> LogPosition { LogPosition(entry: entry, end: end, link: link) }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard value.count > Self.headerSize else { return nil }
        end = value.little(0)
        link = value.little(8)
        path = Array(value[Self.headerSize...])
        guard path[0] == UInt8(ascii: "/") || isOfMembers else { return nil }
    }

    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let bytes = try room(Self.headerSize + path.count)
        bytes.storeBytes(of: end.littleEndian, as: UInt64.self)
        bytes.storeBytes(of: link.littleEndian, toByteOffset: 8, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: bytes[Self.headerSize...]).copyBytes(from: path)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String { "the row with the log is damaged" }
}

extension TransactionTables {
    package var mainLog: Table<MainKey, LogRow> { table(tables.main) }
}
