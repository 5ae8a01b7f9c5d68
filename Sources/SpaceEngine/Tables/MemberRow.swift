/// A row of `members`: a machine that takes part in a namespace that several machines share.
///
///     key    the member's number, eight bytes, big-endian
///     value  the machine's name, UTF-8
///
/// A member that ends loses its row, and no later member has its number. So a session lives only while its member has a
/// row.
package struct MemberRow: EncodedTableRow, Equatable {
    /// The most bytes of a machine's name.
    package static let mostNameBytes = 255

    package let name: String

    package init(name: String) { self.name = name }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard value.count <= Self.mostNameBytes, let name = String(validating: value, as: UTF8.self) else { return nil }
        self.name = name
    }

    package var encoded: [UInt8] { Array(name.utf8) }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        UInt64(key: key).map { "the row of member \($0) does not decode" } ?? "a row of the members does not decode"
    }
}

extension TransactionTables {
    package var memberRows: Table<UInt64, MemberRow> { table(tables.members) }
}

extension Snapshot {
    /// Whether a member takes part in the namespace.
    package func hasMember(_ number: UInt32) throws(SpaceError) -> Bool { try memberRows.contains(UInt64(number)) }

    /// The members, by number; a row that does not decode is left out.
    package func members() throws(SpaceError) -> [(number: UInt32, name: String)] {
        var members: [(number: UInt32, name: String)] = []
        var rows = try memberRows.scan()
        while let (number, row) = try rows.nextValid() { members.append((UInt32(clamping: number), row.name)) }
        return members
    }
}
