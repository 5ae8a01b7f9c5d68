import TupleCoding

// Looking for matches, in the tables and in the near end, without waiting.

/// Looking for matches, in the tables and in the near end, without waiting.
package struct Looking {
    let core: NamespaceCore

    func search(
        _ snapshot: Snapshot,
        _ order: MatchOrder,
        within ids: Range<UInt64> = Search.allIDs
    ) throws(SpaceError) -> Search {
        Search(snapshot, try core.engine.shapeCache.table(of: snapshot), order, within: ids)
    }

    /// Whether there is a match; the first one is lent to `borrow`.
    private func readIfExists(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) -> Bool {
        core.endedHolders.returnOverdue()
        while true {
            var sight = Sight(isForTake: false)
            try look(template, order, &sight, borrow)
            if sight.id == nil {
                guard try core.endedHolders.returnEndedClaims() else { return false }
            } else {
                guard sight.endsWithHolder, core.endedHolders.returnIfAskingIsDue() else { return true }
            }
        }
    }

    /// What a look for the first match has found, and where.
    struct Sight {
        /// A match in the near end, which was lent.
        var near: TupleID?
        /// A match in the tables, or one that was copied from a view of both.
        var match: Match?
        /// Whether the copied match is in the near end.
        var isNear = false
        /// Whether the look is for a take, which needs the following properties.
        let isForTake: Bool
        /// The shapes of the tables that were searched; `nil` if it is known that the tables have no match.
        var shapes: ShapeTable?
        /// The commit whose tables were searched.
        var commit = 0
        /// How many tuples of the tables were looked at.
        var examined = 0
        /// The key by which the match was found, if all older tuples of that key are marked.
        var head: IndexKey?

        init(isForTake: Bool) { self.isForTake = isForTake }

        var id: TupleID? {
            @inline(__always) get { near ?? match?.id }
        }

        /// Whether the match ends with a holder; nothing in the near end does.
        var endsWithHolder: Bool {
            @inline(__always) get { match?.endsWithHolder ?? false }
        }
    }

    static let looks = 16

    /// Looks for the first match, in the tables and in the near end.
    @inline(__always)
    func look(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) {
        switch try core.engine.lookNear(template, order, { $0.lend(to: borrow) }) {
        case .match(let id): sight.near = id
        case .nothing: break
        case .unknown:
            if sight.isForTake, order == .oldestFirst, let ahead = try LookingAhead(core.engine).first(template, borrow)
            {
                return (sight.match, sight.commit, sight.head) = (ahead.match, ahead.commit, ahead.head)
            }
            let (word, mayBeNear, mayBeMarked) = core.engine.nearState
            let floor = try lookInTables(template, order, &sight, borrow, readsFloor: mayBeNear, mayBeMarked)
            // What is near is younger than all in the tables.
            if order == .oldestFirst && sight.match != nil { return }
            if !mayBeNear, core.engine.nearState.word == word { return }
            try lookBehindTables(template, order, &sight, borrow, floor: mayBeNear ? floor : nil, since: word)
        }
    }

    /// Looks in the near end after a search of the tables, and again in both if the near end has changed since.
    @inline(never)
    private func lookBehindTables(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void,
        floor: UInt64?,
        since word: UInt64
    ) throws(SpaceError) {
        var (floor, word) = (floor, word)
        for _ in 0..<Self.looks {
            switch floor.flatMap({ core.engine.lookNear(template, order, floor: $0, since: word, borrow) }) {
            case .match(let id): return (sight.near, sight.match) = (id, nil)
            case .nothing: return
            case .unknown, nil: break
            }
            let state = core.engine.nearState
            word = state.word
            floor = try lookInTables(template, order, &sight, borrow, readsFloor: true, state.mayHaveMarks)
            if order == .oldestFirst, sight.match != nil { return }
        }
        // Other processes change the near end too often.
        let isForTake = sight.isForTake
        sight = try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            var sight = Sight(isForTake: isForTake)
            try look(snapshot, template, order, &sight, borrow)
            if let id = sight.match?.id { sight.isNear = snapshot.isNear(id.rawValue) }
            return sight
        }
    }

    @inline(__always)
    private func lookInTables(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void,
        readsFloor: Bool,
        _ mayBeMarked: Bool
    ) throws(SpaceError) -> UInt64 {
        sight.match = nil
        return try core.read(showsMarks: mayBeMarked) { (snapshot) throws(SpaceError) in
            try look(snapshot, template, order, &sight, borrow)
            let needsFloor = readsFloor && (sight.match == nil || order == .newestFirst)
            return needsFloor ? try snapshot.nearBounds().next : 0
        }
    }

    @inline(__always)
    private func look(
        _ snapshot: Snapshot,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) {
        var search = try search(snapshot, order)
        try search.forEach(template) { (id, row) throws(SpaceError) in
            // A take from the tables needs the bytes once more, to remove them from the indexes.
            if sight.isForTake, row.size < LongField.leastLength {
                sight.match = Match(id, row)
            } else {
                withUnsafePointer(to: row.encoded) { borrow(Match(lending: $0, id, row)) }
                sight.match = Match(lending: nil, id, row)
            }
            return false
        }
        if sight.isForTake {
            (sight.shapes, sight.commit, sight.examined) = (search.shapes, snapshot.commit, search.examined)
            sight.head = search.headKey(template)
            if let match = sight.match, let head = sight.head {
                LookingAhead(core.engine).copy(search, template, from: match, head)
            }
        }
        if sight.match == nil { try core.engine.noteAbsence(template, search) }
    }

    /// All matches of one snapshot: at most `max`, and at most `maxBytes`, which the first match alone may exceed.
    package func readAll(
        _ template: TemplateForm,
        _ order: MatchOrder,
        max: Int,
        maxBytes: Int = .max
    ) throws(SpaceError) -> [Match] {
        try readPart(template, order, max: max, maxBytes: maxBytes).matches
    }

    /// The matches of one snapshot among the tuples with some ids, up to a number and a size.
    ///
    /// `end`: If there may be more matches, the first id that the snapshot had not given out yet.
    func readPart(
        _ template: TemplateForm,
        _ order: MatchOrder,
        max: Int,
        maxBytes: Int,
        within ids: Range<UInt64> = Search.allIDs
    ) throws(SpaceError) -> (matches: [Match], end: UInt64?) {
        guard max > 0 else { return ([], nil) }
        try template.checkChoice()
        core.endedHolders.returnOverdue()
        while true {
            let (found, end, mayBeMore) = try core.read(showsNear: true) {
                (snapshot) throws(SpaceError) -> ([Match], UInt64?, Bool) in
                var found: [Match] = []
                var bytes = 0
                var search = try search(snapshot, order, within: ids)
                try search.forEach(template) { (id, row) throws(SpaceError) in
                    let match = Match(id, row)
                    bytes += match.bytes.count
                    guard bytes <= maxBytes || found.isEmpty else { return false }
                    found.append(match)
                    return found.count < max
                }
                let counters = try snapshot.counters()
                guard found.count < max, bytes <= maxBytes else { return (found, counters.nextTuple, false) }
                return (found, nil, counters.mayReturn)
            }
            if found.contains(where: \.endsWithHolder), core.endedHolders.returnIfAskingIsDue() { continue }
            guard mayBeMore, try core.endedHolders.returnEndedClaims() else { return (found, end) }
        }
    }

    package func count(_ template: TemplateForm) throws(SpaceError) -> Int {
        core.endedHolders.returnOverdue()
        while true {
            var endsWithHolder = false
            let (count, mayBeMore) = try core.read(showsNear: true) { (snapshot) throws(SpaceError) -> (Int, Bool) in
                let counters = try snapshot.counters()
                let mayBeMore = counters.mayReturn
                if template.matchesEverything, counters.expiring == 0 {
                    return (try snapshot.tupleCount, mayBeMore)
                }
                var count = 0
                var search = try search(snapshot, .oldestFirst)
                try search.forEach(template) { (_, row) throws(SpaceError) in
                    count += 1
                    endsWithHolder = endsWithHolder || row.endsWithHolder
                    return true
                }
                return (count, mayBeMore)
            }
            if endsWithHolder, core.endedHolders.returnIfAskingIsDue() { continue }
            guard mayBeMore, try core.endedHolders.returnEndedClaims() else { return count }
        }
    }

    // MARK: Looks

    /// Looks for a match to read, and decodes it.
    @inline(__always)
    func lookToRead<T>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Found<T>? {
        try firstOfChoices(template, order) { (template) throws(SpaceError) in
            var borrowed = Borrowed<T>()
            guard try readIfExists(template, order, { borrowed.decode($0, decode) }) else { return nil }
            return Found(result: try borrowed.lentContent(), removed: nil)
        }
    }

    /// Looks for a match to take, and decodes it; a tuple that does not decode stays in place.
    @inline(__always)
    func lookToTake<T>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ aim: inout Aim,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Found<T>? {
        try firstOfChoices(template, order, aim) { (template) throws(SpaceError) in
            try remove(template, order, &aim, by: Take.self, (), decode: decode).map {
                Found(result: $0.content, removed: $0.id.rawValue)
            }
        }
    }
}

extension NamespaceCore {
    /// Looking for matches.
    @inline(__always)
    package var looking: Looking { Looking(core: self) }
}
