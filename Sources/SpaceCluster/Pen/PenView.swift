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

        /// Stands for a member if the pen is free.
        ///
        /// It is also free if another program has changed the key, so that its value does not decode, or it has no lease.
        package static let noMember: UInt32 = 0

        package var isFree: Bool { member == Self.noMember }
    }

    package private(set) var holder: Holder?
    private var asOf: Int64 = -1
    /// The members that ask for the pen: their keys, and the revisions at which the keys were like this, or were not there.
    private var wants: [UInt32: (row: StoreRow?, asOf: Int64)] = [:]

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

    /// A member's key `want`, if there is one.
    package func want(of member: UInt32) -> StoreRow? { wants[member]?.row }

    package mutating func learn(want row: StoreRow?, of member: UInt32, at revision: Int64) {
        guard revision > wants[member]?.asOf ?? -1 else { return }
        wants[member] = (row, revision)
    }

    /// Learns of all members' keys `want`, as they were read at a revision.
    package mutating func learn(wants all: [UInt32: StoreRow], at revision: Int64) {
        for member in Set(wants.keys).union(all.keys) { learn(want: all[member], of: member, at: revision) }
    }

    /// The member that has asked first, apart from one.
    ///
    /// A key without a lease would outlive its member, so it is not heard.
    package func first(butFor member: UInt32) -> Successor? {
        wants.compactMap { other, known in known.row.map { Successor(member: other, want: $0) } }
            .filter { $0.member != member && $0.want.lease != .none }
            .min { $0.want.created < $1.want.created }
    }
}

/// A member that asks for the pen, and its key, to whose lease the pen is attached when the member gets it.
package struct Successor: Sendable {
    package let member: UInt32
    package let want: StoreRow
}
