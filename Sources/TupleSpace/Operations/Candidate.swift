import SpaceSystem
import TupleCoding

/// A match that a look has found, and where: the object of a take or a claim.
struct Candidate {
    let id: TupleID
    /// Whether the tuple may be in the ring.
    let isNear: Bool
    /// The commit whose tables were searched.
    let commit: Int
    /// A copy of the tuple, if the look has made one.
    ///
    /// The tuple may nevertheless be near: the last of several looks reads ring and tables together.
    let copy: Match?
    /// The size of the encoded tuple; 0 if it is not known.
    let byteCount: Int
    /// Whether the tuple ends by itself, with time or with a process.
    let endsByItself: Bool
    /// How often the tuple has returned from a claim.
    let deliveries: UInt32
    /// The key by which the tuple was found, if all older ones of that key were marked.
    let head: IndexKey?

    @inline(__always)
    init(_ match: Match, isNear: Bool, commit: Int, head: IndexKey?) {
        (id, self.isNear, self.commit, copy) = (match.id, isNear, commit, match.isLent ? nil : match)
        (byteCount, deliveries, self.head) = (match.byteCount, match.deliveries, head)
        endsByItself = match.expiry != 0 || match.endsWithHolder
    }

    /// A match that is looked up again by its id, because it may have been changed since.
    init(copied match: Match) {
        (id, isNear, commit, copy, byteCount) = (match.id, true, -1, match, match.byteCount)
        (endsByItself, deliveries, head) = (true, 0, nil)
    }

    /// A tuple of which nothing is known but its id.
    init(_ id: TupleID) {
        (self.id, isNear, commit, copy, byteCount, endsByItself, deliveries, head) = (
            id, true, -1, nil, 0, true, 0, nil
        )
    }

    /// Takes or claims the tuple, which was found in the tables, by a mark; `nil` if that has to be done by a transaction.
    @inline(never)
    func mark<Made>(
        _ terms: ClaimTerms?,
        in engine: Engine,
        _ made: (UInt64, Int) -> Made
    ) throws(SpaceError) -> Removed<Made>? {
        // The row of a claimed tuple is written again once the mark is applied; a long one has pages of its own.
        guard !endsByItself, terms == nil || byteCount <= NearRing.longestTuple else { return nil }
        switch try Marking(engine).mark(id.rawValue, asOf: commit, deliveries: deliveries, terms, head: head) {
        case .marked(let number, let deliveries): return .removed(made(number, Int(deliveries)))
        case .lost: return .lost
        case .refused: return nil
        }
    }

    /// Calls `body` with the row, if the tuple is still visible.
    ///
    /// If no process has written since the look, the copy is as good as the row: the tuple under an id never changes, and an
    /// id is never used twice.
    @inline(__always)
    func remove<Made>(
        in scope: WriteScope,
        _ body: (UInt64, TupleRow) throws(SpaceError) -> Made
    ) throws(SpaceError) -> Removed<Made> {
        if let copy {
            let isUnchanged = !isNear && scope.isUnchanged(since: commit)
            if isUnchanged || !Safeguard.secondLook.stands {
                return try copy.withRow { (row) throws(SpaceError) in
                    // The tuple may have expired since it was found.
                    guard scope.snapshot.isVisible(row) else { return .lost }
                    return .removed(try body(id.rawValue, row))
                }
            }
        }
        guard let row = try scope.snapshot.tupleRow(id.rawValue) else { return .lost }
        return .removed(try body(id.rawValue, row))
    }
}

/// What became of a removal.
package enum Removed<Made> {
    /// The tuple was removed; `Made` represents it now.
    case removed(Made)
    /// None was left: other processes were first. Nothing was changed.
    case lost
}

/// Which of several tuples was removed: the first one that was left.
package struct FirstLeft<Made> {
    /// Its place among those that were named.
    package let index: Int
    /// What stands for it now.
    package let made: Made
}
