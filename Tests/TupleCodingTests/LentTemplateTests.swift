import Testing
import TupleCoding

/// The form that a call lends on its stack matches what the form of a selection matches.
@Suite struct LentTemplateTests {
    private static let long = String(repeating: "job", count: 100)

    private static let tuples: [Tuple] = [
        [], ["job"], ["job", 1], ["job", 1, "a"], ["job", 300, "a"], ["job", "1", "a"], ["job", 1, .null],
        ["jo", 1, "a"], ["job\0", 1, "a"], ["job", 1, Value.array(["x", 1])], ["job", 1, ["x", "y"]],
        ["job", 1, "a", "b"], ["job", 1, "a", "b", 2, "c"], [1, "job", "a"], [long, 1, "a"],
        ["job": 1], ["a": "job", "b": 1, "c": "a"],
    ]

    private func lend<each M: Matcher, Result>(
        _ matcher: repeat each M,
        to body: (TemplateForm) throws(TupleCodingError) -> Result
    ) throws(TupleCodingError) -> Result {
        try TemplateForm.lend(repeat each matcher, refusal: { $0 }, to: body)
    }

    private func agree<each M: Matcher>(_ matcher: repeat each M) throws {
        let kept = try TemplateForm(checking: repeat each matcher)
        try lend(repeat each matcher) { (lent) throws(TupleCodingError) in
            #expect(lent.shape == kept.shape)
            #expect(lent.boundHash == kept.boundHash)
            #expect(lent.json == kept.json)
            #expect(lent.usesPattern == kept.usesPattern)
            for tuple in Self.tuples {
                tuple.withEncoded { encoded in
                    let isMatched = lent.matches(encoded)
                    #expect(isMatched == kept.matches(encoded), "\(tuple)")
                    if isMatched { #expect(encoded.hash(of: lent.shape) == lent.boundHash, "\(tuple)") }
                }
            }
        }
    }

    @Test func aLentFormMatchesAsAKeptOneDoes() throws {
        try agree()
        try agree("job")
        try agree("job", any(Int.self))
        try agree("job", any(Int.self), any(String.self))
        try agree("job", any(Int8.self), any(String?.self))
        try agree(any(String.self), 1, "a")
        try agree("job", 0..<5, try Pattern("^a$"))
        try agree("job", 1, Value.array(["x", 1]))
        try agree("job", 1, .any)
        try agree(Self.long, 1, "a")
        try agree("job\0", any(Int.self), "a")
        try agree("job", any(Int.self), any([Value].self))
        try agree("job", any(Int.self), "a", "b")
        try agree("job", 1, "a", "b", any(Int.self), .any)
        try agree("job", any(Int.self), .rest)
    }

    /// The first four fields lie in place, the others in an array.
    @Test func aLentFormMatchesFieldsBeyondTheFourth() throws {
        let tuple: Tuple = ["job", 1, "a", "b", 2, "c"]
        let isMatched = try lend("job", 1, "a", "b", any(Int.self), "c") { (form) in
            tuple.withEncoded { form.matches($0) }
        }
        #expect(isMatched)
        let isOther = try lend("job", 1, "a", "b", any(Int.self), "d") { (form) in
            tuple.withEncoded { form.matches($0) }
        }
        #expect(!isOther)
    }

    @Test func whatMakesNoTemplateIsNotLent() {
        let deep = (0...TupleLimits.maximumDepth).reduce(Value.null) { value, _ in .array([value]) }
        #expect(throws: TupleCodingError.self) { try lend("job", deep) { _ in Issue.record("it was lent") } }
        #expect(throws: TupleCodingError.self) { try lend(.rest, "job") { _ in Issue.record("it was lent") } }
    }
}
