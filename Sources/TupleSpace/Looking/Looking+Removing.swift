import SpaceSystem
import TupleCoding

// Taking, claiming and burying what a look finds.
//
// A take first looks on a snapshot, outside the gate: ranges, patterns and long scans cost their time there, and a look
// that finds nothing needs no lock. Under the gate the take only looks up the candidate's id again, and not even that
// if no process has written since: the tuple under an id never changes, and an id is never used twice.

extension Looking {
    /// How many candidates a take may lose to other processes before it looks under the gate.
    private static let optimisticAttempts = 4
    /// How often a take that the daemon executes may lose all candidates before this process takes under the gate.
    private static let sentAttempts = 16

    /// Makes the first match invisible, by a kind of removal on some terms.
    ///
    /// `decode` makes the result. It runs before the tuple is touched, so a tuple that does not decode stays in place.
    func remove<T, R: SharedRemoval>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ aim: inout Aim,
        by kind: R.Type,
        _ terms: R.Terms,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Taken<T, R.Made>? {
        // The newest match may be another than the one that was granted; the daemon gives the first that is left.
        if aim.only != nil, order == .newestFirst || core.isSending { return nil }
        if aim.only == nil { core.endedHolders.returnOverdue() }
        var attempt = 0
        while true {
            var sight = Sight(isForTake: true)
            var borrowed = Borrowed<T>()
            if let only = aim.only {
                try look(for: only, template, &sight) { borrowed.decode($0, decode) }
                if sight.id == nil { return nil }
            } else {
                try look(template, order, &sight) { borrowed.decode($0, decode) }
            }
            if aim.heeds != nil, let first = sight.id?.rawValue, try isLeft(first, &aim) {
                // A glance looks on only to note other granted tuples: the time for which they are left alone begins.
                if aim.isGlance, !aim.hasNoted { return nil }
                let next = try matchThatIsNotLeft(template, order, behind: first, &aim)
                guard let next, !aim.isGlance else { return nil }
                if try isLeft(next, &aim) { continue }
                sight = Sight(isForTake: true)
                try look(for: next, template, &sight) { borrowed.decode($0, decode) }
                if sight.id == nil { continue }
            }
            guard let id = sight.id else {
                // First return overdue claims and those of dead processes: perhaps no write and no tick has done it
                // yet.
                if try core.endedHolders.returnEndedClaims() { continue }
                followUp(template, sight)
                return nil
            }
            if sight.endsWithHolder, core.endedHolders.returnIfAskingIsDue() { continue }
            let content: T
            let operation: R
            if let match = sight.match {
                content = try borrowed.content(of: match, decode)
                operation = R(Candidate(match, isNear: sight.isNear, commit: sight.commit, head: sight.head), terms)
            } else {
                content = try borrowed.lentContent()
                operation = R(Candidate(id), terms)
            }
            attempt += 1
            if core.isSending, attempt <= Self.sentAttempts {
                switch try removeBySending(operation, template, order, decode: decode) {
                case .removed(let taken)?:
                    followUp(template, sight)
                    return taken
                case .lost?: continue
                case nil:
                    // What was decoded last is not this candidate any more.
                    attempt = Self.sentAttempts
                    continue
                }
            }
            if attempt > Self.optimisticAttempts, !template.usesPattern {
                guard let taken = try removeUnderGate(template, order, operation, content, decode: decode) else {
                    continue
                }
                followUp(template, sight)
                return taken
            }
            guard case .removed(let made) = try core.execute(operation) else {
                if aim.only != nil { return nil }
                continue
            }
            followUp(template, sight)
            return Taken(id, content, made)
        }
    }

    /// Whether a match is left to another taker, now that its writer has granted it.
    ///
    /// A tuple is visible a moment before it is granted. But its writer has the gate until it is granted.
    private func isLeft(_ id: UInt64, _ aim: inout Aim) throws(SpaceError) -> Bool {
        if aim.leaves(id, core) { return true }
        try core.engine.underGate { () throws(SpaceError) in }
        return aim.leaves(id, core)
    }

    /// The first match that is not left to an older taker, after one that is; `nil` if there is none.
    private func matchThatIsNotLeft(
        _ template: TemplateForm,
        _ order: MatchOrder,
        behind first: UInt64,
        _ aim: inout Aim
    ) throws(SpaceError) -> UInt64? {
        // The daemon takes the first match, whatever is left.
        if core.isSending { return nil }
        let all = Search.allIDs
        let ids = order == .oldestFirst ? first + 1..<all.upperBound : all.lowerBound..<first
        return try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            var search = try search(snapshot, order, within: ids)
            var found: UInt64?
            try search.forEach(template) { (id, _) throws(SpaceError) in
                if aim.leaves(id, core) { return true }
                found = id
                return false
            }
            return found
        }
    }

    /// Looks for the match with an id, in the near end and then in the tables.
    private func look(
        for id: UInt64,
        _ template: TemplateForm,
        _ sight: inout Sight,
        _ borrow: (Match) -> Void
    ) throws(SpaceError) {
        for _ in 0..<Self.looks {
            let word = core.engine.nearState.word
            let near = core.engine.lookNear(template, .oldestFirst, floor: id, since: word, borrow)
            guard let near else { continue }
            if case .match(let found) = near, found.rawValue == id { return sight.near = found }
            break
        }
        try core.read(showsMarks: core.engine.nearState.mayHaveMarks) { (snapshot) throws(SpaceError) in
            var search = try search(snapshot, .oldestFirst, within: id..<id + 1)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                sight.match = Match(id, row)
                return false
            }
            sight.commit = snapshot.commit
        }
    }

    /// Removes the candidate, or looks again in the same transaction, when others have been quicker several times.
    @inline(never)
    func removeUnderGate<T, R: SharedRemoval>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ removal: R,
        _ content: T,
        decode: (Match) throws(SpaceError) -> T
    ) throws(SpaceError) -> Taken<T, R.Made>? {
        let id = removal.candidate.id
        var (content, decoded) = (content, id)
        if case .removed(let made)? = try removal.execute(withoutTransaction: core.engine) {
            return Taken(id, content, made)
        }
        return try core.write(R.purpose) { (scope) throws(SpaceError) -> Taken<T, R.Made>? in
            let removal = core.renewed(removal)
            // The body may run again, and find the candidate that was gone before. What is decoded last is what the caller
            // keeps.
            if decoded != id, let row = try scope.snapshot.tupleRow(id.rawValue) {
                (content, decoded) = (try decode(Match(id.rawValue, row)), id)
            }
            if case .removed(let made) = try removal.execute(in: scope) { return Taken(id, content, made) }
            var found: (UInt64, TupleRow)?
            var search = Search(scope.snapshot, scope.shapes, order)
            try search.forEach(template) { (id, row) throws(SpaceError) in
                found = (id, row)
                return false
            }
            guard let (id, row) = found else { return nil }
            (content, decoded) = (try decode(Match(id, row)), TupleID(rawValue: id))
            return Taken(decoded, content, try removal.remove(id, row, in: scope))
        }
    }

    @inline(__always)
    private func followUp(_ template: TemplateForm, _ sight: Sight) {
        guard let shapes = sight.shapes else { return }
        core.engine.indexUpkeep.followUp(template.shape, shapes, examined: sight.examined, on: core.engine)
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
            let (commit, removed) = try core.execute(
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
}
