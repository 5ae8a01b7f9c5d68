import Testing
import TupleCoding

/// The JSON form of templates.
@Suite struct TemplateJSONTests {
    /// A template, tuples that it matches, and tuples that it doesn't.
    private static let infinity = #"[{"$double":"inf"}]"#

    static let matchings: [(template: String, matches: [String], not: [String])] = [
        (#""?""#, ["[]", "{}", "[1]", #"{"a":1}"#], []),
        ("[]", ["[]"], ["[1]", "{}", "[[]]", "[null]"]),
        (#"["?"]"#, ["[1]", "[null]", "[[]]", "[{}]"], ["[]", "[1,2]", "{}", #"{"a":1}"#]),
        (#"["?int"]"#, ["[1]", "[-1]"], ["[1.0]", #"["1"]"#, "[null]", "[true]"]),
        (#"["?double"]"#, ["[1.0]", #"[{"$double":"nan"}]"#], ["[1]", "[null]"]),
        (#"["?string"]"#, [#"["x"]"#, #"[""]"#], ["[1]", #"[{"$base64":""}]"#]),
        (#"["?bool"]"#, ["[true]", "[false]"], ["[0]", "[null]"]),
        (#"["?bytes"]"#, [#"[{"$base64":"AP8="}]"#], [#"["AP8="]"#]),
        (#"["?uuid"]"#, [#"[{"$uuid":"01234567-89ab-cdef-fedc-ba9876543210"}]"#], ["[1]"]),
        (#"["?array"]"#, ["[[]]", "[[1]]"], ["[{}]", "[1]"]),
        (#"["?object"]"#, ["[{}]", #"[{"a":1}]"#], ["[[]]", "{}", #"{"a":1}"#]),
        ("[null]", ["[null]"], ["[0]", "[]", "[false]"]),
        (
            #"["resize","?int","?"]"#, [#"["resize",1,null]"#],
            [#"["resize",1]"#, #"["resized",1,2]"#, #"["resize","1",2]"#]
        ),
        // Ranges.
        (#"["?1...9"]"#, ["[1]", "[5]", "[9]"], ["[0]", "[10]", "[5.0]", #"["5"]"#]),
        (#"["?1..<9"]"#, ["[1]", "[8]"], ["[0]", "[9]"]),
        (#"["?-5...-1"]"#, ["[-5]", "[-1]"], ["[-6]", "[0]"]),
        (#"["?0.5..<1"]"#, ["[0.5]", "[0.99]"], ["[1.0]", "[0.4]", "[1]"]),
        (#"["?1...2.0"]"#, ["[1.0]", "[1.5]", "[2.0]"], ["[1]", "[2]"]),
        (#"["?0.0..."]"#, ["[0.0]", #"[{"$double":"inf"}]"#], ["[-0.0]", "[-1.0]", "[1]"]),
        (#"["?1e2...1e3"]"#, ["[100.0]", "[1000.0]"], ["[500]"]),
        (#"["?a...f"]"#, [#"["a"]"#, #"["b"]"#, #"["ezzz"]"#, #"["f"]"#], [#"["fa"]"#, #"["A"]"#, #"[""]"#, "[1]"]),
        (#"["?a..<f"]"#, [#"["a"]"#, #"["ezzz"]"#], [#"["f"]"#]),
        (#"["?1...f"]"#, [#"["1"]"#, #"["5"]"#, #"["a"]"#], ["[1]", #"["0"]"#]),
        (#"["?5..."]"#, ["[5]", "[9223372036854775807]"], ["[4]", "[5.0]"]),
        (#"["?...9"]"#, ["[9]", "[-9223372036854775808]"], ["[10]"]),
        (#"["?..<9"]"#, ["[8]"], ["[9]"]),
        (#"["?..<m"]"#, [#"["a"]"#, #"[""]"#], [#"["m"]"#]),
        (#"["?5..<5"]"#, [], ["[5]", "[4]"]),
        (#"["?01...02"]"#, [#"["01"]"#, #"["015"]"#], ["[1]"]),
        // Regular expressions.
        (#"["?/^cat/"]"#, [#"["cat.png"]"#], [#"["a cat"]"#, "[1]", "[null]"]),
        (#"["?/at/"]"#, [#"["a cat"]"#], [#"["dog"]"#]),
        (#"["?/a/b/"]"#, [#"["xa/by"]"#], [#"["ab"]"#]),
        (#"["?//"]"#, [#"[""]"#, #"["x"]"#], ["[1]"]),
        (#"["?/\\.png$/"]"#, [#"["cat.png"]"#], [#"["cat_png"]"#]),
        (#"["?/^.$/"]"#, [#"["é"]"#], ["[\"e\u{301}\"]"]),
        // Strings that begin with ?.
        (#"["??x"]"#, [#"["?x"]"#], [#"["??x"]"#, #"["x"]"#]),
        (#"["??"]"#, [#"["?"]"#], [#"["x"]"#, #"["??"]"#]),
        (#"["???int"]"#, [#"["??int"]"#], []),
        // At any depth.
        (
            #"[["?int",{"a":"?"}],1]"#, [#"[[1,{"a":null}],1]"#, #"[[1,{"a":0,"b":1}],1]"#],
            ["[[1],1]", #"[[1,{"b":1}],1]"#]
        ),
        (#"{"a":["?5..."]}"#, [#"{"a":[5]}"#, #"{"a":[5],"b":1}"#], [#"{"a":[4]}"#, #"{"a":[5,5]}"#]),
        // Objects: their least contents.
        ("{}", ["{}", #"{"a":1}"#], ["[]", "[{}]"]),
        (#"{"b":2}"#, [#"{"b":2}"#, #"{"a":1,"b":2,"c":3}"#], [#"{"b":3}"#, #"{"a":2}"#, "{}", #"[{"b":2}]"#]),
        (#"{"a":null}"#, [#"{"a":null}"#], [#"{"b":1}"#, "{}"]),
        (#"{"a":{"x":1}}"#, [#"{"a":{"x":1,"y":2}}"#], [#"{"a":{"y":2}}"#, #"{"a":1}"#]),
        (#"[{"x":1}]"#, [#"[{"x":1}]"#, #"[{"w":0,"x":1,"y":2}]"#], ["[{}]", #"[{"x":2}]"#]),
        (#"{"$$x":1}"#, [#"{"$$x":1}"#, #"{"$x":1,"y":2}"#], [#"{"x":1}"#]),
        (#"[{"$base64":"AP8="}]"#, [#"[{"$base64":"AP8="}]"#], [#"[{"$base64":"AA=="}]"#]),
        ("{\"é\":1}", ["{\"é\":1}"], ["{\"e\u{301}\":1}"]),
        // Infinity as a bound.
        (
            #"["?0.5...1e999"]"#, ["[0.5]", "[1.7e308]", infinity],
            ["[0.25]", "[1]", #"["1"]"#, #"[{"$double":"nan"}]"#]
        ),
        (#"["?1..<1e999"]"#, ["[1.0]", "[1.7e308]"], [infinity, "[1]"]),
        (#"["?-1e999...0.5"]"#, [#"[{"$double":"-inf"}]"#, "[-1.7e308]", "[0.5]"], ["[0.75]", "[-1]"]),
        (#"["?1e999..."]"#, [infinity], ["[1.7e308]"]),
        (#"["?0.5...inf"]"#, [#"["0.75"]"#, #"["inf"]"#], ["[0.75]", infinity]),
        // Prefixes of one another, with NUL inside.
        (#"["a","?"]"#, [#"["a",1]"#], [#"["a\u0000b",1]"#, #"["ab",1]"#]),
        (#"["a\u0000","?"]"#, [#"["a\u0000",1]"#], [#"["a",1]"#, #"["a\u0000\u0000",1]"#]),
    ]

    @Test(arguments: matchings)
    func matches(_ text: String, _ matches: [String], _ not: [String]) throws {
        let template = try Template(json: text)
        // Written and read again, the template matches the same tuples.
        for template in [template, try Template(json: template.json)] {
            for tuple in matches {
                #expect(template.matches(try Tuple(json: tuple)), "\(template) should match \(tuple)")
            }
            for tuple in not {
                #expect(!template.matches(try Tuple(json: tuple)), "\(template) shouldn't match \(tuple)")
            }
        }
    }

    static let exact: [(template: String, matches: [String], not: [String])] = [
        (#""?""#, ["[]", #"{"a":1}"#], []),
        ("{}", ["{}"], [#"{"a":1}"#]),
        (#"{"b":2}"#, [#"{"b":2}"#], [#"{"a":1,"b":2}"#, #"{"b":2,"c":3}"#]),
        (#"{"b":"?"}"#, [#"{"b":2}"#], [#"{"a":1,"b":2}"#, #"{"b":2,"c":3}"#]),
        (#"{"a":{"x":1}}"#, [#"{"a":{"x":1}}"#], [#"{"a":{"x":1,"y":2}}"#]),
        (
            #"[{"x":"?"},[{"y":1}]]"#, [#"[{"x":5},[{"y":1}]]"#],
            [#"[{"x":5,"z":1},[{"y":1}]]"#, #"[{"x":5},[{"y":1,"z":1}]]"#]
        ),
    ]

    @Test(arguments: exact)
    func matchesExactly(_ text: String, _ matches: [String], _ not: [String]) throws {
        let exact = try Template(json: text, exactly: true)
        let loose = try Template(json: text)
        for template in [exact, loose.exactly()] {
            for tuple in matches { #expect(template.matches(try Tuple(json: tuple)), "\(tuple)") }
            for tuple in not {
                #expect(!template.matches(try Tuple(json: tuple)), "\(tuple)")
                #expect(loose.matches(try Tuple(json: tuple)), "without the option it matches")
            }
        }
    }

    static let refusals: [(text: String, reason: String)] = [
        (#"["?number"]"#, "unknown formal \"?number\""),
        (#"["?Int"]"#, "unknown formal"),
        (#"["? "]"#, "unknown formal"),
        (#"["?int "]"#, "unknown formal"),
        (#"[1,"?x"]"#, "(line 1, column 4)"),
        (#"["?1..9"]"#, "unknown formal"),
        (#"["?1....9"]"#, "it isn't clear"),
        (#"["?a...b...c"]"#, "it isn't clear"),
        (#"["?...", 1]"#, "stands only as the last element"),
        (#"[["?...", "?"], 1]"#, "stands only as the last element"),
        (#"{"a": "?..."}"#, "stands only as the last element"),
        (#"["?..<"]"#, "a range without bounds"),
        (#"["?9...1"]"#, "the wrong way round"),
        (#"["?1.5..<1"]"#, "the wrong way round"),
        (#"["?b...a"]"#, "the wrong way round"),
        (#"["?0.0...-0.0"]"#, "the wrong way round"),
        (#"["?1...99999999999999999999"]"#, "beyond 64 bits"),
        (#"["?/("]"#, "ends with /"),
        (#"["?/"]"#, "ends with /"),
        (#"["?/a/i"]"#, "ends with /"),
        (#"["?/(/"]"#, "not a regular expression"),
        (#"["?/[z-a]/"]"#, "not a regular expression"),
        (#"{"a":1,"a":"?"}"#, "occurs twice"),
        (#"{"$base64":"?"}"#, "expected base64"),
        (#"{"$base64":"AP8="}"#, "a template is an array, an object or \"?\""),
        (#""?int""#, "a template is an array, an object or \"?\""),
        (#""x""#, "a template is an array, an object or \"?\""),
        ("1", "a template is an array, an object or \"?\""),
        ("[1", "found the end"),
    ]

    @Test(arguments: refusals)
    func refuses(_ text: String, _ reason: String) {
        let error = #expect(throws: TupleCodingError.self) { try Template(json: text) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func patternsAreBounded() throws {
        let long = String(repeating: "a", count: TupleLimits.maximumPatternLength)
        _ = try Pattern(long)
        #expect(throws: TupleCodingError.self) { try Pattern(long + "a") }
        let deep = TupleLimits.maximumPatternDepth + 1
        #expect(throws: TupleCodingError.self) {
            try Pattern(String(repeating: "(", count: deep) + String(repeating: ")", count: deep))
        }
    }

    @Test func literalsHaveNoFormals() throws {
        let template = try Template(json: #"["?","?int","?x"]"#, literal: true)
        #expect(template.matches(["?", "?int", "?x"]))
        #expect(!template.matches(["a", 1, "?x"]))
        let record = try Template(json: #"{"a":{"b":"?"}}"#, literal: true)
        #expect(record.matches(try Tuple(json: #"{"a":{"b":"?"}}"#)))
        #expect(!record.matches(try Tuple(json: #"{"a":{"b":"?"},"c":1}"#)))
    }

    @Test func argumentsAreNeverFormals() throws {
        let arguments: [String: Value] = ["s": "?int", "a": ["?", 1], "o": ["k": "?"]]
        let template = try Template(json: #"[$s,"?int",$a,$o]"#, arguments: arguments)
        #expect(template.matches(try Tuple(json: #"["?int",5,["?",1],{"k":"?"}]"#)))
        #expect(
            template.matches(try Tuple(json: #"["?int",5,["?",1],{"k":"?","l":1}]"#)),
            "an object, as if written there"
        )
        #expect(!template.matches(try Tuple(json: #"[7,5,["?",1],{"k":"?"}]"#)))
        #expect(!template.matches(try Tuple(json: #"["?int",5,["x",1],{"k":"?"}]"#)))
        #expect(!template.matches(try Tuple(json: #"["?int",5,["?",1],{"k":"x"}]"#)))
        #expect(try Template(json: "$a", arguments: arguments).matches(["?", 1]))
        #expect(try Template(json: "$o", arguments: arguments).matches(["k": "?"]))
        #expect(throws: TupleCodingError.self) { try Template(json: "$s", arguments: ["s": "?"]) }
        #expect(throws: TupleCodingError.self) { try Template(json: "[$t]", arguments: arguments) }
    }

    @Test func writesWhatItReads() throws {
        for text in [
            #""?""#, "[]", "{}", #"["resize","?","?40..<50",null]"#, #"["??x","??","???"]"#,
            #"["?int","?double","?string","?bool","?bytes","?uuid","?array","?object"]"#,
            #"["?1...9","?0.5..<1.0","?a...f","?5...","?...9","?..<9","?a...","?..<é"]"#,
            #"["?/^cat/","?/a\\/b/"]"#, #"{"a":["?",{"b":"?/x/"}],"b":{"$$x":"?int"}}"#,
            #"[[null,"?"],{"n":null,"o":"?"}]"#,
            #"[1,1.0,{"$base64":"AP8="},{"$double":"nan"}]"#,
        ] {
            #expect(try Template(json: text).json == text)
        }
    }

    @Test func widensWhatTheFormHasNoWordsFor() {
        let template: Template = [
            any([Int].self), any(UInt8.self), any(Int?.self), any([String: Int].self), any(Tuple.self), "a..."..."b",
            "1"..."2",
            0.5...Double.infinity, "/a"..., UInt8(7)..., Int8(-5)..<6,
        ]
        #expect(
            template.json
                == #"["?array","?0...255","?","?object","?","?string","?string","?0.5...1e999","?string","?7...255","?-5..<6"]"#
        )
    }
}
