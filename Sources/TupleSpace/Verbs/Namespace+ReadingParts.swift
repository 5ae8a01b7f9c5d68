import SpaceSystem
package import TupleCoding

// Reading in parts.

extension Namespace {
    /// Reads all tuples that match, each once, in order, and passes them on in parts.
    ///
    /// Nothing is locked, and no snapshot is held, while `body` runs; memory is bounded by a part of 4 MiB. The matches
    /// of one template of a choice in one part are of one moment. So up to 4 MiB are of one moment; if there are more,
    /// a tuple that was there all the time comes once, a tuple that was taken during the walk may be missing, and a
    /// tuple that was written after the first part does not come.
    package func forEachPart(
        matching template: Template,
        order: MatchOrder,
        max: Int = .max,
        _ body: ([Tuple]) throws -> Void
    ) throws {
        var (ids, wanted) = (Search.allIDs, max)
        while wanted > 0, !ids.isEmpty {
            let (tuples, rest) = try attempt("read") { (core) throws(SpaceError) in
                try core.looking.readPart(
                    ofEach: template.form.choices ?? [template.form],
                    order,
                    max: wanted,
                    within: ids
                )
            }
            if !tuples.isEmpty { try body(tuples) }
            guard let rest else { return }
            (ids, wanted) = (rest, wanted - tuples.count)
        }
    }
}

extension Looking {
    /// How many encoded bytes of one template's matches make a part, unless the first is larger.
    private static let partBytes = 4 << 20

    /// A part of what any of several templates matches, and the ids of the rest, if there may be more.
    fileprivate func readPart(
        ofEach templates: [TemplateForm],
        _ order: MatchOrder,
        max: Int,
        within ids: Range<UInt64>
    ) throws(SpaceError) -> (tuples: [Tuple], rest: Range<UInt64>?) {
        var found: [TupleID: Match] = [:]
        var rest: Range<UInt64>?
        for template in templates {
            // What the templates before have left for the next part is not looked at here.
            let ids = ids.without(rest, order)
            let (matches, end) = try readPart(template, order, max: max, maxBytes: Self.partBytes, within: ids)
            for match in matches { found[match.id] = match }
            guard let end, let last = matches.last?.id.rawValue else { continue }
            switch order {
            case .oldestFirst: rest = last + 1..<Swift.max(last + 1, min(rest?.upperBound ?? ids.upperBound, end))
            case .newestFirst: rest = ids.lowerBound..<last
            }
        }
        let here = ids.without(rest, order)
        let matches = found.values.filter { here.contains($0.id.rawValue) }
        let sorted = matches.sorted { order == .oldestFirst ? $0.id < $1.id : $0.id > $1.id }
        if sorted.count > max { return (try Array(sorted.prefix(max)).tuples(), nil) }
        return (try sorted.tuples(), rest)
    }
}

extension Range<UInt64> {
    /// The ids that come before those of `rest`.
    fileprivate func without(_ rest: Range<UInt64>?, _ order: MatchOrder) -> Range<UInt64> {
        guard let rest else { return self }
        switch order {
        case .oldestFirst: return lowerBound..<rest.lowerBound
        case .newestFirst: return rest.upperBound..<upperBound
        }
    }
}
