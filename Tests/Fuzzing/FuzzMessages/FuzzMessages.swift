// What comes from other processes and machines: messages of a root's daemon, the values of a cluster's keys,
// entries of the machines' log. Bytes are refused or understood; what is understood is the same when encoded and decoded
// again. The first byte chooses what they are. Values get the right kind and checksum, and those of a namespace its life,
// so that their fields are reached.

import FuzzCheck

@testable import SpaceCluster
@testable import SpaceEngine
@testable import SpaceMachines
@testable import TupleSpace

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let lived = [1, 0, 0, 0, 0, 0, 0, 0] + bytes
    switch kind % 10 {
    case 0:
        let request = DaemonRequest(bytes)
        checkMessage(request, bytes, \.encoded)
        if case .operate(let message)? = request { checkOperation(message) }
    case 1:
        let answer = DaemonAnswer(bytes)
        // A code of another version becomes `incompatible`, and stands in the reason.
        if case .result(.failed(let error))? = answer, error.code == .incompatible { return 0 }
        checkMessage(answer, bytes, \.encoded)
        if case .result(.outcome(let outcome))? = answer { readOutcome(outcome) }
    case 2: _ = try? EntryBytes(bytes)
    case 3: checkValue(.number, bytes, \.encoded) { (bytes) throws(ValueError) in try NumberValue(decoding: bytes) }
    case 4: checkValue(.member, bytes, \.encoded) { (bytes) throws(ValueError) in try MemberValue(decoding: bytes) }
    case 5: checkValue(.log, lived, \.encoded) { (bytes) throws(ValueError) in try LogValue(decoding: bytes, of: life) }
    case 6: checkValue(.last, bytes, \.encoded) { (bytes) throws(ValueError) in try LastValue(decoding: bytes) }
    case 7:
        checkValue(.manifest, lived, \.encoded) { (bytes) throws(ValueError) in
            try ManifestValue(decoding: bytes, of: life)
        }
    default:
        checkValue(.chunk, lived, \.encoded) { (bytes) throws(ValueError) in try ChunkValue(decoding: bytes, of: life) }
    }
    return 0
}

private let life = NamespaceLife(number: 1)

private func checkMessage<Message>(_ message: Message?, _ bytes: [UInt8], _ encoded: (Message) -> [UInt8]) {
    // Four bytes with the length come first.
    if let message { check(Array(encoded(message).dropFirst(4)) == bytes, "a message differs when encoded again") }
}

private func checkOperation(_ message: OperationMessage) {
    var reader = ByteReader(message.operation.dropFirst())
    guard let operation = SentOperations.type(of: message.operation)?.init(&reader, session: message.session),
        reader.isAtEnd
    else { return }
    check(operation.message == message.operation, "an operation differs when encoded again")
    _ = try? operation.check()
}

/// Reads an outcome as that of each operation: a process knows what it has asked for, and not what the daemon has done.
private func readOutcome(_ bytes: [UInt8]) {
    for type in SentOperations.all { read(bytes, asOutcomeOf: type) }
}

private func read<O: SentOperation>(_ bytes: [UInt8], asOutcomeOf _: O.Type) {
    var reader = ByteReader(bytes[...])
    _ = O.outcome(&reader)
}

private func checkValue<Value>(
    _ kind: ValueKind,
    _ fields: [UInt8],
    _ encoded: (Value) -> [UInt8],
    _ decode: ([UInt8]) throws(ValueError) -> Value
) {
    var bytes = [ValueWriter.format, kind.rawValue] + fields
    withUnsafeBytes(of: hash64(bytes).littleEndian) { bytes.append(contentsOf: $0) }
    if let value = try? decode(bytes) { check(encoded(value) == bytes, "a value differs when encoded again") }
}
