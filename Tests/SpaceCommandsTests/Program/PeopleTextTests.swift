import Testing
import TupleCoding

@testable import SpaceCommands

@Suite("Text for people")
struct PeopleTextTests {
    @Test("Control characters are escaped")
    func escapes() {
        #expect(PeopleText.escaped("a\u{1B}[2J\n\u{9B}\u{7F}\u{202E}é✓") == "a\\u001b[2J\\n\\u009b\\u007f\\u202eé✓")
        #expect(PeopleText.escaped("plain") == "plain")
    }

    @Test("Columns are aligned, and their entries escaped")
    func table() {
        #expect(PeopleText.table([["A", "LONG", "C"], ["bbb", "x\n", "y"]]) == ["A    LONG  C", "bbb  x\\n   y"])
        #expect(PeopleText.table([]) == [])
    }

    @Test("Characters that are two columns wide count as two")
    func widths() {
        #expect(PeopleText.columns(of: "abc") == 3)
        #expect(PeopleText.columns(of: "日本é👍e\u{301}") == 8)
        #expect(PeopleText.table([["日本", "x"], ["abcdef", "y"]]) == ["日本    x", "abcdef  y"])
        #expect(PeopleText.shortened("日本語", to: 6) == "日本語")
        #expect(PeopleText.shortened("日本語", to: 5) == "日本…")
        #expect(PeopleText.shortened("abc", to: 0) == "…")
    }

    @Test("Long lines are broken at spaces, and words without one where the line ends")
    func wrapping() {
        #expect(PeopleText.wrapped("one two three", to: 9) == ["one two", "  three"])
        #expect(PeopleText.wrapped("abcdefgh", to: 4) == ["abcd", "  ef", "  gh"])
        #expect(PeopleText.wrapped("日本語", to: 1) == ["日", "  本", "  語"])
        #expect(PeopleText.wrapped("", to: 4) == [])
    }

    @Test(
        "Sizes have units",
        arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (4_404_224, "4.2 MiB"), (64 << 30, "64.0 GiB")]
    )
    func sizes(_ bytes: Int, expected: String) {
        #expect(PeopleText.bytes(bytes) == expected)
        #expect(PeopleText.bytes(.max) == "7.9 EiB" || PeopleText.bytes(.max) == "8.0 EiB")
    }

    @Test("Times are relative to now")
    func times() {
        #expect(PeopleText.relative(1000, to: 1500) == "just now")
        #expect(PeopleText.relative(0, to: 12_000) == "12s ago")
        #expect(PeopleText.relative(200_000, to: 0) == "in 3m")
        #expect(PeopleText.relative(.min, to: .max) == "unknown")
    }

    @Test("Objects keep the order of their keys, and JSON's rules")
    func objects() {
        var object: JSONObject = [
            "z": "a\"\u{1}", "a": 7, "none": nil as String?, "yes": true, "list": [JSONObject](),
            "out": (nil as Int?).orLeftOut, "no": false.orLeftOut, "empty": "".orLeftOut, "in": [1, 2].orLeftOut,
        ]
        object.add([:])
        object.add(["last": "b"])
        #expect(
            object.json == #"{"z":"a\"\u0001","a":7,"none":null,"yes":true,"list":[],"in":[1,2],"last":"b"}"#
        )
    }
}
