import SpaceSystem

/// Looks for the oldest match in what an earlier look has copied, without the gate and without a snapshot
/// (`TuplesAhead`).
package struct LookingAhead {
    let engine: Engine

    @inline(__always)
    package init(_ engine: Engine) { self.engine = engine }

    /// The oldest match, which is lent to `borrow`.
    ///
    /// With it come the commit that it is of, and the key of which all older tuples are marked. `nil` if the tables have to be
    /// searched.
    package func first(
        _ template: TemplateForm,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) -> (match: Match, commit: Int, head: IndexKey)? {
        guard engine.ahead.mayHave, let near, near.marks.isSound else { return nil }
        try engine.checkUsable()
        let commit = engine.lastCommit
        return withUnsafeTemporaryAllocation(byteCount: NearRing.longestTuple, alignment: 8) { buffer in
            let found = engine.ahead.first(template, asOf: commit, near.marks, copiedTo: buffer)
            guard let (match, head) = found else { return nil }
            match.lend(to: borrow)
            return (match.match(lending: nil), commit, head)
        }
    }

    /// Copies a match in the tables, and the tuples after it, for the next looks.
    ///
    /// A pattern takes its time where its own look is. What is long, or ends by itself, is not copied.
    package func copy(_ search: Search, _ template: TemplateForm, from match: Match, _ head: IndexKey) {
        guard let near, !match.isLent, match.end.isNever, !template.usesPattern,
            near.marks.count < NearMarks.capacity
        else { return }
        engine.ahead.copy(search, template, from: match.id.rawValue, head, near.marks)
    }

    @inline(__always)
    private var near: NearRing? { engine.near.flatMap { $0.off.loadRelaxed() == 0 ? $0 : nil } }
}
