import SpaceSystem
import TupleCoding

/// A match that a look has found, and where: the object of a take or a claim.
struct Candidate {
    let id: TupleID
    /// Whether the tuple may be in the ring.
    let isNear: Bool
    /// The commit whose tables were searched.
    let commit: Int
    /// A copy of the tuple, if the look has made one.
    ///
    /// The tuple may be near all the same: the last look of several reads ring and tables together.
    let copy: Match?
    /// The size of the encoded tuple; 0 if it is not known.
    let byteCount: Int
    /// Whether the tuple ends by itself, with time or with a process.
    let endsByItself: Bool
    /// How often the tuple has returned from a claim.
    let deliveries: UInt32
    /// The key by which the tuple was found, if all older ones of that key were marked.
    let head: IndexKey?

    @inline(__always)
    init(_ match: Match, isNear: Bool, commit: Int, head: IndexKey?) {
        (id, self.isNear, self.commit, copy) = (match.id, isNear, commit, match.isLent ? nil : match)
        (byteCount, deliveries, self.head) = (match.byteCount, match.deliveries, head)
        endsByItself = match.expiry != 0 || match.endsWithHolder
    }

    /// A match that is looked up again by its id, because it may have been changed since.
    init(copied match: Match) {
        (id, isNear, commit, copy, byteCount) = (match.id, true, -1, match, match.byteCount)
        (endsByItself, deliveries, head) = (true, 0, nil)
    }

    /// A tuple of which nothing is known but its id.
    init(_ id: TupleID) {
        (self.id, isNear, commit, copy, byteCount, endsByItself, deliveries, head) = (
            id, true, -1, nil, 0, true, 0, nil
        )
    }

    /// Takes or claims the tuple, which was found in the tables, by a mark; `nil` if that has to be done by a transaction.
    @inline(never)
    func mark<Made>(
        _ terms: ClaimTerms?,
        in engine: Engine,
        _ made: (UInt64, Int) -> Made
    ) throws(SpaceError) -> Removed<Made>? {
        // A claimed tuple needs room in another table once the mark is applied.
        guard !endsByItself, terms == nil || byteCount <= NearRing.longestTuple else { return nil }
        switch try Marking(engine).mark(id.rawValue, asOf: commit, deliveries: deliveries, terms, head: head) {
        case .marked(let number, let deliveries): return .removed(made(number, Int(deliveries)))
        case .lost: return .lost
        case .refused: return nil
        }
    }

    /// Calls `body` with the row, if the tuple is still visible.
    ///
    /// If no process has written since the look, the copy is as good as the row: the tuple under an id never changes, and an
    /// id is never used twice.
    @inline(__always)
    func remove<Made>(
        in scope: WriteScope,
        _ body: (UInt64, TupleRow) throws(SpaceError) -> Made
    ) throws(SpaceError) -> Removed<Made> {
        if let copy {
            let isUnchanged = !isNear && scope.isUnchanged(since: commit)
            if isUnchanged || !Safeguard.secondLook.stands {
                return try copy.withRow { (row) throws(SpaceError) in
                    // The tuple may have expired since it was found.
                    guard scope.snapshot.isVisible(row) else { return .lost }
                    return .removed(try body(id.rawValue, row))
                }
            }
        }
        guard let row = try scope.snapshot.tupleRow(id.rawValue) else { return .lost }
        return .removed(try body(id.rawValue, row))
    }
}

/// What became of a removal.
package enum Removed<Made> {
    /// The tuple was removed; `Made` is what stands for it now.
    case removed(Made)
    /// None was left: other processes were first. Nothing was changed.
    case lost
}

/// Which of several tuples was removed: the first one that was left.
package struct FirstLeft<Made> {
    /// Its place among those that were named.
    package let index: Int
    /// What stands for it now.
    package let made: Made
}

/// A removal of a candidate: a take or a claim.
///
/// It adds no tuple, so the ring stays as it is unless the tuple is there.
protocol Removal: Operation where Outcome == Removed<Made> {
    associatedtype Made

    var candidate: Candidate { get }

    /// Ends the visibility of a tuple whose row was read in the transaction.
    func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) -> Made
}

/// A removal that the daemon carries out too: of the first of several tuples that is left, by which it serves processes
/// that look at the same time.
protocol SharedRemoval: Removal {
    associatedtype OfFirst: SentOperation where OfFirst.Outcome == Removed<FirstLeft<Made>>

    func ofFirst(_ ids: [UInt64]) -> OfFirst
}

extension Removal {
    @inline(__always) var keeps: NearKept { candidate.isNear ? [] : .ring }
    func size(in scope: WriteScope) -> Int { candidate.copy?.bytes.count ?? 0 }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<Made> {
        try candidate.remove(in: scope) { (id, row) throws(SpaceError) in try remove(id, row, in: scope) }
    }
}

// MARK: Taking

/// Takes a tuple: it is gone for good.
struct Take: SharedRemoval {
    let candidate: Candidate

    @inline(__always) init(_ candidate: Candidate) { self.candidate = candidate }

    static var name: String { "take" }

    @inline(__always)
    func execute(withoutTransaction engine: Engine) throws(SpaceError) -> Removed<Void>? {
        if candidate.isNear { return try engine.takeNear(candidate.id.rawValue) ? .removed(()) : nil }
        return try candidate.mark(nil, in: engine) { (_, _) in }
    }

    func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) { try scope.remove(id, row) }
    func ofFirst(_ ids: [UInt64]) -> TakeFirst { TakeFirst(ids: ids) }
}

/// Takes the first of several tuples that is left.
struct TakeFirst: SentOperation {
    let ids: [UInt64]

    static var name: String { Take.name }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<FirstLeft<Void>> {
        try scope.removeFirst(ids) { (id, row) throws(SpaceError) in try scope.remove(id, row) }
    }

    static var tag: UInt8 { 1 }
    var fitsInMessage: Bool { ids.count <= SentOperations.mostTuples }
    func encode(into bytes: inout [UInt8]) { bytes.append(numbers: ids) }

    init(ids: [UInt64]) { self.ids = ids }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let ids = reader.nextNumbers(most: SentOperations.mostTuples) else { return nil }
        self.init(ids: ids)
    }

    static func encode(_ outcome: Removed<FirstLeft<Void>>, into bytes: inout [UInt8]) {
        switch outcome {
        case .lost: bytes.append(.lost)
        case .removed(let first):
            bytes.append(.taken)
            bytes.append(little: UInt32(first.index))
        }
    }

    static func outcome(_ reader: inout ByteReader) -> Removed<FirstLeft<Void>>? {
        switch reader.nextOutcome() {
        case .lost: .lost
        case .taken: reader.next(UInt32.self).map { .removed(FirstLeft(index: Int($0), made: ())) }
        default: nil
        }
    }
}

// MARK: Claiming

/// Claims a tuple: it is out of sight until its claim is ended.
struct ClaimFound: SharedRemoval {
    let candidate: Candidate
    let terms: ClaimTerms

    @inline(__always)
    init(_ candidate: Candidate, _ terms: ClaimTerms) { (self.candidate, self.terms) = (candidate, terms) }

    static var name: String { "claim" }
    @inline(__always) var holder: ClaimHolder? { terms.holder }
    @inline(__always) func naming(_ holder: ClaimHolder) -> ClaimFound { ClaimFound(candidate, terms.naming(holder)) }
    func size(in scope: WriteScope) -> Int { 2 * (candidate.copy?.bytes.count ?? 0) }

    @inline(__always)
    func execute(withoutTransaction engine: Engine) throws(SpaceError) -> Removed<ClaimMade>? {
        if candidate.isNear { return try engine.claimNear(candidate.id.rawValue, terms).map { .removed($0) } }
        return try candidate.mark(terms, in: engine) { ClaimMade(number: $0, deliveries: $1) }
    }

    func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) -> ClaimMade {
        try scope.claim(id, row, terms)
    }

    func ofFirst(_ ids: [UInt64]) -> ClaimFirst { ClaimFirst(ids: ids, terms: terms) }
}

/// Claims the first of several tuples that is left.
struct ClaimFirst: SentOperation {
    let ids: [UInt64]
    let terms: ClaimTerms

    static var name: String { ClaimFound.name }
    var holder: ClaimHolder? { terms.holder }
    func naming(_ holder: ClaimHolder) -> ClaimFirst { ClaimFirst(ids: ids, terms: terms.naming(holder)) }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<FirstLeft<ClaimMade>> {
        try scope.removeFirst(ids) { (id, row) throws(SpaceError) in try scope.claim(id, row, terms) }
    }

    static var tag: UInt8 { 2 }
    var fitsInMessage: Bool { ids.count <= SentOperations.mostTuples }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(numbers: ids)
        terms.encode(into: &bytes)
    }

    init(ids: [UInt64], terms: ClaimTerms) { (self.ids, self.terms) = (ids, terms) }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let ids = reader.nextNumbers(most: SentOperations.mostTuples), let terms = ClaimTerms(&reader)
        else { return nil }
        self.init(ids: ids, terms: terms)
    }

    static func encode(_ outcome: Removed<FirstLeft<ClaimMade>>, into bytes: inout [UInt8]) {
        switch outcome {
        case .lost: bytes.append(.lost)
        case .removed(let first):
            bytes.append(.claimed)
            bytes.append(little: UInt32(first.index))
            bytes.append(little: first.made.number)
            bytes.append(little: UInt32(clamping: first.made.deliveries))
        }
    }

    static func outcome(_ reader: inout ByteReader) -> Removed<FirstLeft<ClaimMade>>? {
        switch reader.nextOutcome() {
        case .lost: return .lost
        case .claimed:
            guard let index = reader.next(UInt32.self), let number = reader.next(UInt64.self),
                let deliveries = reader.next(UInt32.self)
            else { return nil }
            let made = ClaimMade(number: number, deliveries: Int(deliveries))
            return .removed(FirstLeft(index: Int(index), made: made))
        default: return nil
        }
    }
}

// MARK: Burying, and several at once

/// Buries a visible tuple.
struct BuryFound: Removal {
    let candidate: Candidate

    static var name: String { "bury tuples" }
    func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) { try scope.bury(id, row) }
}

/// Removes those of several candidates that are left, in one transaction.
///
/// The outcome is the number of the last commit before the transaction, and the place and result of each that was removed.
struct RemoveAll<R: Removal>: Operation {
    let removals: [R]

    static var name: String { R.name }
    var holder: ClaimHolder? { removals.first?.holder }
    func naming(_ holder: ClaimHolder) -> RemoveAll { RemoveAll(removals: removals.map { $0.naming(holder) }) }

    func execute(in scope: WriteScope) throws(SpaceError) -> (commit: Int, removed: [(index: Int, made: R.Made)]) {
        let commit = scope.snapshot.commit
        var removed: [(index: Int, made: R.Made)] = []
        for (index, removal) in removals.enumerated() {
            let id = removal.candidate.id.rawValue
            guard let row = try scope.snapshot.tupleRow(id) else { continue }
            removed.append((index, try removal.remove(id, row, in: scope)))
        }
        return (commit, removed)
    }
}

extension WriteScope {
    /// Calls `body` with the first of several tuples that is visible.
    fileprivate func removeFirst<Made>(
        _ ids: [UInt64],
        _ body: (UInt64, TupleRow) throws(SpaceError) -> Made
    ) throws(SpaceError) -> Removed<FirstLeft<Made>> {
        for (index, id) in ids.enumerated() {
            guard let row = try snapshot.tupleRow(id) else { continue }
            return .removed(FirstLeft(index: index, made: try body(id, row)))
        }
        return .lost
    }
}
