package import ClusterStore

/// What a machine knows of the pen and of the members that ask for it.
///
/// It learns from its watch and from its own transactions, in any order. Each piece of news has the store's revision at
/// which it was true, and an older one never replaces a newer one.
package struct PenView: Sendable {
    /// The member that has the pen, and the revision that gave it to it.
    package struct Holder: Equatable, Sendable {
        package let member: UInt32
        package let modified: Int64

        package init(member: UInt32, modified: Int64) {
            self.member = member
            self.modified = modified
        }
    }

    package private(set) var holder: Holder?
    private var asOf: Int64 = -1
    /// The members' keys `want`, and the revision at which each was like this, or was not there.
    private var wants: [UInt32: (row: StoreRow?, asOf: Int64)] = [:]

    package init() {}

    package mutating func learn(_ holder: Holder?, at revision: Int64) {
        guard revision > asOf else { return }
        self.holder = holder
        asOf = revision
    }

    /// Learns of the pen's key as it was read at a revision.
    package mutating func learn(_ row: StoreRow?, at revision: Int64) {
        // A value that does not decode names a member that can't exist: the pen is taken.
        let member = row.map { (try? NumberValue(decoding: $0.value).member) ?? 0 }
        learn(row.flatMap { row in member.map { Holder(member: $0, modified: row.modified) } }, at: revision)
    }

    package mutating func learn(want member: UInt32, _ row: StoreRow?, at revision: Int64) {
        guard revision > wants[member]?.asOf ?? -1 else { return }
        wants[member] = (row, revision)
    }

    /// Learns of all members that ask for the pen, as they were read at a revision.
    package mutating func learn(wants rows: [UInt32: StoreRow], at revision: Int64) {
        for member in Set(wants.keys).union(rows.keys) { learn(want: member, rows[member], at: revision) }
    }

    package func asks(_ member: UInt32) -> Bool { wants[member]?.row != nil }

    /// The member that has asked first, apart from one.
    package func first(butFor member: UInt32) -> (member: UInt32, row: StoreRow)? {
        // A key without a lease would outlive its member, so it is not heard.
        wants.compactMap { key, want in want.row.map { (member: key, row: $0) } }
            .filter { $0.member != member && $0.row.lease != .none }
            .min { $0.row.created < $1.row.created }
    }
}
