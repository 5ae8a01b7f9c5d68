import Testing
import TupleCoding

/// Templates made in Swift.
@Suite struct TemplateMatchingTests {
    @Test func literalsMixVariablesRangesAndFormals() throws {
        let name = "resize"
        let low = 40
        let template: Template = [name, .any, low..<50, .null, "a"..."f", ...0.5, any(Bool.self)]
        #expect(template.matches([name, "x", 42, .null, "b", 0.25, true]))
        #expect(!template.matches([name, "x", 50, .null, "b", 0.25, true]))
        #expect(!template.matches([name, "x", 42, 0, "b", 0.25, true]))
        #expect(!template.matches([name, "x", 42, .null, "b", 0.25, 1]))
        let record: Template = ["kind": "resize", "id": .any, "priority": 7...]
        #expect(record.matches(["kind": "resize", "id": 1, "priority": 9, "more": .null]))
        #expect(!record.matches(["kind": "resize", "id": 1, "priority": 6]))
        #expect(!record.matches(["kind": "resize", "priority": 9]))
        #expect(!record.exactly().matches(["kind": "resize", "id": 1, "priority": 9, "more": .null]))
    }

    @Test func aRestMatchesWhatIsLeft() throws {
        let template = try Template(json: #"["job","?int","?..."]"#)
        #expect(template.json == #"["job","?int","?..."]"#)
        for tuple in [["job", 1], ["job", 1, .null], ["job", 1, "a", [2]]] as [Tuple] {
            #expect(template.matches(tuple))
        }
        for tuple in [["job"], ["job", "a"], [], ["jog", 1, 2]] as [Tuple] { #expect(!template.matches(tuple)) }
        #expect(!template.matches(["job": 1]))
        let nested = try Template(json: #"[["a","?..."],{"l":["?..."]}]"#)
        for json in [#"[["a"],{"l":[]}]"#, #"[["a",1,null],{"l":[1,[2]]}]"#, #"[["a"],{"l":[],"m":1}]"#] {
            #expect(nested.matches(try Tuple(json: json)), "\(json)")
        }
        for json in [#"[["b"],{"l":[]}]"#, #"[["a"],{"l":1}]"#, #"[["a"]]"#, #"[[],{"l":[]}]"#] {
            #expect(!nested.matches(try Tuple(json: json)), "\(json)")
        }
        #expect(nested.exactly().matches(try Tuple(json: #"[["a",1],{"l":[1]}]"#)))
        #expect(!nested.exactly().matches(try Tuple(json: #"[["a"],{"l":[],"m":1}]"#)))
        #expect(try Template(json: #"["??..."]"#).matches(["?..."]))
        let (kind, rest) = try #require(try take(["job", 1, .null], "job", .rest))
        #expect(kind == "job" && rest == [1, .null])
        #expect(throws: TupleCodingError.self) { try Template(checking: [.rest, "a"]) }
    }

    /// As the layer above does it: a template of the pack, then the fields as the pack types them.
    private func take<each M: Matcher>(
        _ tuple: Tuple,
        _ matcher: repeat each M
    ) throws(TupleCodingError) -> (repeat (each M).Matched)? {
        guard Selection(repeat each matcher).matches(tuple) else { return nil }
        return try tuple.encoded.withUnsafeBufferPointer { (bytes) throws(TupleCodingError) in
            var decoder = TupleDecoder(UnsafeRawBufferPointer(bytes))
            return try decoder.decodeMatched(repeat each matcher)
        }
    }

    @Test func packsAreTypedByTheirMatchers() throws {
        let (kind, id, file) = try #require(
            try take(["resize", 42, "cat.png"], "resize", any(Int.self), any(String.self))
        )
        #expect(kind == "resize" && id == 42 && file == "cat.png")
        let (pattern, range, rest) = try #require(
            try take(["cat.png", 42, [1, .null] as Value], try Pattern(#"\.png$"#), 40..., .any)
        )
        #expect(pattern == "cat.png" && range == 42 && rest == [1, .null])
        let (bytes, list, maybe, uuid) = try #require(
            try take(
                Tuple([UInt8]([1]), ["a", "b"], Null(), TupleUUID(high: 1, low: 2)),
                any([UInt8].self),
                any([String].self),
                any(Int?.self),
                any(TupleUUID.self)
            )
        )
        #expect(bytes == [1] && list == ["a", "b"] && maybe == nil && uuid == TupleUUID(high: 1, low: 2))
        let (null, float, record) = try #require(
            try take([.null, 0.5, Record(dictionaryLiteral: ("a", 1))], .null, any(Float.self), any(Record.self))
        )
        #expect(null == Null() && float == 0.5 && record == ["a": 1])
        #expect(try take(["resize", 300], "resize", any(UInt8.self)) == nil, "what doesn't fit the type doesn't match")
        #expect(
            try take(["resize", -1], "resize", ...UInt8(5)) == nil,
            "nor what lies in the range but not in the type"
        )
        #expect(try take([[1, "x"] as Value], any([Int].self)) == nil)
        #expect(try take([1, 2], any(Int.self)) == nil)
    }

    @Test func typesMatchWhatTheyCanRead() throws {
        var random = RandomValues(seed: 8)
        func check<Field: TupleField>(_ type: Field.Type) -> Int {
            var matched = 0
            for _ in 0..<400 {
                let tuple = Tuple(random.value())
                let matches = Selection(any(type)).matches(tuple)
                let read = tuple.encoded.withUnsafeBytes { bytes in
                    var decoder = TupleDecoder(bytes)
                    return (try? decoder.decode(type)) != nil
                }
                #expect(matches == read, "\(type) \(tuple)")
                matched += matches ? 1 : 0
            }
            return matched
        }
        let counts = [
            check(Int.self), check(Int8.self), check(UInt32.self), check(Double.self), check(Bool.self),
            check(String.self),
            check(TupleUUID.self), check([UInt8].self), check([Value].self), check(Record.self), check(Tuple.self),
            check(Int?.self), check(Null.self), check(Value.self),
        ]
        #expect(counts.allSatisfy { $0 > 0 && $0 <= 400 })
    }

    @Test func actualsMatchEqualEncodings() {
        var random = RandomValues(seed: 9)
        let tuples = (0..<200).map { _ in random.tuple() }
        for left in tuples {
            let template = Template(left)
            for right in tuples { #expect(template.matches(right) == (left == right), "\(left) \(right)") }
        }
    }

    @Test func nestedTemplatesMatchInside() throws {
        let inner: Template = ["kind": "resize", "id": .any]
        let template: Template = ["job", inner, ["x", Null(), 1...] as Template]
        #expect(template.matches(try Tuple(json: #"["job",{"id":7,"kind":"resize","more":1},["x",null,3]]"#)))
        #expect(!template.matches(try Tuple(json: #"["job",{"kind":"resize"},["x",null,3]]"#)))
        #expect(!template.matches(try Tuple(json: #"["job",{"id":7,"kind":"resize"},["x",null]]"#)))
        #expect(template.json == #"["job",{"id":"?","kind":"resize"},["x",null,"?1..."]]"#)
        let strict: Template = ["job", inner.exactly(), .any]
        #expect(!strict.matches(try Tuple(json: #"["job",{"id":7,"kind":"resize","more":1},0]"#)))
        let anything: Template = [Template.any]
        #expect(anything.matches([1]) && !anything.matches([]))
        // Nulls at the top of a template become nulls inside.
        let literal: Template = [[Null(), Null()] as Template]
        #expect(literal.matches(try Tuple(json: "[[null,null]]")))
        #expect(literal.form.shape == .fields(arity: 1, bound: 1))
    }

    @Test func valuesGivenAsObjectsAreActuals() throws {
        let record: Record = ["a": 1]
        let template: Template = ["x", record]
        #expect(template.matches(try Tuple(json: #"["x",{"a":1}]"#)))
        #expect(!template.matches(try Tuple(json: #"["x",{"a":1,"b":2}]"#)))
        #expect(template.form.shape == .fields(arity: 2, bound: 0b11))
    }

    @Test func rangesFollowTheEncoding() {
        let nan = Tuple(Double.nan)
        #expect(([0.0...] as Template).matches(nan), "the positive NaNs come after infinity")
        #expect(!([0.0...Double.infinity] as Template).matches(nan))
        #expect(!([0.0...1.0] as Template).matches([-0.0]))
        #expect(([-0.0...1.0] as Template).matches([0.0]))
        #expect((["e"..."é"] as Template).matches(["e\u{301}"]), "as bytes, e and an accent come before é")
        #expect(([Int.min...] as Template).matches([Int.min]))
        #expect(!([Int.min..<Int.min] as Template).matches([Int.min]))
        #expect(([...Int.max] as Template).matches([Int.max]))
        #expect(!([..<Int.max] as Template).matches([Int.max]))
    }

    @Test func patternsAreFoundAnywhereUnlessAnchored() throws {
        let template: Template = [try Pattern("b+")]
        #expect(template.form.usesPattern)
        #expect((["x", template] as Template).form.usesPattern)
        #expect(!(["x", .any] as Template).form.usesPattern)
        #expect(
            template.matches(["abc"]) && template.matches(["a\0b"]) && !template.matches(["a"])
                && !template.matches([1])
        )
        #expect(try Template(json: #"{"a":[["?/x/"]]}"#).form.usesPattern)
        #expect(throws: TupleCodingError.self) { try Pattern("(") }
        #expect(try Pattern("a") == Pattern("a"))
    }
}
