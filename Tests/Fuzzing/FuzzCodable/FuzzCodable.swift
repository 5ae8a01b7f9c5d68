// JSON text as a record, decoded as a Codable type: the decoded value, encoded, must decode to an equal value.

import FuzzCheck

@testable import TupleCoding

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let value = try? Value(json: Array(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
    guard let again = try? Value(encoding: value) else { fatalError("can't encode \(value)") }
    check(again == value, "a value encodes as another")
    check((try? value.decode(Value.self)) == value, "a value decodes as another")
    if let job = try? value.decode(Job.self) {
        guard let record = try? Record(encoding: job) else { fatalError("can't encode \(job)") }
        guard let read = try? record.decode(Job.self) else { fatalError("can't decode \(record)") }
        check((try? Record(encoding: read)) == record, "a record decodes as another")
    }
    return 0
}

private struct Job: Codable {
    enum State: String, Codable { case waiting, done }
    final class Link: Codable {
        var next: Link?
        var prev: [Link]?
    }
    var a: Int8?
    var b: UInt64?
    var c: Float?
    var d: [String: [Double]]?
    var e: [UInt8]?
    var f: TupleUUID?
    var g: State?
    var h: Link?
    var i: [Int?]?
    var j: Value?
    var k: Record?
    var l: Bool?
}
