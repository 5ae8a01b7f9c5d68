import SeededRandom
import Testing
import TupleCoding

/// Templates in the form in which other languages give them.
@Suite struct PortableTemplateTests {
    private func template(
        _ bytes: [UInt8],
        isRecord: Bool = false,
        exactly: Bool = false
    ) throws(TupleCodingError) -> Template {
        try bytes.withUnsafeBufferPointer { (bytes) throws(TupleCodingError) in
            try Template(portable: UnsafeRawBufferPointer(bytes), isRecord: isRecord, exactly: exactly)
        }
    }

    private static let string = Tuple("cat").encoded

    @Test(
        "Each formal is read, at any depth",
        arguments: [
            ([0x45], #""?""#), ([], "[]"), ([0x41, 0x00], #"["?"]"#), ([0x41, 0x01], #"["?bytes"]"#),
            ([0x41, 0x02], #"["?string"]"#), ([0x41, 0x05], #"["?array"]"#), ([0x41, 0x14], #"["?int"]"#),
            ([0x41, 0x21], #"["?double"]"#), ([0x41, 0x26], #"["?bool"]"#), ([0x41, 0x30], #"["?uuid"]"#),
            ([0x41, 0x40], #"["?object"]"#), ([0x42, 0x15, 1, 0x15, 9, 0x27], #"["?1...9"]"#),
            ([0x42, 0x15, 1, 0x15, 9, 0x26], #"["?1..<9"]"#), ([0x42, 0x00, 0x15, 9, 0x27], #"["?...9"]"#),
            ([0x42, 0x15, 5, 0x00, 0x27], #"["?5..."]"#),
            ([0x42] + Tuple(0.5).encoded + Tuple(1.5).encoded + [0x27], #"["?0.5...1.5"]"#),
            ([0x42] + Tuple("a").encoded + Tuple("f").encoded + [0x27], #"["?a...f"]"#),
            ([0x43] + string, #"["?/cat/"]"#), (string + [0x44], #"["cat","?..."]"#),
            (string + [0x15, 7], #"["cat",7]"#), ([0x00, 0x27], "[null,true]"),
            // In an array null is 00 FF, and a bound that is left out is a zero.
            ([0x05, 0x00, 0xFF, 0x42, 0x00, 0x15, 9, 0x27, 0x41, 0x00, 0x00, 0x15, 1], #"[[null,"?...9","?"],1]"#),
            ([0x40, 0x02, 0x61, 0x00, 0x41, 0x14, 0x00, 0x14], #"[{"a":"?int"},0]"#),
        ]
    )
    func reads(_ bytes: [UInt8], _ json: String) throws {
        #expect(try template(bytes).json == json)
    }

    @Test func recordsAreOneObject() throws {
        let bytes: [UInt8] = [0x40, 0x02, 0x61, 0x00, 0x41, 0x14, 0x02, 0x62, 0x00, 0x41, 0x00, 0x00]
        let named = try template(bytes, isRecord: true)
        #expect(named.json == #"{"a":"?int","b":"?"}"#)
        #expect(named.matches(["a": 1, "b": 2, "c": 3]) && !named.matches(["a": "x", "b": 2]))
        #expect(try !template(bytes, isRecord: true, exactly: true).matches(["a": 1, "b": 2, "c": 3]))
        #expect(throws: TupleCodingError.self) { try template([0x15, 1], isRecord: true) }
        #expect(throws: TupleCodingError.self) { try template(bytes + [0x15, 1], isRecord: true) }
    }

    @Test(
        "What is no template is refused",
        arguments: [
            [0x41], [0x41, 0x77], [0x42], [0x42, 0x15, 1], [0x42, 0x15, 1, 0x15, 9], [0x42, 0x15, 1, 0x15, 9, 0x15],
            [0x42, 0x00, 0x00, 0x27], [0x42, 0x15, 9, 0x15, 1, 0x27], [0x42, 0x15, 1] + string + [0x27],
            [0x42, 0x27, 0x00, 0x27], [0x43, 0x15, 1], [0x43] + Tuple("(").encoded, [0x44, 0x15, 1], [0x45, 0x15],
            [0x05, 0x41, 0x00], [0x40, 0x41, 0x00, 0x00], [0x40, 0x02, 0x61, 0x00, 0x00], [0x02, 0x61], [0x99],
            // Names that are out of order.
            [0x40, 0x02, 0x62, 0x00, 0x15, 1, 0x02, 0x61, 0x00, 0x15, 1, 0x00],
            Array(repeating: 0x05, count: 1000), Array(repeating: 0x05, count: 65) + Array(repeating: 0x00, count: 65),
        ]
    )
    func refuses(_ bytes: [UInt8]) {
        #expect(throws: TupleCodingError.self) { try template(bytes) }
    }

    /// Bytes of which one was changed, or that are random: they are a template or refused, and tuples are too.
    @Test func anyBytesAreReadOrRefused() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let codes: [UInt8] = [
            0x00, 0x01, 0x02, 0x05, 0x14, 0x15, 0x21, 0x26, 0x27, 0x30, 0x40, 0x41, 0x42, 0x43, 0x44, 0xFF,
        ]
        var templates = 0
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? codes.randomElement(using: &random)! : .random(in: 0...255, using: &random)
            }
            let isRecord = Bool.random(using: &random)
            if let template = try? template(bytes, isRecord: isRecord) {
                templates += 1
                if let tuple = try? Tuple(encoded: bytes, isRecord: isRecord) {
                    #expect(template.matches(tuple), "seed \(seed): \(bytes)")
                }
            }
        }
        #expect(templates > 100, "seed \(seed)")
    }
}
