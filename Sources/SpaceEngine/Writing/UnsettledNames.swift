/// The names at which a transaction may have made something available: a lock, permits, an item, room.
///
/// Guarantees: each function that changes a row on which a wait depends notes the name, and the transaction settles
/// each noted name, once and at its end, before it is committed. So no operation can forget to settle a name, and after
/// no commit a waiter waits for something that it could have.
package final class UnsettledNames {
    /// A name, and how to hand out what has become available at it.
    private struct Unsettled {
        let name: Name
        let settle: (WriteScope) throws(SpaceError) -> Void
    }

    /// The names that are to be settled before the commit.
    @exclusivity(unchecked) private var noted: [Unsettled] = []
    /// The name that is being settled.
    @exclusivity(unchecked) private var settling: Name?

    /// Begins a transaction.
    @inline(__always)
    func clear() {
        if !noted.isEmpty { noted.removeAll() }
        settling = nil
    }

    /// Notes that a name is to be settled before the commit; while it is being settled, this does nothing.
    package func note(_ name: Name, _ settle: @escaping (WriteScope) throws(SpaceError) -> Void) {
        guard settling != name, !noted.contains(where: { $0.name == name }) else { return }
        noted.append(Unsettled(name: name, settle: settle))
    }

    /// Settles the names that were noted; called at the end of each operation of the transaction.
    @inline(__always)
    package func settleAll(in scope: WriteScope) throws(SpaceError) {
        if !noted.isEmpty { try settleNoted(in: scope) }
    }

    @inline(never)
    private func settleNoted(in scope: WriteScope) throws(SpaceError) {
        while let next = noted.first {
            noted.removeFirst()
            try settle(next.name) { () throws(SpaceError) in try next.settle(scope) }
        }
    }

    /// Settles a name now.
    package func settle(_ name: Name, _ body: () throws(SpaceError) -> Void) throws(SpaceError) {
        noted.removeAll { $0.name == name }
        let outer = settling
        settling = name
        defer { settling = outer }
        try body()
    }
}
