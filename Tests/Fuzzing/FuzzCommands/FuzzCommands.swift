// The input that people and scripts give to the commands: their words, and the lines on their standard input. Any input
// is understood, or refused with a message.

import CommandWords
import TupleCoding

@testable import SpaceCommands
@testable import SpaceRecipes
@testable import TupleSpace

/// Runs one input: words, each ended by NUL, then 0xFF and lines.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Array(UnsafeBufferPointer(start: start, count: count))
        .split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
    let words = parts[0].split(separator: 0, omittingEmptySubsequences: false).map { bytes in
        String(validating: bytes, as: UTF8.self).map { Word($0) }
            ?? Word(String(decoding: bytes, as: UTF8.self), isText: false)
    }
    _ = try? CommandLineRequest(words, for: .space)
    _ = try? CommandLineRequest(words, for: .dump)
    for word in words { understand(word.text) }
    for line in parts.dropFirst().joined().split(separator: UInt8(ascii: "\n")) {
        understand(String(decoding: Array(line), as: UTF8.self))
    }
    return 0
}

private func understand(_ text: String) {
    _ = try? TransactionStep(text, at: 1)
    _ = try? JSONText.tuple(text, what: "a tuple")
    var reader = DumpReader()
    if case .object(let record) = try? JSONText.line(text, what: "line 1") { _ = try? reader.take(record, "line 1") }
    _ = DurationText.parse(text)
    _ = Parser.isNumber(text)
}
