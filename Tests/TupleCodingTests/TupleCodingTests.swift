import Testing

import TupleCoding

@Suite struct API {
    @Test func reads() throws {
        let n = 42
        let t: Tuple = ["resize", n, "cat.png", .null]
        let r: Tuple = ["kind": "resize", "id": n]
        #expect(t.json == #"["resize",42,"cat.png",null]"#)
        #expect(r.json == #"{"id":42,"kind":"resize"}"#)
        let tem: Template = ["resize", .any, 40..<50, .null]
        #expect(tem.matches(t))
        let rt: Template = ["kind": "resize", "id": .any]
        #expect(rt.matches(r))
        let (a, b, c) = try take(Tuple("resize", 42, "cat.png"), "resize", any(Int.self), any())
        #expect(a == "resize" && b == 42 && c == "cat.png")
        let (d, e) = try take(Tuple("resize", 42), try Pattern("^re"), 40...)
        #expect(d == "resize" && e == 42)
        #expect(tem.json == #"["resize","?","?40..<50",null]"#)
        let v: Value = ["a": [1, 2.5, true], "b": "x"]
        #expect(v.json == #"{"a":[1,2.5,true],"b":"x"}"#)
    }
    func take<each M: Matcher>(_ t: Tuple, _ m: repeat each M) throws -> (repeat (each M).Matched) {
        let template = Template(repeat each m)
        #expect(template.matches(t))
        return try t.encoded.withUnsafeBytes { b in
            var d = TupleDecoder(b)
            return try d.decodeMatched(repeat each m)
        }
    }
}
