// What coding agents' clients send and keep: messages of the protocol, events of hooks, names of holds, settings. Nothing may
// trap, and settings that are changed must stay JSON.

import FuzzCheck

@testable import SpaceAgents
@testable import TupleCoding

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    if let value = try? Value(foreignJSON: bytes) {
        if let again = try? Value(json: value.json) { check(again == value, "reads back as another value") }
        if let message = try? IncomingMessage(value) {
            _ = try? ProtocolEra(message.parameters, agreed: "2025-11-25")
            let arguments = ToolArguments(message.parameters)
            _ = (try? arguments.tasks(), try? arguments.wait, try? arguments.texts("names"))
        }
    }
    _ = try? ToolUseEvent(bytes)
    let name = HoldName(stored: text)
    check(name.overlaps(name), "a name does not overlap itself")
    let parts = text.split(separator: "\n", maxSplits: 1).map { PathPattern($0) }
    if parts.count == 2 { check(parts[0].overlaps(parts[1]) == parts[1].overlaps(parts[0]), "overlaps one way only") }
    if var edit = try? JSONEdit(bytes) {
        if (try? edit.set(["a", "b"], to: "[1]")) != nil {
            check(edit.has(["a", "b"]), "what was set is not there")
            check((try? Value(foreignJSON: edit.text)) != nil, "settings are no JSON any more")
            check(edit.remove(["a", "b"]) && !edit.has(["a", "b"]), "what was removed is there")
        }
        if (try? edit.add("{}", to: ["c"], unlessOneHas: "{")) != nil {
            check((try? Value(foreignJSON: edit.text)) != nil, "settings are no JSON any more")
        }
    }
    return 0
}
