// JSON text as a template, regular expressions included: written and read again it is equal, and it matches within
// bounds. As a tuple, the same text matches itself as a literal.

import FuzzCheck

@testable import TupleCoding

/// Runs one input.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let arguments: [String: Value] = ["a": "?", "b": [1, .null], "c": ["x": 1.5]]
    let literal = try? Tuple(json: text, arguments: arguments)
    if let literal {
        check(Template(literal).matches(literal), "a tuple doesn't match itself")
        let only = Template(literal).exactly()
        check(only.matches(literal), "a tuple doesn't match itself exactly")
        for tuple in tuples where tuple != literal { check(!only.matches(tuple), "a literal matches another tuple") }
    }
    for exactly in [false, true] {
        guard let template = try? Template(json: text, exactly: exactly, arguments: arguments) else { continue }
        guard let again = try? Template(json: template.json, exactly: exactly) else {
            fatalError("can't read \(template.json)")
        }
        check(again.json == template.json, "writes differently")
        check(
            again.form.shape == template.form.shape && again.form.boundHash == template.form.boundHash,
            "another shape when read again"
        )
        check(
            template.form.shape.encoded().withUnsafeBytes { Shape(encoded: $0) } == template.form.shape,
            "a shape's bytes differ"
        )
        for tuple in tuples + (literal.map { [$0] } ?? []) {
            let matches = template.matches(tuple)
            check(matches == again.matches(tuple), "matches differently when read again")
            guard matches else { continue }
            tuple.withEncoded { encoded in
                check(encoded.hash(of: template.form.shape) == template.form.boundHash, "a match hashes differently")
            }
        }
    }
    return 0
}

private let tuples: [Tuple] = [
    [], [1], ["a"], ["cat.png", 1, .null], [0.5, true], ["a": 1], ["a": 1, "b": ["x": 1] as Value], [:],
    [[1, ["a": "b"]] as Value], ["", "?"], ["e\u{301}\0é"],
]
