import Testing

@testable import TupleCoding

/// The search for a regular expression: it finds what Swift's `Regex` finds, within a bound of steps.
@Suite(.timeLimit(.minutes(2)))
struct PatternTests {
    private static let strings = [
        "", "a", "b", "A", "é", "É", "1", " ", "\n", "_", "-", ".", "ab", "ba", "abc", "a b", "a\nb", "ab\n", "a.b",
        "aaa",
        "x1y", "cat.png", "CAT", "a\tb", "{", "]", "12.5", "föö", "e\u{301}",
    ]

    @Test(arguments: [
        "a", "^a", "a$", "^$", "^a$", "a|b", "a*", "a+b", "a?b", "(ab)+", "(?:a|b){2}", "a{2}", "a{1,2}b", "a{2,}", ".",
        "..",
        "\\.", "\\d", "\\D", "\\w+", "\\W", "\\s", "\\S", "\\h", "\\v", "\\n", "\\t", "[ab]", "[^a]", "[a-c]",
        "[a\\-c]", "[.]", "[\\w&&[^a]]", "[a-c--b]", "[[:alpha:]]", "[[:digit:]]", "\\p{L}", "\\P{L}", "\\p{Lu}",
        "\\x41",
        "\\u00e9", "(?i)A", "(?i:[^a])", "(?i)é", "(?s).$", "(?s)a.b", "(?m)^b", "(?m)a$", "(?x) a b ", "a(?i)b|C",
        "\\Aa",
        "b\\z", "b\\Z", "\\Qa.b\\E", "(?<n>a)b", "a*?b", "(a*)*", "{", "]",
    ])
    func findsWhatRegexFinds(_ source: String) throws {
        let regex = try Regex(source).matchingSemantics(.unicodeScalar)
        let pattern = try Pattern(source)
        for string in Self.strings {
            let isFound = try regex.firstMatch(in: string) != nil
            #expect(pattern.isFound(in: string) == isFound, "in \(string.debugDescription)")
        }
    }

    /// Searches that go back take longer than the universe exists.
    @Test(arguments: ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"])
    func noExpressionTakesLong(_ source: String) throws {
        let string = String(repeating: source.hasPrefix("(x") ? "x" : "a", count: 5000) + "!"
        #expect(try !Pattern(source).isFound(in: string))
    }

    @Test func aSearchThatTakesTooManyStepsIsGivenUp() throws {
        let pattern = try Pattern("(a?){1000}b")
        #expect(!pattern.isFound(in: String(repeating: "a", count: 100)))
        #expect(!pattern.takeGivenUp())
        #expect(!pattern.isFound(in: String(repeating: "a", count: 50_000)))
        #expect(pattern.takeGivenUp())
        #expect(!pattern.takeGivenUp())
    }

    @Test(arguments: [
        "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)", "a++", "a*+", "(a)\\1", "(?<n>a)\\k<n>", "\\X",
        "\\p{Script=Greek}",
        "(a{100}){100}",
    ])
    func whatHasNoBoundIsRefused(_ source: String) throws {
        let error = #expect(throws: TupleCodingError.self) { try Pattern(source) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("regular expression"))
    }
}
