import LMDB
import SpaceSystem
import TupleCoding

/// Taking and claiming in LMDB's tables without a transaction: by a mark, which a later commit applies (`NearMarks`).
package struct Marking {
    let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    /// What has become of a tuple of the tables that was to be taken or claimed.
    package enum Outcome {
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
    /// - Returns: What has become of it.
    /// - Throws: The errors of every write.
    package func mark(
        _ id: UInt64,
        asOf commit: Int,
        _ terms: ClaimTerms?,
        head: IndexKey?
    ) throws(SpaceError) -> Outcome {
        guard let near = engine.near, near.off.loadRelaxed() == 0, terms?.deadline == nil else { return .refused }
        try engine.checkUsable()
        return try engine.underGate { () throws(SpaceError) in
            guard near.off.loadRelaxed() == 0, !engine.isSomethingDue(near) else { return .refused }
            guard near.marks.place(of: id) == nil else { return .lost }
            if engine.environment.lastTransaction != commit, try !isInTables(id) { return .lost }
            if near.hasAllMarks { try applyAll() }
            guard let number = near.mark(id, terms?.holder.raw, engine.control.sequence) else { return .refused }
            if let head { near.marks.noteHead(id + 1, ofShape: head.shape, head.hash, asOf: commit) }
            if engine.control.isCut { try engine.checkUsable() }
            return .marked(number)
        }
    }

    /// Whether the last commit has a tuple; under the gate.
    @inline(never)
    private func isInTables(_ id: UInt64) throws(SpaceError) -> Bool {
        var isThere = false
        try engine.readUnderGate { (snapshot) throws(SpaceError) in isThere = try snapshot.tuples.contains(id) }
        return isThere
    }

    /// Applies all marks; called under the gate.
    @inline(never)
    private func applyAll() throws(SpaceError) {
        try engine.commitWithRetries(.removing, keeps: .ring) { (scope) throws(SpaceError) in scope.noteUpkeep() }
        engine.announce()
    }

    /// Applies the marks one after the other, from the last on: the room that is kept for removals is enough for one.
    @inline(never)
    func applySingly(_ near: NearRing) throws(SpaceError) {
        while near.marks.count > 0 {
            try engine.commitOnce(.removing, removesDue: false, keeps: [.ring, .earlierMarks]) {
                (scope) throws(SpaceError) in
                scope.noteUpkeep()
            }
            engine.announce()
        }
    }
}
