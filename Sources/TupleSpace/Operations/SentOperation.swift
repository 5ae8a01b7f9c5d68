/// An operation that is data as well: a process sends it to its root's daemon.
///
/// In a namespace that several machines share, each commit costs a round trip to the others. So the daemon executes what
/// several processes have sent in one transaction, and appends it as one entry. An operation that is no data, or is
/// large, is executed by its process under the gate.
package protocol SentOperation: Operation {
    /// The byte that stands for the operation in a message.
    static var tag: UInt8 { get }

    /// Whether it is small enough to be sent; what is larger would fill an entry alone.
    var fitsInMessage: Bool { get }

    /// Checks what a process has sent, before it is executed.
    func check() throws(SpaceError)

    /// Whether the outcome is small enough for an answer.
    func outcomeFitsInMessage(in scope: WriteScope) throws(SpaceError) -> Bool

    func encode(into bytes: inout [UInt8])

    /// Decodes what a process with a session has sent; `nil` if it does not decode.
    init?(_ reader: inout ByteReader, session: UInt64)

    static func encode(_ outcome: Outcome, into bytes: inout [UInt8])
    static func outcome(_ reader: inout ByteReader) -> Outcome?
}

extension SentOperation {
    package var fitsInMessage: Bool { true }
    package func check() throws(SpaceError) {}
    package func outcomeFitsInMessage(in scope: WriteScope) throws(SpaceError) -> Bool { true }

    package func send(by core: NamespaceCore) throws(SpaceError) -> Outcome? {
        fitsInMessage ? try core.send(self) : nil
    }

    /// The operation in a message.
    var message: [UInt8] {
        var bytes = [Self.tag]
        encode(into: &bytes)
        return bytes
    }
}

/// All operations that are sent.
enum SentOperations {
    static var all: [any SentOperation.Type] {
        [TakeFirst.self, ClaimFirst.self, Complete.self, SentWrite.self, SetCell.self, Increment.self]
    }

    static func type(of message: [UInt8]) -> (any SentOperation.Type)? {
        message.first.flatMap { tag in all.first { $0.tag == tag } }
    }

    /// The most bytes of a tuple or of a value.
    static let mostBytes = 16 << 10
    /// The most tuples that a removal names, and the most claims that are completed.
    static let mostTuples = TakeWidth.most
}

/// The byte with which the outcome of a sent operation begins.
enum SentOutcome: UInt8 {
    case lost = 1
    case completed, taken, claimed, written, set, incremented
}

extension [UInt8] {
    mutating func append(_ outcome: SentOutcome) { append(outcome.rawValue) }
}

extension ByteReader {
    mutating func nextOutcome() -> SentOutcome? { next(UInt8.self).flatMap(SentOutcome.init) }
}
