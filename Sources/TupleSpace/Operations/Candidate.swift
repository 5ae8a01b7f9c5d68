/// A match that a look has found, and where: the object of a take or a claim.
struct Candidate {
    let id: TupleID
    /// Whether the tuple may be in the ring.
    let isNear: Bool
    /// The commit whose tables were searched.
    let commit: Int
    /// The match, if it was found in the tables, or copied.
    ///
    /// The tuple may nevertheless be near: the last of several looks reads ring and tables together.
    let match: Match?
    /// The key by which the tuple was found, if all older ones of that key were marked.
    let head: IndexKey?

    @inline(__always)
    init(_ match: Match, isNear: Bool, commit: Int, head: IndexKey?) {
        (id, self.isNear, self.commit, self.match, self.head) = (match.id, isNear, commit, match, head)
    }

    /// A match that is looked up again by its id, because it may have been changed since.
    init(copied match: Match) { self.init(match, isNear: true, commit: -1, head: nil) }

    /// A tuple of which nothing is known but its id.
    @inline(__always)
    init(_ id: TupleID) { (self.id, isNear, commit, match, head) = (id, true, -1, nil, nil) }

    /// Takes or claims the tuple, which was found in the tables, by a mark; `nil` if that has to be done by a transaction.
    @inline(never)
    func mark<Made>(
        _ terms: ClaimTerms?,
        in engine: Engine,
        _ made: (UInt64, Int) -> Made
    ) throws(SpaceError) -> Removed<Made>? {
        // The row of a claimed tuple is written again once the mark is applied; a long one has pages of its own.
        guard let match, match.end.isNever, terms == nil || match.byteCount <= NearRing.longestTuple else { return nil }
        switch try Marking(engine).mark(id.rawValue, asOf: commit, deliveries: match.deliveries, terms, head: head) {
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
        if let match, !match.isLent {
            let isUnchanged = !isNear && scope.isUnchanged(since: commit)
            if isUnchanged || !Safeguard.secondLook.stands {
                return try match.withRow { (row) throws(SpaceError) in
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
