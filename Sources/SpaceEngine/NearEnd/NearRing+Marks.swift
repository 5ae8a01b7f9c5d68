import SpaceSystem

/// Taking and claiming tuples of the tables by marks, and dropping the marks that a commit has applied; all under the gate.
extension NearRing {
    /// Whether a commit has to apply the marks before another one can be made; under the gate.
    @inline(__always)
    var hasAllMarks: Bool {
        marks.count >= min(NearMarks.capacity, max(1, Self.capacity - Int(unused.loadRelaxed())))
    }

    /// Marks a tuple of the tables as taken, or as claimed by a holder, and raises the number of changes.
    ///
    /// - `head`: The shape and hash of the index by which the tuple was found, and the commit, if all older tuples of that
    ///   key are marked.
    /// - Returns: the claim's number, or 0 for a take; `nil` if the numbers are used up, or damaged.
    @inline(__always)
    func mark(
        _ id: UInt64,
        _ holder: UInt64?,
        _ last: SharedWord64,
        head: (shape: UInt16, hash: UInt64, commit: Int)?
    ) -> UInt64? {
        let number = holder == nil ? 0 : nextClaimNumber
        guard marks.isSound, holder == nil || number != 0 else { return nil }
        changing {
            raise(last)
            if holder != nil { nextNumber.storeRelaxed(number + 1) }
            marks.add(id, holder, number: number)
            if let head { marks.noteHead(id + 1, ofShape: head.shape, head.hash, asOf: head.commit) }
        }
        return number
    }

    /// Completes the claim of a mark, and raises the number of changes.
    @inline(__always)
    func completeMark(_ place: Int, _ last: SharedWord64) {
        changing {
            raise(last)
            CrashPoint.reach(.nearTaking)
            // This store commits.
            marks.complete(place)
            CrashPoint.reach(.nearTaken)
        }
    }

    /// Makes the word odd before a commit that applies marks; it stays odd until these are dropped.
    ///
    /// So a reader that finds an even word knows, without its snapshot's counters, that no commit has applied the marks. After a
    /// commit that fails, or a kill, the word is odd until the gate is repaired.
    @inline(__always)
    func beginApplying() {
        word.storeRelaxed(word.loadRelaxed() | 1)
        SharedWord64.fence()
    }

    /// Drops the marks that a commit has applied according to its counters.
    @inline(__always)
    func dropMarks(_ applied: UInt64) {
        // The word becomes another odd number than before the commit: so a look with a snapshot from before the commit
        // and marks from after it does not count.
        let odd = (word.loadRelaxed() | 1) &+ 2
        word.storeRelaxed(odd)
        SharedWord64.releaseFence()
        marks.drop(applied)
        word.store(odd &+ 1)
    }
}
