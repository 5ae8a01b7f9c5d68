import Testing
import TupleCoding

/// Shapes, and the hashes that indexes and waiters keep.
@Suite struct ShapeTests {
    /// Computed from the description in Hash64.swift by another program.
    @Test func hashIsAsStated() {
        let vectors: [([UInt8], UInt64)] = [
            ([], 0x0def_0f62_37b7_e95c),
            ([0], 0x3214_f24c_2ce4_ead0),
            (Array("a".utf8), 0xcf1f_fd43_22a6_63b8),
            (Array("abc".utf8), 0x06be_b604_1368_a21d),
            (Array("abcd".utf8), 0x0c38_649a_d77d_3894),
            (Array("abcdefg".utf8), 0xe0c3_1547_bb4d_b0b2),
            (Array("abcdefgh".utf8), 0xce58_824a_d300_32cf),
            (Array("abcdefghi".utf8), 0xc8ef_d77d_78b9_299a),
            (Array(0..<64), 0xd334_bf65_f20b_4007),
        ]
        for (bytes, expected) in vectors {
            #expect(bytes.withUnsafeBytes { Hash64.hash($0) } == expected, "\(bytes)")
        }
        #expect((["resize", .any, "cat.png"] as Template).form.boundHash == 0xf734_f2df_a336_4404)
        #expect(([.any, 42, .any] as Template).form.boundHash == 0x3b02_96d9_125a_66f2)
        #expect((["kind": "resize"] as Template).form.boundHash == 0x26b8_4270_d834_a17b)
    }

    @Test func shapesSayWhatIsBound() throws {
        #expect(Template.any.form.shape == .anything)
        #expect(([] as Template).form.shape == .fields(arity: 0, bound: 0))
        #expect((["resize", .any, 1...5, 7] as Template).form.shape == .fields(arity: 4, bound: 0b1001))
        #expect(([.any, .any] as Template).form.shape == .fields(arity: 2, bound: 0))
        #expect((["b": 1, "a": .any, "": .null] as Template).form.shape == .record(bound: ["", "b"]))
        #expect((["a": .any] as Template).form.shape == .record(bound: []))
        #expect(try Template(json: #"[[1,[null]],["?"]]"#).form.shape == .fields(arity: 2, bound: 0b01))
        // A template's object gives the least that a matching object has, so the matching object's bytes aren't known.
        let objects = try Template(json: #"[{"a":1},[{"b":2}],{"c":"?"}]"#)
        #expect(objects.form.shape == .fields(arity: 3, bound: 0))
        #expect(objects.exactly().form.shape == .fields(arity: 3, bound: 0b011))
        let record = try Template(json: #"{"a":{"x":1},"b":1}"#)
        #expect(record.form.shape == .record(bound: ["b"]))
        #expect(record.exactly().form.shape == .record(bound: ["a", "b"]))
    }

    @Test func onlySixtyFourPositionsAreBound() throws {
        let many = Tuple(fields: (0..<70).map { .int($0) })
        let template = Template(many)
        #expect(template.form.shape == .fields(arity: 70, bound: .max))
        #expect(many.withEncoded { $0.hash(of: template.form.shape) } == template.form.boundHash)
        var other = many.fields
        other[69] = "x"
        let differs = Tuple(fields: other)
        #expect(
            differs.withEncoded { $0.hash(of: template.form.shape) } == template.form.boundHash,
            "not part of the hash"
        )
        #expect(!template.matches(differs), "but of the match")
    }

    /// Templates made from a tuple by turning some of its fields into formals.
    @Test func tupleAndTemplateHashAlike() throws {
        var random = RandomValues(seed: 6)
        var matched = 0
        for _ in 0..<1_500 {
            let tuple = random.tuple()
            var builder: [any TemplateElement] = []
            let template: Template
            if let record = tuple.record {
                let kept = record.filter { _ in random.count(0...2) > 0 }
                let text =
                    "{"
                    + kept.map { "\(Value.string($0.name).json):\(element($0.value, &random))" }.joined(separator: ",")
                    + "}"
                // An only name that begins with $ is written with two.
                let only = kept.count == 1 && kept[0].name.utf8.first == UInt8(ascii: "$")
                template = try Template(
                    json: only ? "{\"$" + text.dropFirst(2) : text,
                    exactly: random.count(0...1) == 0
                )
            } else {
                for field in tuple.fields { builder.append(random.count(0...1) == 0 ? field : Formal<Value>()) }
                template = builder.reduce(into: Nested()) { $0.elements.append($1) }.template
            }
            for candidate in [tuple, random.tuple()] {
                candidate.withEncoded { encoded in
                    guard template.matches(encoded) else { return }
                    matched += 1
                    #expect(
                        encoded.hash(of: template.form.shape) == template.form.boundHash,
                        "\(template) \(candidate)"
                    )
                    if let first = template.form.firstPairHash {
                        var found = false
                        encoded.forEachPairHash { found = found || $0 == first }
                        #expect(found)
                    }
                }
            }
        }
        #expect(matched > 1_000)
    }

    private func element(_ value: Value, _ random: inout RandomValues) -> String {
        if random.count(0...1) == 0 { return "\"?\"" }
        return JSONText(value).forTemplate()
    }

    @Test func shapesThatCannotMatchHaveNoHash() {
        let tuple: Tuple = ["a", 1]
        tuple.withEncoded { encoded in
            #expect(encoded.hash(of: .anything) == 0)
            #expect(encoded.hash(of: .fields(arity: 2, bound: 0)) == 0)
            #expect(encoded.hash(of: .fields(arity: 1, bound: 0)) == nil)
            #expect(encoded.hash(of: .fields(arity: 3, bound: 1)) == nil)
            #expect(encoded.hash(of: .record(bound: [])) == nil)
        }
        let record: Tuple = ["a": 1, "a\0": 2, "c": 3]
        record.withEncoded { encoded in
            #expect(encoded.hash(of: .fields(arity: 1, bound: 0)) == nil)
            #expect(encoded.hash(of: .record(bound: [])) == 0)
            #expect(encoded.hash(of: .record(bound: ["a\0"])) == (["a\0": 2] as Template).form.boundHash)
            #expect(encoded.hash(of: .record(bound: ["a", "c"])) == (["a": 1, "c": 3] as Template).form.boundHash)
            #expect(encoded.hash(of: .record(bound: ["b"])) == nil)
            #expect(encoded.hash(of: .record(bound: ["a", "d"])) == nil)
            var pairs: [UInt64] = []
            encoded.forEachPairHash { pairs.append($0) }
            #expect(pairs.count == 3)
            #expect(pairs.first == (["a": 1] as Template).form.firstPairHash)
            #expect(pairs.reduce(0, &+) == (["a": 1, "a\0": 2, "c": 3] as Template).form.boundHash)
        }
        #expect((["a": .any] as Template).form.firstPairHash == nil)
        #expect((["a", 1] as Template).form.firstPairHash == nil)
    }

    @Test func positionsCount() {
        #expect((["a", .any] as Template).form.boundHash != ([.any, "a"] as Template).form.boundHash)
        #expect((["a", "b"] as Template).form.boundHash != (["b", "a"] as Template).form.boundHash)
        #expect((["ab": "c"] as Template).form.boundHash != (["a": "bc"] as Template).form.boundHash)
    }

    static let shapes: [(shape: Shape, description: String)] = [
        (.anything, "?"),
        (.fields(arity: 0, bound: 0), "()"),
        (.fields(arity: 3, bound: 0b101), "(=, ?, =)"),
        (.fields(arity: 64, bound: 1 << 63), "(" + String(repeating: "?, ", count: 63) + "=)"),
        (.fields(arity: 100, bound: 0), "(" + String(repeating: "?, ", count: 64) + "… 100 fields)"),
        (.record(bound: []), "{}"),
        (.record(bound: ["id", "kind"]), "{id=, kind=}"),
        (.record(bound: ["", "a b\n", "é"]), #"{""=, "a b\n"=, é=}"#),
    ]

    @Test(arguments: shapes)
    func keepTheirBytesAndSayWhatTheyAre(_ shape: Shape, _ description: String) {
        #expect(shape.description == description)
        #expect(shape.encoded().withUnsafeBytes { Shape(encoded: $0) } == shape)
    }

    @Test(arguments: [
        "", "00 00", "01", "01 0000000000000001", "01 0000000000000001 0000000000000002",
        "01 8000000000000000 0000000000000000",
        "01 0000000000000001 0000000000000001 00", "02 02", "02 02 62 00 02 61 00", "02 02 61 00 02 61 00", "02 14",
        "02 02 ff 00", "03", "ff",
    ])
    func refuseOtherBytes(_ hexadecimal: String) {
        #expect(bytes(hexadecimal).withUnsafeBytes { Shape(encoded: $0) } == nil)
    }
}

/// Builds a template of elements that are known only at run time.
private struct Nested {
    var elements: [any TemplateElement] = []

    var template: Template {
        struct Elements: TemplateElement {
            let elements: [any TemplateElement]
            func describe(into builder: inout TemplateBuilder) {
                for element in elements { element.describe(into: &builder) }
            }
        }
        return [Elements(elements: elements)]
    }
}

/// A value's text in a template: strings that begin with ? get one more.
private struct JSONText {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    func forTemplate() -> String {
        switch value {
        case .string(let string) where string.utf8.first == UInt8(ascii: "?"): Value.string("?" + string).json
        case .array(let values): "[" + values.map { JSONText($0).forTemplate() }.joined(separator: ",") + "]"
        case .object(let record) where record.count == 1 && record[0].name.utf8.first == UInt8(ascii: "$"):
            "{" + Value.string("$" + record[0].name).json + ":" + JSONText(record[0].value).forTemplate() + "}"
        case .object(let record):
            "{"
                + record.map { Value.string($0.name).json + ":" + JSONText($0.value).forTemplate() }
                .joined(separator: ",") + "}"
        default: value.json
        }
    }
}
