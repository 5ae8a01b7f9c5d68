// The input that people and scripts give to the commands: their words, and the lines on their standard input. Any input
// is understood, or refused with a message.

import ArgumentParser
import TupleCoding

@testable import SpaceCommands

/// Runs one input: words, each ended by NUL, then 0xFF and lines.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Array(UnsafeBufferPointer(start: start, count: count))
        .split(separator: 0xFF, maxSplits: 1, omittingEmptySubsequences: false)
    let words = parts[0].split(separator: 0, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    parse(words, for: .space, SpaceCommand.self)
    parse(words, for: .dump, DumpCommand.self)
    for word in words { understand(word) }
    for line in parts.dropFirst().joined().split(separator: UInt8(ascii: "\n")) {
        understand(String(decoding: Array(line), as: UTF8.self))
    }
    return 0
}

private func parse(_ words: [String], for program: Words.Program, _ root: any ParsableCommand.Type) {
    guard let arranged = try? Words.arranged(words, for: program) else { return }
    do {
        _ = try root.parseAsRoot(arranged)
    } catch {
        _ = root.fullMessage(for: error)
    }
}

private func understand(_ text: String) {
    _ = try? TransactionStep(text, what: "line 1")
    _ = try? JSONText.tuple(text, what: "a tuple")
    var reader = DumpReader()
    if case .object(let record) = try? JSONText.line(text, what: "line 1") { _ = try? reader.take(record, "line 1") }
    _ = DurationText.parse(text)
    _ = Words.isNumber(text)
    _ = Words.isName(text)
}
