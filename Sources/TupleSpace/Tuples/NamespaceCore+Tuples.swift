import TupleCoding

// Reading, taking and counting, without waiting; and the looks of those that wait.
//
// A take first looks on a snapshot, outside the gate: ranges, patterns and long scans cost their time there, and a look
// that finds nothing needs no lock. Under the gate the take only looks up the candidate's id again, and not even that
// if no process has written since: the tuple under an id never changes, and an id is never used twice.

extension NamespaceCore {
    /// How many candidates a take may lose to other processes before it looks under the gate.
    private static let optimisticAttempts = 4
    /// How often a take that the daemon executes may lose all candidates before this process takes under the gate.
    private static let sentAttempts = 16

    func search(
        _ snapshot: Snapshot,
        _ order: MatchOrder,
        within ids: Range<UInt64> = Search.allIDs
    ) throws(SpaceError) -> Search {
        Search(snapshot, try engine.shapeCache.table(of: snapshot), order, within: ids)
    }

    /// Whether there is a match; the first one is lent to `borrow`.
    private func readIfExists(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) -> Bool {
        while true {
            var sight = Sight(isForTake: false)
            try look(template, order, &sight, borrow)
            if let found = sight.match {
                guard found.endsWithHolder, askForTheDead() else { return true }
            } else {
                guard try returnEndedClaims() else { return false }
            }
        }
    }

    /// What a look for the first match has found, and where.
    private struct Sight {
        var match: Match?
        /// Whether the match is in the near end.
        var isNear = false
        /// Whether the look is for a take, which needs the following properties.
        let isForTake: Bool
        /// The shapes of the tables that were searched; `nil` if it is known that the tables have no match.
        var shapes: ShapeTable?
        /// The commit whose tables were searched.
        var commit = 0
        /// How many tuples of the tables were looked at.
        var examined = 0

        init(isForTake: Bool) { self.isForTake = isForTake }
    }

    private static let looks = 16

    /// Looks for the first match, in the tables and in the near end.
    @inline(__always)
    private func look(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) {
        switch try engine.lookNear(template, order, borrow) {
        case .match(let match): (sight.match, sight.isNear) = (match, true)
        case .nothing: break
        case .unknown:
            let (word, mayBeNear) = engine.nearState
            let floor = try lookInTables(template, order, &sight, borrow, readsFloor: mayBeNear)
            // What is near is younger than all in the tables.
            if order == .oldestFirst && sight.match != nil { return }
            if !mayBeNear, engine.nearState.word == word { return }
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
            switch floor.flatMap({ engine.lookNear(template, order, floor: $0, since: word, borrow) }) {
            case .match(let match): return (sight.match, sight.isNear) = (match, true)
            case .nothing: return
            case .unknown, nil: break
            }
            word = engine.nearState.word
            floor = try lookInTables(template, order, &sight, borrow, readsFloor: true)
            if order == .oldestFirst, sight.match != nil { return }
        }
        // Other processes change the near end too often.
        let isForTake = sight.isForTake
        sight = try read(showsNear: true) { (snapshot) throws(SpaceError) in
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
        readsFloor: Bool
    ) throws(SpaceError) -> UInt64 {
        sight.match = nil
        return try read { (snapshot) throws(SpaceError) in
            try look(snapshot, template, order, &sight, borrow)
            let needsFloor = readsFloor && (sight.match == nil || order == .newestFirst)
            return needsFloor ? try snapshot.floor() : 0
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
        }
        if sight.match == nil { try engine.noteAbsence(template, search) }
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
        while true {
            let (found, end, mayBeMore) = try read(showsNear: true) {
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
            if found.contains(where: \.endsWithHolder), askForTheDead() { continue }
            guard mayBeMore, try returnEndedClaims() else { return (found, end) }
        }
    }

    package func count(_ template: TemplateForm) throws(SpaceError) -> Int {
        while true {
            var endsWithHolder = false
            let (count, mayBeMore) = try read(showsNear: true) { (snapshot) throws(SpaceError) -> (Int, Bool) in
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
            if endsWithHolder, askForTheDead() { continue }
            guard mayBeMore, try returnEndedClaims() else { return count }
        }
    }

    /// Takes the first match out of sight, by the removal that `removal` makes of a candidate.
    ///
    /// `decode` makes the result. It runs before the tuple is touched, so a tuple that does not decode stays in place.
    func remove<T, R: SharedRemoval>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        by removal: (Candidate) -> R,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Taken<T, R.Made>? {
        var attempt = 0
        while true {
            var sight = Sight(isForTake: true)
            var borrowed = Borrowed<T>()
            try look(template, order, &sight) { borrowed.decode($0, decode) }
            guard let match = sight.match else {
                // First return overdue claims and those of dead processes: perhaps no write and no tick has done it
                // yet.
                if try returnEndedClaims() { continue }
                followUp(template, sight)
                return nil
            }
            if match.endsWithHolder, askForTheDead() { continue }
            let content = try borrowed.content(of: match, decode)
            let operation = removal(Candidate(match, isNear: sight.isNear, commit: sight.commit))
            attempt += 1
            if isSending, attempt <= Self.sentAttempts {
                switch try removeByDaemon(operation, template, order, decode: decode) {
                case .removed(let taken, _)?:
                    followUp(template, sight)
                    return taken
                case .lost?: continue
                case nil: attempt = Self.sentAttempts
                }
            }
            if attempt > Self.optimisticAttempts, !template.usesPattern {
                guard let taken = try removeUnderGate(template, order, operation, content, decode: decode) else {
                    continue
                }
                followUp(template, sight)
                return taken
            }
            guard case .removed(let made, _) = try execute(operation) else { continue }
            followUp(template, sight)
            return Taken(match.id, content, made)
        }
    }

    /// Removes the candidate, or looks again in the same transaction, when others have been quicker several times.
    @inline(never)
    private func removeUnderGate<T, R: SharedRemoval>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ removal: R,
        _ content: T,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Taken<T, R.Made>? {
        let id = removal.candidate.id
        if case .removed(let made, _)? = try removal.execute(near: engine) { return Taken(id, content, made) }
        return try write(R.purpose) { (scope) throws(SpaceError) -> Taken<T, R.Made>? in
            let removal = renewed(removal)
            if case .removed(let made, _) = try removal.execute(in: scope) { return Taken(id, content, made) }
            var found: (UInt64, TupleRow)?
            var search = Search(scope.snapshot, scope.shapes, order)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                found = (id, row)
                return false
            }
            guard let (id, row) = found else { return nil }
            let content = try decode(Match(id, row))
            return Taken(TupleID(rawValue: id), content, try removal.remove(id, row, in: scope))
        }
    }

    @inline(__always)
    private func followUp(_ template: TemplateForm, _ sight: Sight) {
        guard let shapes = sight.shapes else { return }
        engine.followUp(template.shape, shapes, examined: sight.examined)
    }

    /// Removes all matches in one transaction: at most `max`, and at most `maxBytes`, which the first match alone may
    /// exceed.
    ///
    /// If one of them does not decode, none is removed.
    func removeAll<T, R: Removal>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        max: Int,
        maxBytes: Int = .max,
        by removal: (Candidate) -> R,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> [Taken<T, R.Made>] {
        var (fruitless, last) = (0, 0)
        while true {
            let candidates = try readAll(template, order, max: max, maxBytes: maxBytes)
            guard !candidates.isEmpty else { return [] }
            var contents: [T] = []
            contents.reserveCapacity(candidates.count)
            for candidate in candidates { contents.append(try decode(candidate)) }
            let (commit, removed) = try execute(
                RemoveAll(removals: candidates.map { removal(Candidate(copied: $0)) })
            )
            if !removed.isEmpty {
                return removed.map { Taken(candidates[$0.index].id, contents[$0.index], $0.made) }
            }
            // Either other processes took all of them, or they expired; there may be more matches. But if many rounds
            // have the same transaction number, nothing was committed between them: the walk finds tuples that can't be
            // taken.
            fruitless = commit == last ? fruitless + 1 : 0
            last = commit
            guard fruitless < 100 else {
                throw .damaged("tuples that a walk finds are not found by their ids")
            }
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
        if let choices = template.choices {
            return try lookForAny(of: choices, order) { (template) throws(SpaceError) in
                try lookToRead(template, order, decode)
            }
        }
        var borrowed = Borrowed<T>()
        guard try readIfExists(template, order, { borrowed.decode($0, decode) }) else { return nil }
        return Found(result: try borrowed.lentContent(), removed: nil)
    }

    /// Looks for a match to take, and decodes it; a tuple that does not decode stays in place.
    @inline(__always)
    func lookToTake<T>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Found<T>? {
        if let choices = template.choices {
            return try lookForAny(of: choices, order) { (template) throws(SpaceError) in
                try lookToTake(template, order, decode)
            }
        }
        return try remove(template, order, by: { Take($0) }, decode: decode).map {
            Found(result: $0.content, removed: $0.id.rawValue)
        }
    }
}
