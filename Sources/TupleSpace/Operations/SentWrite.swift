import SpaceSystem

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
    func with(holder: ClaimHolder) -> SentWrite { SentWrite(bytes, isRecord: isRecord, end.with(holder: holder)) }

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
