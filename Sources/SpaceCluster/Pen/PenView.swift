package import ClusterStore
import SpaceEngine

/// What a machine knows of the pen and of the members that ask for it.
///
/// It learns from its watch and from its own transactions, in any order. Each piece of news has the store's revision at
/// which it was true, and an older one never replaces a newer one.
package struct PenView: Sendable {
    /// The member that has the pen, and the revision that gave it to it.
    package struct Holder: Equatable, Sendable {
        package let member: UInt32
        package let modified: Int64

        /// Stands for the member if the key names none: its value does not decode, or it has no lease.
        ///
        /// No member hands such a pen over, so a machine takes it after a process has waited for it.
        package static let noMember: UInt32 = 0
    }

    package private(set) var holder: Holder?
    private var asOf: Int64 = -1
    /// The members that ask for the pen.
    package var wants = MemberRows()
    /// What the members' processes wait to take.
    package var interests = MemberRows()
    /// The members that did not give the pen back and have not been heard of since.
    package var silent: Set<UInt32> = []

    package init() {}

    package mutating func learn(_ holder: Holder?, at revision: Int64) {
        guard revision > asOf else { return }
        self.holder = holder
        asOf = revision
    }

    /// Learns of the pen's key as it was read at a revision.
    package mutating func learn(_ row: StoreRow?, at revision: Int64) {
        let holder = row.map { row in
            // A key without a lease would outlive its member, so it names none.
            let member = row.lease == .none ? nil : try? NumberValue(decoding: row.value).member
            return Holder(member: member ?? Holder.noMember, modified: row.modified)
        }
        learn(holder, at: revision)
    }

    /// The member that has asked first, apart from one.
    package func first(butFor member: UInt32) -> (member: UInt32, row: StoreRow)? {
        wants.living.filter { $0.member != member }.min { $0.row.created < $1.row.created }
    }

    /// Another member whose processes wait to take what an entry brings.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - member: The member that appends it.
    ///   - last: The member that was found before; of several, the one with the next number gets its turn.
    /// - Returns: The member; `nil` if there is none.
    package func taker(of entry: [UInt8], from member: UInt32, after last: UInt32) -> Successor? {
        let others = interests.living.filter { $0.member != member && !silent.contains($0.member) }
        guard !others.isEmpty, let entry = try? EntryBytes(entry) else { return nil }
        // A value that does not decode is of another version, and names no interest.
        return others.filter { entry.mayHaveTuple(for: (try? InterestsValue(decoding: $0.row.value))?.interests ?? []) }
            .min { $0.member &- last &- 1 < $1.member &- last &- 1 }
            .map { Successor(member: $0.member, lease: $0.row.lease) }
    }
}

/// A member that gets the pen, and the lease that the pen is then attached to.
package struct Successor: Hashable, Sendable {
    package let member: UInt32
    package let lease: StoreLease
}

/// A key of each member, on its lease, as far as it is known.
package struct MemberRows: Sendable {
    /// The row, and the revision at which it was like this, or was not there.
    private var rows: [UInt32: (row: StoreRow?, asOf: Int64)] = [:]

    package subscript(member: UInt32) -> StoreRow? { rows[member]?.row }

    package mutating func learn(_ member: UInt32, _ row: StoreRow?, at revision: Int64) {
        guard revision > rows[member]?.asOf ?? -1 else { return }
        rows[member] = (row, revision)
    }

    /// Learns of all members' keys, as they were read at a revision.
    package mutating func learn(_ all: [UInt32: StoreRow], at revision: Int64) {
        for member in Set(rows.keys).union(all.keys) { learn(member, all[member], at: revision) }
    }

    /// The keys that are there.
    ///
    /// A key without a lease would outlive its member, so it is not heard.
    fileprivate var living: [(member: UInt32, row: StoreRow)] {
        rows.compactMap { member, known in
            known.row.flatMap { $0.lease == .none ? nil : (member, $0) }
        }
    }
}
