import LMDB
import SpaceSystem
import TupleCoding

/// Taking and claiming in LMDB's tables without a transaction: by a mark, which a later commit applies (`NearMarks`).
extension Engine {
    /// A tuple that was marked.
    package struct Marked {
        package let id: UInt64
        /// The claim; `nil` for a take.
        package let claim: ClaimMade?
    }

    /// Takes or claims the oldest match of a template in the tables; `nil` if it has to be done in another way.
    ///
    /// All of it runs under the gate, so it is for templates whose matches an index names one after the other, or that are
    /// found after a few other tuples. What expires, ends with a holder or is a long tuple to claim is left to a transaction.
    ///
    /// - Parameters:
    ///   - template: The template.
    ///   - terms: The terms of a claim; `nil` for a take.
    ///   - decode: Decodes the match, which is lent. A tuple that does not decode stays in place.
    package func markFirst(
        _ template: TemplateForm,
        _ terms: ClaimTerms?,
        _ decode: (Match) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Marked? {
        guard let near, near.off.loadRelaxed() == 0, terms?.deadline == nil else { return nil }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            guard near.off.loadRelaxed() == 0, !isSomethingDue(near) else { return nil }
            if near.marks.count == NearMarks.capacity { try applyMarks() }
            let reader = try lendReader(holdsGate: true)
            defer { takeBack(reader) }
            var view = NearView(marksOf: near)
            return try withUnsafePointer(to: &view) { (view) throws(SpaceError) in
                try markFirst(template, terms, in: near, snapshot(of: reader, beside: view), reader, decode)
            }
        }
    }

    private func markFirst(
        _ template: TemplateForm,
        _ terms: ClaimTerms?,
        in near: NearRing,
        _ snapshot: Snapshot,
        _ reader: Reader,
        _ decode: (Match) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Marked? {
        let shapes = try shapeCache.table(of: snapshot)
        // Without an index all tuples are looked at in turn, whatever their shape.
        var key = IndexKey(shape: .max, hash: 0, id: 0)
        if let index = shapes.index(for: template.shape) {
            guard index.watermark == 0 else { return nil }
            key = IndexKey(shape: index.number, hash: template.boundHash, id: 0)
        }
        let first = near.marks.head(of: key, asOf: snapshot.commit)
        var search = Search(snapshot, shapes, .oldestFirst, within: first..<UInt64.max)
        search.mostExamined = Self.mostExaminedUnderGate
        var found: (id: UInt64, deliveries: UInt32)?
        var isPlain = true
        var failure: SpaceError?
        try search.forEach(template) { (id, row) throws(SpaceError) in
            isPlain = row.end.isNever && (terms == nil || row.size <= NearMarks.longestClaimed)
            guard isPlain else { return false }
            found = (id, row.deliveries)
            do throws(SpaceError) {
                try withUnsafePointer(to: row.encoded) { (tuple) throws(SpaceError) in
                    try decode(Match(lending: tuple, id, row))
                }
            } catch {
                failure = error
            }
            return false
        }
        // An error waits until it is known whether the pages were damaged.
        try reader.checkUndamaged()
        if let failure { throw failure }
        guard let found else {
            foundInTables.forget(template)
            return nil
        }
        guard let number = near.mark(found.id, terms?.holder, control.sequence) else { return nil }
        // What was walked past was marked, if the match is the only tuple that was looked at.
        if search.examined == 1 {
            key.id = found.id + 1
            near.marks.noteHead(key, asOf: snapshot.commit)
        }
        if control.isCut { try checkUsable() }
        return Marked(
            id: found.id,
            claim: terms == nil ? nil : ClaimMade(number: number, deliveries: Int(found.deliveries))
        )
    }

    /// How many tuples a take looks at under the gate: what it costs to write them into a transaction.
    private static let mostExaminedUnderGate = 64

    /// Whether a match, found after a look at so many tuples, could have been marked.
    package static func couldMark(_ match: Match, examined: Int) -> Bool {
        match.expiry == 0 && !match.endsWithHolder && examined <= mostExaminedUnderGate
    }

    /// Applies all marks; called under the gate.
    func applyMarks() throws(SpaceError) {
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

    /// Whether the last match of the template was found in the tables by an index, so that the next one may be too.
    @inline(__always)
    package func mayMark(_ template: TemplateForm) -> Bool { near != nil && foundInTables.has(template) }

    /// Notes that a take or claim has found its match in the tables.
    package func noteFoundInTables(_ template: TemplateForm) { if near != nil { foundInTables.note(template) } }
}
