import SpaceSystem

/// Taking and claiming in LMDB's tables without a transaction: by a mark, which a later commit applies (`NearMarks`).
package struct Marking {
    let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    /// The outcome of an attempt to take or claim a tuple of the tables.
    package enum Outcome {
        /// It is marked; the number is that of the claim, or 0 for a take. The other one is how often the tuple had returned.
        case marked(UInt64, deliveries: UInt32)
        /// Another process was first.
        case lost
        /// It has to be done by a transaction.
        case refused
    }

    /// Takes or claims a tuple that a look has found in the tables.
    ///
    /// A transaction takes or claims tuples that expire, that end with a holder, or that are long and to be claimed;
    /// the caller does not ask for tuples that were such when it looked. A claim that is the first half of a take also
    /// needs a transaction, because a mark can't say so.
    ///
    /// - Parameters:
    ///   - id: The tuple.
    ///   - commit: The commit whose tables were searched.
    ///   - deliveries: How often the tuple had returned from a claim as of that commit.
    ///   - terms: The terms of a claim; `nil` for a take.
    ///   - head: The key by which the tuple was found, if all older ones of that key were marked.
    /// - Returns: What has become of it.
    /// - Throws: The errors of every write.
    package func mark(
        _ id: UInt64,
        asOf commit: Int,
        deliveries: UInt32,
        _ terms: ClaimTerms?,
        head: IndexKey?
    ) throws(SpaceError) -> Outcome {
        guard let near = engine.near, near.off.loadRelaxed() == 0, terms?.deadline == nil, !(terms?.isTake ?? false)
        else {
            return .refused
        }
        try engine.checkUsable()
        return try engine.underGate { () throws(SpaceError) in
            guard near.off.loadRelaxed() == 0, !engine.isSomethingDue(near) else { return .refused }
            // A claim must be applied in the end, so this checks now whether there will be enough room for it.
            if terms != nil, engine.diskReserve.isKeptPartUsed { return .refused }
            guard near.marks.place(of: id) == nil else { return .lost }
            var (deliveries, head) = (deliveries, head.map { (shape: $0.shape, hash: $0.hash, commit: commit) })
            if engine.lastCommit != commit {
                // By now another process may have taken the tuple, or taken and returned it, or have given it an end.
                guard let now = try stateInTables(of: id) else { return .lost }
                if now.endsByItself { return .refused }
                (deliveries, head) = (now.deliveries, nil)
            }
            if near.hasAllMarks {
                try applyAll()
                head = nil
            }
            guard let number = near.mark(id, terms?.holder.raw, engine.control.sequence, head: head) else {
                return .refused
            }
            if engine.control.isCut { try engine.checkUsable() }
            return .marked(number, deliveries: deliveries)
        }
    }

    /// A tuple as it is in the last commit, or `nil` if that commit does not show it; under the gate.
    @inline(never)
    private func stateInTables(of id: UInt64) throws(SpaceError) -> (endsByItself: Bool, deliveries: UInt32)? {
        var state: (endsByItself: Bool, deliveries: UInt32)?
        try engine.readUnderGate { (snapshot) throws(SpaceError) in
            state = try snapshot.tuples.get(id).flatMap { $0.isClaimed ? nil : (!$0.end.isNever, $0.deliveries) }
        }
        return state
    }

    /// Applies all marks; called under the gate.
    @inline(never)
    private func applyAll() throws(SpaceError) {
        try engine.commitWithRetries(.removing, keeps: .ring) { (scope) throws(SpaceError) in scope.noteUpkeep() }
        engine.announce()
    }

    /// Applies all marks so that the next transaction can use the pages that they free; under the gate.
    @inline(never)
    func applyAhead() throws(SpaceError) {
        try applyAll()
        freePages()
    }

    /// Applies the marks one after the other, from the last on: the room that is kept for removals is enough for one.
    @inline(never)
    func applySingly() throws(SpaceError) {
        while let near = engine.near, near.marks.count > 0 {
            try engine.commitOnce(.removing, removesDue: false, keeps: [.ring, .earlierMarks]) {
                (scope) throws(SpaceError) in
                scope.noteUpkeep()
            }
            engine.announce()
        }
        freePages()
    }

    /// Commits nothing: LMDB uses the pages that a commit has freed again in the second one after it.
    func freePages() {
        try? engine.commitOnce(.removing, removesDue: false, keeps: .all) { (scope) throws(SpaceError) in
            scope.noteUpkeep()
        }
    }
}
