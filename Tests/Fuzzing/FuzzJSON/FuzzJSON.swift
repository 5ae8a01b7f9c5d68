// JSON text as a value and as a tuple: the result of reading is written, and must read as an equal one.

import FuzzCheck

@testable import TupleCoding

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let arguments: [String: Value] = ["a": "?", "b": [1, .null], "c": ["x": 1.5]]
    if let value = try? Value(json: text, arguments: arguments) {
        guard let again = try? Value(json: value.json) else { fatalError("can't read \(value.json)") }
        check(again == value, "reads back as another value")
        check(again.json == value.json, "writes differently")
        check(!value.json.utf8.contains { $0 < 0x20 }, "a control character is not escaped")
        let tuple = Tuple(value)
        check((try? Tuple(encoded: tuple.encoded, isRecord: false)) == tuple, "its encoding is not valid")
    }
    if let tuple = try? Tuple(json: text, arguments: arguments) {
        check((try? Tuple(json: tuple.json)) == tuple, "reads back as another tuple")
        check((try? Tuple(encoded: tuple.encoded, isRecord: tuple.isRecord)) == tuple, "its encoding is not valid")
    }
    return 0
}
