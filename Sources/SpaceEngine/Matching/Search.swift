/// Finds the tuples that match a template, in order.
///
/// If the template's shape has an index, the candidates are the index's rows for the template's hash: O(log n),
/// whichever fields are bound. Everything that the index doesn't show (a hash shared by chance, types, ranges,
/// patterns) is checked on the tuple itself. While an index is being built, the search also walks through all ids below
/// its watermark. Without an index it walks through all tuples, and counts them, so that the shape can earn an index.
///
/// The tuples in the near end have higher ids than all in the tables.
package struct Search {
    package let snapshot: Snapshot
    package let shapes: ShapeTable
    package let order: MatchOrder
    /// The ids of the tuples that are looked at.
    package let ids: Range<UInt64>
    /// How many tuples the search has looked at.
    package private(set) var examined = 0
    /// How many of them were claimed.
    private var claimed = 0
    /// Whether the search has asked where the visible tuples begin.
    private var hasAsked = false
    /// Whether the search went through LMDB's tables to the end.
    package private(set) var isAbsent = false

    /// All ids.
    package static let allIDs: Range<UInt64> = 0..<UInt64.max

    package init(
        _ snapshot: Snapshot,
        _ shapes: ShapeTable,
        _ order: MatchOrder,
        within ids: Range<UInt64> = Search.allIDs
    ) {
        self.ids = ids
        self.snapshot = snapshot
        self.shapes = shapes
        self.order = order
    }

    package typealias Visit = (UInt64, TupleRow) throws(SpaceError) -> Bool

    /// Calls `visit` for each match of a template, in order, until it returns `false`.
    ///
    /// A signal that has asked a command to end ends its search too, after a few more tuples.
    ///
    /// The rows stay valid until something is changed. The search does not keep the template, because a copy would count
    /// the references of its arrays up and down.
    ///
    /// - Throws: `badData` if a regular expression took too many steps.
    package mutating func forEach(_ template: TemplateForm, _ visit: Visit) throws(SpaceError) {
        // If the filter of a watch has given up, that is not a failure of this search.
        if template.usesPattern { _ = template.takeGivenUpPattern() }
        try walk(template, visit)
        guard template.usesPattern, let pattern = template.takeGivenUpPattern() else { return }
        if Interruption.ofProcess.isTriggered { throw .cancelled }
        throw SpaceError(
            .badData,
            reason:
                "the search for the regular expression \(pattern.source.quotedForPeople) takes too many steps in a tuple",
            advice: "write it more simply, such as with fewer and smaller repetitions"
        )
    }

    private mutating func walk(_ template: TemplateForm, _ visit: Visit) throws(SpaceError) {
        let isWhole = ids == Self.allIDs
        guard let near = snapshot.near, !near.pointee.isEmpty else {
            isAbsent = try walkTables(template, visit) && isWhole
            return
        }
        switch order {
        case .oldestFirst:
            guard try walkTables(template, visit) else { return }
            isAbsent = isWhole
            _ = try near.pointee.forEach(template, order, within: ids, visit)
        case .newestFirst:
            guard try near.pointee.forEach(template, order, within: ids, visit) else { return }
            isAbsent = try walkTables(template, visit) && isWhole
        }
    }

    /// Walks through LMDB's tables, and returns whether it went to the end.
    private mutating func walkTables(_ template: TemplateForm, _ visit: Visit) throws(SpaceError) -> Bool {
        guard let index = shapes.index(for: template.shape) else { return try scan(template, 0..<UInt64.max, visit) }
        switch order {
        case .oldestFirst:
            if index.watermark > 0, try !scan(template, 0..<index.watermark, visit) { return false }
            return try lookUp(template, index, from: index.watermark, visit)
        case .newestFirst:
            guard try lookUp(template, index, from: index.watermark, visit) else { return false }
            return index.watermark > 0 ? try scan(template, 0..<index.watermark, visit) : true
        }
    }

    /// Walks through all tuples in a range of ids.
    private mutating func scan(
        _ template: TemplateForm,
        _ ids: Range<UInt64>,
        _ visit: Visit
    ) throws(SpaceError) -> Bool {
        let ids = ids.clamped(to: self.ids).clamped(to: head(of: .allTuples)..<UInt64.max)
        guard !ids.isEmpty else { return true }
        var rows =
            switch order {
            case .oldestFirst where ids.lowerBound > 0: try snapshot.tuples.scan(from: ids.lowerBound)
            case .newestFirst where ids.upperBound < .max: try snapshot.tuples.scan(below: ids.upperBound)
            default: try snapshot.tuples.scan()
            }
        while let (id, row) = try order == .oldestFirst ? rows.next() : rows.previous() {
            guard ids.contains(id) else { return true }
            if isMarked(id) { continue }
            try examine()
            if row.isClaimed {
                claimed &+= 1
                if let first = try firstVisible(behind: id) { rows = try snapshot.tuples.scan(from: first) }
            } else if try !pass(template, id, row, visit) {
                return false
            }
        }
        return true
    }

    /// The id at which a walk goes on that has met a claimed tuple, if that is not the next one.
    private mutating func firstVisible(behind id: UInt64) throws(SpaceError) -> UInt64? {
        guard order == .oldestFirst, !hasAsked else { return nil }
        hasAsked = true
        let first = try snapshot.mainCounters.getValid(.counters)?.firstVisible ?? 0
        return first > id + 1 ? first : nil
    }

    /// How many tuples the search has looked at that were neither marked nor claimed.
    package var examinedVisible: Int { examined - claimed }

    /// Whether a tuple that has rows in LMDB was taken or is claimed.
    @inline(__always)
    private func isMarked(_ id: UInt64) -> Bool { snapshot.near?.pointee.isMarked(id) ?? false }

    /// Whether it is known that each tuple of the tables was taken or is claimed.
    func hasSeenNoVisible(_ template: TemplateForm) throws(SpaceError) -> Bool {
        if examinedVisible == 0, shapes.index(for: template.shape) == nil { return true }
        let count = try snapshot.tuples.count
        return count == 0 ? true : try count == snapshot.hiddenCount
    }

    /// The tuple at which a walk begins or ends, because all older ones that the key names are marked.
    @inline(__always)
    private func head(of key: IndexKey) -> UInt64 { snapshot.near?.pointee.head(of: key, asOf: snapshot.commit) ?? 0 }

    /// The key by which a template's first match was found, if that was the only tuple that was looked at: then all older
    /// ones of the key are marked or claimed.
    package func headKey(_ template: TemplateForm) -> IndexKey? {
        guard examinedVisible == 1, order == .oldestFirst, ids == Self.allIDs else { return nil }
        guard let index = shapes.index(for: template.shape) else { return .allTuples }
        return index.watermark == 0 ? IndexKey(shape: index.number, hash: template.boundHash, id: 0) : nil
    }

    /// Counts a tuple that is looked at.
    ///
    /// - Throws: `cancelled`, once in 16 tuples, if the process was asked to end.
    @inline(__always)
    private mutating func examine() throws(SpaceError) {
        examined &+= 1
        if examined & 15 == 0, Interruption.ofProcess.isTriggered { throw .cancelled }
    }

    /// Calls `visit` if the tuple matches; the result is whether the walk goes on.
    @inline(__always)
    private func pass(
        _ template: TemplateForm,
        _ id: UInt64,
        _ row: TupleRow,
        _ visit: Visit
    ) throws(SpaceError) -> Bool {
        if row.size < LongField.leastLength {
            guard template.matches(row.encoded), snapshot.isVisible(row) else { return true }
            return try visit(id, row)
        }
        guard let long = template.match(row.encoded), snapshot.isVisible(row) else { return true }
        return try visit(id, row.knowing(long))
    }

    /// Looks at the tuples that an index names.
    private mutating func lookUp(
        _ template: TemplateForm,
        _ index: IndexedShape,
        from: UInt64,
        _ visit: Visit
    ) throws(SpaceError) -> Bool {
        let hash = template.boundHash
        let from = max(from, ids.lowerBound, head(of: IndexKey(shape: index.number, hash: hash, id: 0)))
        let start = IndexKey(shape: index.number, hash: hash, id: order == .oldestFirst ? from : ids.upperBound)
        var rows = order == .oldestFirst ? try snapshot.index.scan(from: start) : try snapshot.index.scan(below: start)
        while let (key, _) = try order == .oldestFirst ? rows.next() : rows.previous() {
            guard key.shape == index.number, key.hash == hash, key.id >= from, key.id < ids.upperBound else {
                return true
            }
            if isMarked(key.id) { continue }
            guard let row = try snapshot.tuples.get(key.id) else {
                throw .damaged("the index names tuple \(key.id), which is not there")
            }
            try examine()
            if try !pass(template, key.id, row, visit) { return false }
        }
        return true
    }
}
