/// Commits that do nothing but remove and return what is due (`DueRows`): they make room, or bring overdue claims back to
/// their places before a look.
package struct DueCommits {
    private let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    // MARK: To make room, under the gate

    /// How many run before a body that was refused is tried again for the first time.
    static let few = 16

    /// Whether something is due that no commit has removed or returned.
    var isAnyDue: Bool {
        var isAnyDue = false
        try? engine.readUnderGate { (snapshot) throws(SpaceError) in
            if try snapshot.counters().expiring > 0 { isAnyDue = try !snapshot.due(limit: 1).isEmpty }
        }
        return isAnyDue
    }

    /// Removes and returns what is due; each commit may use the space that is kept for removals.
    ///
    /// The result is whether there was anything.
    @inline(never)
    @discardableResult
    func run(_ most: Int) -> Bool {
        var commits = 0
        while commits < most {
            do throws(SpaceError) {
                try engine.commitOnce(.removing, keeps: .all) { (_) throws(SpaceError) in }
            } catch {
                break
            }
            engine.announce()
            guard engine.scope.hasRemovedDue else { break }
            commits += 1
        }
        if commits > 0 { Marking(engine).freePages() }
        return commits > 0
    }

    // MARK: Before a look

    /// Whether a claim may be overdue, or the rest of a tuple over, as of LMDB's last commit.
    @inline(__always)
    package var mayReturnClaims: Bool {
        if let near = engine.near, !engine.isSomethingDue(near) { return false }
        return engine.absences.claimDue(asOf: engine.lastCommit).map { $0 <= engine.clock.milliseconds } ?? true
    }

    /// When the first claim is overdue, or the first rest is over; `Int64.max` if no claim has a time.
    package func earliestClaim(in snapshot: Snapshot) throws(SpaceError) -> Int64 {
        let counters = try snapshot.counters()
        guard counters.expiring > 0, counters.mayReturn, !counters.followsLog else { return .max }
        var rows = try snapshot.expiries.scan()
        try rows.seek(from: ExpiryKey.start(.claim))
        guard let (key, _) = try rows.nextValid(), key.kind == .claim else { return .max }
        return key.deadline
    }

    /// Notes when the first claim is due as of a commit; `Int64.max`: none is, or none can return.
    package func note(claimDue due: Int64, asOf commit: Int) { engine.absences.note(claimDue: due, asOf: commit) }
}
