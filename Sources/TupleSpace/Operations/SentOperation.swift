import SpaceMachines
import SpaceSystem
import TupleCoding

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

    package func execute(byDaemonOf core: NamespaceCore) throws(SpaceError) -> Outcome? {
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

/// Writes a tuple whose bytes it owns.
struct SentWrite: SentOperation {
    let bytes: [UInt8]
    let isRecord: Bool
    let end: RowEnd

    init(_ bytes: [UInt8], isRecord: Bool, _ end: RowEnd) {
        (self.bytes, self.isRecord, self.end) = (bytes, isRecord, end)
    }

    static var name: String { Write.name }
    static var purpose: WritePurpose { .adding }
    var holder: ClaimHolder? { end.holder }
    func naming(_ holder: ClaimHolder) -> SentWrite { SentWrite(bytes, isRecord: isRecord, end.naming(holder)) }

    private func withTuple<R>(_ body: (EncodedTuple) throws(SpaceError) -> R) throws(SpaceError) -> R {
        try bytes.withBytes { (bytes) throws(SpaceError) in
            try body(EncodedTuple(bytes: bytes, isRecord: isRecord))
        }
    }

    func execute(in scope: WriteScope) throws(SpaceError) -> TupleID {
        try withTuple { (tuple) throws(SpaceError) in try Write(tuple, Expiry(end)).execute(in: scope) }
    }

    static var tag: UInt8 { 4 }
    var fitsInMessage: Bool { bytes.count <= SentOperations.mostBytes }

    func check() throws(SpaceError) {
        try withTuple { (tuple) throws(SpaceError) in
            do throws(TupleCodingError) { try tuple.validate() } catch {
                throw SpaceError(.badData, reason: "the tuple that was sent does not decode: \(error)")
            }
        }
    }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(flag: isRecord)
        end.encode(into: &bytes)
        bytes.append(field: self.bytes)
    }

    init?(_ reader: inout ByteReader, session: UInt64) {
        guard let isRecord = reader.nextFlag(), let end = RowEnd(&reader), let bytes = reader.nextBytes()
        else { return nil }
        self.init(bytes, isRecord: isRecord, end)
    }

    static func encode(_ outcome: TupleID, into bytes: inout [UInt8]) {
        bytes.append(.written)
        bytes.append(little: outcome.rawValue)
    }

    static func outcome(_ reader: inout ByteReader) -> TupleID? {
        reader.nextOutcome() == .written ? reader.next(UInt64.self).map { TupleID(rawValue: $0) } : nil
    }
}
