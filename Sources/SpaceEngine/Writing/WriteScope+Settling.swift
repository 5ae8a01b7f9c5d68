package import LMDB
package import TupleCoding

/// A name at which something may have become available, and how to hand it out.
struct Unsettled {
    let name: Name
    let settle: (WriteScope) throws(SpaceError) -> Void
}

// What a transaction makes available by name (a lock, permits, an item, room) is handed out once, at its end.
//
// Guarantees: each function that changes a row on which a wait depends notes the name, and the transaction settles each
// noted name before it is committed. So no operation can forget to, and a waiter beside something that it could have
// exists in no commit.
extension WriteScope {
    /// Notes that a name is to be settled before the commit; while it is being settled, this does nothing.
    package func noteUnsettled(_ name: Name, _ settle: @escaping (WriteScope) throws(SpaceError) -> Void) {
        guard settling != name, !unsettled.contains(where: { $0.name == name }) else { return }
        unsettled.append(Unsettled(name: name, settle: settle))
    }

    /// Settles the names that were noted; called at the end of each operation of the transaction.
    @inline(__always)
    package func settleNames() throws(SpaceError) {
        if !unsettled.isEmpty { try settleNotedNames() }
    }

    @inline(never)
    private func settleNotedNames() throws(SpaceError) {
        while let next = unsettled.first {
            unsettled.removeFirst()
            try settle(next.name) { () throws(SpaceError) in try next.settle(self) }
        }
    }

    /// Settles a name now.
    package func settle(_ name: Name, _ body: () throws(SpaceError) -> Void) throws(SpaceError) {
        unsettled.removeAll { $0.name == name }
        let outer = settling
        settling = name
        defer { settling = outer }
        try body()
    }

    /// Makes sure of the disk space for changing rows of some tables, of `bytes` each; returns whether there is enough.
    package func ensuresRoom(forRows count: Int, of bytes: Int, in databases: [Database]) -> Bool {
        let rows = databases.map { RoomMeter.Tree(database: $0, scattered: count) }
        do throws(SpaceError) {
            try meter.expect(rows, sizes: Array(repeating: bytes, count: count))
            return true
        } catch {
            return false
        }
    }
}
