import LMDB
import SpaceSystem
import TupleCoding

/// Taking and claiming in LMDB's tables without a transaction: by a mark, which a later commit applies (`NearMarks`).
extension Engine {
    /// What has become of a tuple of the tables that was to be taken or claimed.
    package enum Marking {
        /// It is marked; the number is that of the claim, or 0 for a take.
        case marked(UInt64)
        /// Another process was first.
        case lost
        /// It has to be done by a transaction.
        case refused
    }

    /// Takes or claims a tuple that a look has found in the tables.
    ///
    /// What expires, ends with a holder or is a long tuple to claim is left to a transaction: the caller does not ask.
    ///
    /// - Parameters:
    ///   - id: The tuple.
    ///   - commit: The commit whose tables were searched.
    ///   - terms: The terms of a claim; `nil` for a take.
    ///   - head: The key by which the tuple was found, if all older ones of that key were marked.
    package func mark(
        _ id: UInt64,
        asOf commit: Int,
        _ terms: ClaimTerms?,
        head: IndexKey?
    ) throws(SpaceError) -> Marking {
        guard let near, near.off.loadRelaxed() == 0, terms?.deadline == nil else { return .refused }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            guard near.off.loadRelaxed() == 0, !isSomethingDue(near) else { return .refused }
            guard near.marks.place(of: id) == nil else { return .lost }
            if environment.lastTransaction != commit, try !isInTables(id) { return .lost }
            if near.marks.count == NearMarks.capacity { try applyMarks() }
            guard let number = near.mark(id, terms?.holder, control.sequence) else { return .refused }
            if var head {
                head.id = id + 1
                near.marks.noteHead(head, asOf: commit)
            }
            if control.isCut { try checkUsable() }
            return .marked(number)
        }
    }

    /// Whether the last commit has a tuple; under the gate.
    @inline(never)
    private func isInTables(_ id: UInt64) throws(SpaceError) -> Bool {
        var isThere = false
        try readUnderGate { (snapshot) throws(SpaceError) in isThere = try snapshot.tuples.contains(id) }
        return isThere
    }

    /// Applies all marks; called under the gate.
    @inline(never)
    private func applyMarks() throws(SpaceError) {
        try commit(.removing, keeps: .ring) { (scope) throws(SpaceError) in scope.noteUpkeep() }
        announce()
    }

    /// Applies the marks one after the other, from the last on: the room that is kept for removals is enough for one.
    @inline(never)
    func applyMarksSingly(_ near: NearRing) throws(SpaceError) {
        while near.marks.count > 0 {
            try commitOnce(.removing, removesDue: false, keeps: [.ring, .earlierMarks]) { (scope) throws(SpaceError) in
                scope.noteUpkeep()
            }
            announce()
        }
    }
}
