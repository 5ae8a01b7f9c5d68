// Bytes as a tuple from disk: validate, decode, match, hash; valid bytes must be encoded again byte for byte. The first
// byte's lowest bit says whether the tuple is a record.

import FuzzCheck

@testable import TupleCoding

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let isRecord = first & 1 == 1
    let encoded = Array(input.dropFirst())
    let tuple = try? Tuple(encoded: encoded, isRecord: isRecord)
    encoded.withUnsafeBytes { bytes in
        let borrowed = EncodedTuple(bytes: bytes, isRecord: isRecord)
        for template in templates where template.matches(borrowed) {
            check(borrowed.hash(of: template.form.shape) == template.form.boundHash, "a match hashes differently")
        }
        borrowed.forEachPairHash { _ in }
        _ = Shape(encoded: bytes)
        guard let tuple else { return }
        check(borrowed.isWellFormed, "valid but not well formed")
        let own = Template(tuple)
        check(own.matches(borrowed), "a tuple doesn't match itself")
        check(borrowed.hash(of: own.form.shape) == own.form.boundHash, "a tuple hashes differently from itself")
    }
    if let tuple {
        let again = tuple.record.map { Tuple(record: $0) } ?? Tuple(fields: tuple.fields)
        check(again.encoded == encoded, "encoded again it differs")
        check(tuple.count == again.count, "the count differs")
        let json = tuple.json
        guard let read = try? Tuple(json: json) else { fatalError("its own JSON can't be read: \(json)") }
        check(read.json == json, "its JSON differs when read and written again")
    }
    return 0
}

private let templates: [Template] = {
    let record: Template = ["a": 1, "b": .any]
    let inner: Template = [[.any, 1...5] as Template, record]
    return [
        .any, [], [.any], ["a", .any], [.any, .any, .any], [0...5],
        ["a"..."b"], [0.0...1.0], [any(Int8.self)], [any([Int].self)],
        [any([String: Int?].self)], [any(Tuple.self)], [any(TupleUUID.self)], record,
        record.exactly(), [:], inner, inner.exactly(),
    ]
}()
