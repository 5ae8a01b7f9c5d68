import Testing
import TupleCoding

/// The JSON form of values and tuples.
@Suite struct JSONTests {
    /// Text, its meaning, and the text it is written as (nil: as it was).
    static let readings: [(text: String, value: Value, written: String?)] = [
        ("null", .null, nil),
        ("true", true, nil),
        ("false", false, nil),
        ("0", 0, nil),
        ("-0", 0, "0"),
        ("42", 42, nil),
        ("9223372036854775807", .int(.max), nil),
        ("-9223372036854775808", .int(.min), nil),
        ("1.0", 1.0, nil),
        ("1.50", 1.5, "1.5"),
        ("-0.0", -0.0, nil),
        ("1e3", 1000.0, "1000.0"),
        ("1E+3", 1000.0, "1000.0"),
        ("1e-7", 1e-07, "1e-07"),
        ("1e23", 1e23, "1e+23"),
        ("5e-324", .double(.leastNonzeroMagnitude), nil),
        ("1e-400", 0.0, "0.0"),
        ("0.1", 0.1, nil),
        (#"{"$double":"nan"}"#, .double(.nan), nil),
        (#"{"$double":"inf"}"#, .double(.infinity), nil),
        (#"{"$double":"-inf"}"#, .double(-.infinity), nil),
        (#"{"$base64":"AP8="}"#, .bytes([0x00, 0xff]), nil),
        (#"{"$base64":""}"#, .bytes([]), nil),
        (#"{"$base64":"+/+/"}"#, .bytes([0xfb, 0xff, 0xbf]), nil),
        (#"{"$base64":"AA=="}"#, .bytes([0]), nil),
        (
            #"{"$uuid":"01234567-89AB-CDEF-FEDC-BA9876543210"}"#,
            .uuid(TupleUUID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)),
            #"{"$uuid":"01234567-89ab-cdef-fedc-ba9876543210"}"#
        ),
        (#"{"$$base64":"x"}"#, ["$base64": "x"], nil),
        (#"{"$$$a":1}"#, ["$$a": 1], nil),
        (#"{"$a":1,"$b":2}"#, ["$a": 1, "$b": 2], nil),
        (#"{"$base64":1,"b":{"$$x":{"$$y":1}}}"#, ["$base64": 1, "b": ["$x": ["$y": 1]]], nil),
        (#""""#, "", nil),
        (#""é🔥\u007f""#, "é🔥\u{7f}", #""é🔥\u007f""#),
        (
            #""\u009b2J\u202eé\u061c\u2028¡–\u001b""#, "\u{9b}2J\u{202e}é\u{61c}\u{2028}¡–\u{1b}",
            #""\u009b2J\u202eé\u061c\u2028¡–\u001b""#
        ),
        (#""\u00e9\uD83D\uDD25\ufffe""#, "é🔥\u{fffe}", "\"é🔥\u{fffe}\""),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t", #""\"\\/\b\f\n\r\t""#),
        (#""\u0000\u001F\u000b""#, "\0\u{1f}\u{b}", #""\u0000\u001f\u000b""#),
        (#""?int""#, "?int", nil),
        (#""$x""#, "$x", nil),
        ("[]", [], nil),
        ("{}", [:], nil),
        (
            " [ 1 , [ ] ,\t{ \"b\" : 1 ,\r\n\"a\" : null } ] ", [1, [], ["a": .null, "b": 1]],
            #"[1,[],{"a":null,"b":1}]"#
        ),
    ]

    @Test(arguments: readings)
    func reads(_ text: String, _ value: Value, _ written: String?) throws {
        #expect(try Value(json: text) == value)
        #expect(value.json == written ?? text)
        #expect(try Value(json: value.json) == value)
    }

    /// Text that is refused, why, and where.
    static let refusals: [(text: String, reason: String)] = [
        ("", "expected a value, found the end (line 1, column 1)"),
        ("  \n ", "expected a value, found the end (line 2, column 2)"),
        ("nul", "expected null, found the end"),
        ("nil", "expected null, found \"i\""),
        ("True", "expected a value, found \"T\""),
        ("1 2", "expected nothing after the value, found \"2\" (line 1, column 3)"),
        ("[1]]", "expected nothing after the value"),
        ("[1,]", "expected a value, found \"]\" (line 1, column 4)"),
        ("[1", "expected \",\" or \"]\", found the end"),
        ("[1 2]", "expected \",\" or \"]\", found \"2\""),
        ("{\"a\"}", "expected \":\""),
        ("{\"a\":1,}", "expected a name in quotation marks"),
        ("{a:1}", "expected a name in quotation marks"),
        ("{\"a\":1", "expected \",\" or \"}\""),
        ("01", "a malformed number"),
        ("-", "a malformed number"),
        ("+1", "expected a value"),
        (".5", "expected a value"),
        ("1.", "a malformed number"),
        ("1e", "a malformed number"),
        ("1e+", "a malformed number"),
        ("0x10", "expected nothing after the value"),
        ("NaN", "expected a value"),
        ("1e400", "beyond the range of doubles"),
        ("9223372036854775808", "an integer beyond 64 bits"),
        ("-9223372036854775809", "an integer beyond 64 bits"),
        ("[\"é\",\n \"ü\", 99999999999999999999]", "an integer beyond 64 bits (line 2, column 7)"),
        ("\"abc", "a string without its end (line 1, column 1)"),
        ("\"a\nb\"", "a control character in a string"),
        ("\"a\0b\"", "a control character in a string"),
        (#""\x""#, "an unknown escape"),
        (#""\"#, "expected an escape, found the end"),
        (#""\u12""#, "expected four hexadecimal digits"),
        (#""\u12g4""#, "expected four hexadecimal digits"),
        (#""\ud83d""#, "a lone surrogate"),
        (#""\ud83dx""#, "a lone surrogate"),
        (#""\ud83d\n""#, "a lone surrogate"),
        (#""\ud83d\u0041""#, "a lone surrogate"),
        (#""\ud83d\ud83d""#, "a lone surrogate"),
        (#""\udd25""#, "a lone surrogate"),
        (#"{"a":1,"a":2}"#, "the name \"a\" occurs twice (line 1, column 8)"),
        (#"{"a":1,"\u0061":2}"#, "occurs twice"),
        (#"{"b":{"x":1,"y":2,"x":3}}"#, "the name \"x\" occurs twice (line 1, column 19)"),
        (#"{"$base64":"AP8"}"#, "expected base64"),
        (#"{"$base64":"AP9="}"#, "expected base64"),
        (#"{"$base64":"A==="}"#, "expected base64"),
        (#"{"$base64":"===="}"#, "expected base64"),
        (#"{"$base64":"A=A="}"#, "expected base64"),
        (#"{"$base64":"AP8=AP8="}"#, "expected base64"),
        (#"{"$base64":"AP-_"}"#, "expected base64"),
        (#"{"$base64":" AP8="}"#, "expected base64"),
        (#"{"$base64":1}"#, "expected a string for $base64"),
        (#"{"$uuid":"123"}"#, "expected a UUID"),
        (#"{"$double":"NaN"}"#, "expected \"nan\", \"inf\" or \"-inf\""),
        (#"{"$double":1.0}"#, "expected a string for $double"),
        (#"{"$int":"1"}"#, "unknown form \"$int\""),
        (#"{"$":1}"#, "unknown form \"$\""),
        ("$x", "no argument is called $x"),
        ("$", "expected the name of an argument"),
        ("$1", "expected the name of an argument"),
        ("\u{feff}[]", "a byte order mark"),
        ("// x\n1", "expected a value"),
        ("\u{a0}1", "expected a value, found other text"),
    ]

    @Test(arguments: refusals)
    func refuses(_ text: String, _ reason: String) {
        let error = #expect(throws: TupleCodingError.self) { try Value(json: text) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func refusesWhatIsNotUTF8() {
        let error = #expect(throws: TupleCodingError.self) {
            try Value(json: Array("[1,\"".utf8) + [0xff, 0x22, 0x5d])
        }
        #expect(error?.description == "the text is not UTF-8 (line 1, column 5)")
        #expect(throws: TupleCodingError.self) { try Tuple(json: [0x5b, 0x22, 0xed, 0xa0, 0xbd, 0x22, 0x5d]) }
    }

    @Test func namesThatSwiftTakesForEqualDiffer() throws {
        let value = try Value(json: "{\"é\":1,\"e\u{301}\":2}")
        #expect(value == ["é": 1, "e\u{301}": 2])
        #expect(value.json == "{\"e\u{301}\":2,\"é\":1}")
    }

    @Test func depthIsLimited() throws {
        func nested(_ depth: Int, in open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        let limit = TupleLimits.maximumDepth
        _ = try Value(json: nested(limit, in: "[", "]"))
        _ = try Value(json: nested(limit, in: "{\"a\":", "}"))
        // A tuple's own array is no level of its encoding; a record is one.
        _ = try Tuple(json: nested(limit + 1, in: "[", "]"))
        _ = try Tuple(json: nested(limit, in: "{\"a\":", "}"))
        for text in [
            nested(limit + 1, in: "[", "]"), nested(limit + 1, in: "{\"a\":", "}"), nested(100_000, in: "[", "]"),
        ] {
            let error = #expect(throws: TupleCodingError.self) { try Value(json: text) }
            #expect(error?.code == .tooDeep)
        }
        #expect(throws: TupleCodingError.self) { try Tuple(json: nested(limit + 1, in: "{\"a\":", "}")) }
        #expect(throws: TupleCodingError.self) { try Tuple(json: nested(limit + 2, in: "[", "]")) }
        #expect(throws: TupleCodingError.self) { try Template(json: nested(limit + 2, in: "[", "]")) }
        // Nor are the braces of bytes, doubles and UUIDs a level.
        let braces =
            String(repeating: "[", count: limit) + #"{"$base64":"AA=="}"# + String(repeating: "]", count: limit)
        #expect(try Value(json: braces).json == braces)
        #expect(try Tuple(json: "[\(braces)]").json == "[\(braces)]")
        // Arguments bring their own depth.
        let deep = try Value(json: nested(limit, in: "[", "]"))
        _ = try Tuple(json: "[$deep]", arguments: ["deep": deep])
        #expect(throws: TupleCodingError.self) { try Value(json: "[$deep]", arguments: ["deep": deep]) }
        #expect(throws: TupleCodingError.self) { try Tuple(json: "[[$deep]]", arguments: ["deep": deep]) }
        #expect(throws: TupleCodingError.self) { try Template(json: "[[$deep]]", arguments: ["deep": deep]) }
        #expect(throws: TupleCodingError.self) { try Template(json: "{\"a\":$deep}", arguments: ["deep": deep]) }
    }

    @Test func tuplesAreArraysOrObjects() throws {
        #expect(try Tuple(json: #"["resize",42,"cat.png"]"#) == ["resize", 42, "cat.png"])
        #expect(try Tuple(json: #"{"kind":"resize","id":42}"#) == ["id": 42, "kind": "resize"])
        #expect(try Tuple(json: "[]").json == "[]")
        #expect(try Tuple(json: "{}").json == "{}")
        #expect(try Tuple(json: "{}") != Tuple(json: "[]"))
        #expect(try Tuple(json: "[{}]") != Tuple(json: "{}"))
        #expect(try Tuple(json: #"{"$$x":1}"#) == ["$x": 1])
        #expect(try Tuple(json: #"["?", "?int"]"#) == ["?", "?int"])
        for text in ["1", "\"x\"", "null", #"{"$base64":"AP8="}"#, #"{"$double":"nan"}"#, "\"?\""] {
            let error = #expect(throws: TupleCodingError.self) { try Tuple(json: text) }
            #expect(error?.description == "a tuple is an array of fields or an object (line 1, column 1)")
        }
    }

    @Test func argumentsAreValues() throws {
        let arguments: [String: Value] = ["name": "?int", "_n1": [1, "?"], "o": ["a": 1]]
        #expect(try Tuple(json: "[$name,{\"x\":$_n1}]", arguments: arguments) == ["?int", ["x": [1, "?"]] as Value])
        #expect(try Tuple(json: " $_n1 ", arguments: arguments) == [1, "?"])
        #expect(try Tuple(json: "$o", arguments: arguments) == ["a": 1])
        #expect(try Tuple(json: "[\"$name\"]", arguments: arguments) == ["$name"])
        #expect(throws: TupleCodingError.self) { try Tuple(json: "[$nam]", arguments: arguments) }
        #expect(throws: TupleCodingError.self) { try Tuple(json: "[$names]", arguments: arguments) }
        #expect(throws: TupleCodingError.self) { try Tuple(json: "{$name:1}", arguments: arguments) }
        #expect(throws: TupleCodingError.self) { try Tuple(json: "$name", arguments: arguments) }
    }

    @Test func roundTrips() throws {
        var random = RandomValues(seed: 4)
        for _ in 0..<2_000 {
            let tuple = random.tuple()
            // A NaN's sign is not written.
            let hasOtherNaN = tuple.json.contains("\"nan\"")
            let read = try Tuple(json: tuple.json)
            #expect(hasOtherNaN || read == tuple)
            #expect(read.json == tuple.json)
            #expect(!tuple.json.utf8.contains { $0 < 0x20 })
        }
    }

    @Test func doublesReadBackAsTheSame() throws {
        var random = RandomValues(seed: 5)
        for _ in 0..<2_000 {
            let double = Double(bitPattern: random.generator.next())
            guard double.isFinite else { continue }
            let read = try Value(json: Value.double(double).json)
            #expect(read == .double(double))
        }
    }
}
