/// A removal of a candidate: a take or a claim.
///
/// It adds no tuple, so the ring stays as it is unless the tuple is there.
protocol Removal: Operation where Outcome == Removed<Made> {
    associatedtype Made

    var candidate: Candidate { get }

    /// Ends the visibility of a tuple whose row was read in the transaction.
    func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) -> Made
}

/// A removal that the daemon carries out too: it removes the first of several tuples that is still there, and so serves
/// processes that look at the same time.
protocol SharedRemoval: Removal {
    associatedtype OfFirst: SentOperation where OfFirst.Outcome == Removed<FirstLeft<Made>>
    /// What is agreed on beside the candidate.
    associatedtype Terms

    init(_ candidate: Candidate, _ terms: Terms)

    func ofFirst(_ ids: [UInt64]) -> OfFirst
}

/// A removal of the first of several tuples that is left.
protocol RemovalOfFirst: SentOperation {
    var ids: [UInt64] { get }
}

extension RemovalOfFirst {
    var fitsInMessage: Bool { ids.count <= SentOperations.mostTuples }

    /// Calls `body` with the first of the tuples that is visible.
    func removeFirst<Made>(
        in scope: WriteScope,
        _ body: (UInt64, TupleRow) throws(SpaceError) -> Made
    ) throws(SpaceError) -> Removed<FirstLeft<Made>> {
        for (index, id) in ids.enumerated() {
            guard let row = try scope.snapshot.tupleRow(id) else { continue }
            return .removed(FirstLeft(index: index, made: try body(id, row)))
        }
        return .lost
    }
}

extension Removal {
    @inline(__always) var keeps: NearKept { candidate.isNear ? [] : .ring }
    func size(in scope: WriteScope) -> Int { candidate.match?.bytes.count ?? 0 }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<Made> {
        try candidate.remove(in: scope) { (id, row) throws(SpaceError) in try remove(id, row, in: scope) }
    }
}

// MARK: Taking

/// Takes a tuple: it is removed permanently.
struct Take: SharedRemoval {
    let candidate: Candidate

    @inline(__always) init(_ candidate: Candidate, _ terms: Void = ()) { self.candidate = candidate }

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
struct TakeFirst: RemovalOfFirst {
    let ids: [UInt64]

    static var name: String { Take.name }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<FirstLeft<Void>> {
        try removeFirst(in: scope) { (id, row) throws(SpaceError) in try scope.remove(id, row) }
    }

    static var tag: UInt8 { 1 }
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

/// Claims a tuple: it is invisible until its claim is ended.
struct ClaimFound: SharedRemoval {
    let candidate: Candidate
    let terms: ClaimTerms

    @inline(__always)
    init(_ candidate: Candidate, _ terms: ClaimTerms) { (self.candidate, self.terms) = (candidate, terms) }

    static var name: String { "claim" }
    @inline(__always) var holder: ClaimHolder? { terms.holder }
    @inline(__always) func with(holder: ClaimHolder) -> ClaimFound { ClaimFound(candidate, terms.with(holder: holder)) }
    func size(in scope: WriteScope) -> Int { 2 * (candidate.match?.bytes.count ?? 0) }

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
struct ClaimFirst: RemovalOfFirst {
    let ids: [UInt64]
    let terms: ClaimTerms

    static var name: String { ClaimFound.name }
    var holder: ClaimHolder? { terms.holder }
    func with(holder: ClaimHolder) -> ClaimFirst { ClaimFirst(ids: ids, terms: terms.with(holder: holder)) }

    func execute(in scope: WriteScope) throws(SpaceError) -> Removed<FirstLeft<ClaimMade>> {
        try removeFirst(in: scope) { (id, row) throws(SpaceError) in try scope.claim(id, row, terms) }
    }

    static var tag: UInt8 { 2 }

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
    func with(holder: ClaimHolder) -> RemoveAll { RemoveAll(removals: removals.map { $0.with(holder: holder) }) }

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
