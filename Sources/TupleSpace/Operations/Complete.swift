/// Completes claims of a session, all or none: their tuples are removed permanently.
struct Complete: OfSession, SentOperation {
    let first: ClaimKey
    let others: [ClaimKey]
    var session: UInt64

    @inline(__always)
    init(_ first: ClaimKey, _ others: [ClaimKey] = [], session: UInt64) {
        (self.first, self.others, self.session) = (first, others, session)
    }

    static var name: String { "complete a claim" }
    /// A single claim that is not in the near end is in the tables, or has ended.
    @inline(__always) var keeps: NearKept { others.isEmpty ? .all : [] }

    func size(in scope: WriteScope) throws(SpaceError) -> Int { try scope.size(of: first) }

    @inline(__always)
    func execute(withoutTransaction engine: Engine) throws(SpaceError) -> Void? {
        guard others.isEmpty, try engine.completeNear(first.id, session: session, number: first.number)
        else { return nil }
        return ()
    }

    func execute(in scope: WriteScope) throws(SpaceError) {
        try scope.complete(first.id, session: session, number: first.number)
        for claim in others { try scope.complete(claim.id, session: session, number: claim.number) }
    }

    static var tag: UInt8 { 3 }
    var fitsInMessage: Bool { others.count < SentOperations.mostTuples }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(numbers: ([first] + others).flatMap { [$0.id, $0.number] })
    }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let numbers = reader.nextNumbers(most: 2 * SentOperations.mostTuples), numbers.count % 2 == 0
        else { return nil }
        let claims = stride(from: 0, to: numbers.count, by: 2).map {
            ClaimKey(id: numbers[$0], number: numbers[$0 + 1])
        }
        guard let first = claims.first else { return nil }
        self.init(first, Array(claims.dropFirst()), session: session)
    }

    static func encode(_ outcome: Void, into bytes: inout [UInt8]) { bytes.append(.completed) }
    static func outcome(_ reader: inout ByteReader) -> Void? { reader.nextOutcome() == .completed ? () : nil }
}
