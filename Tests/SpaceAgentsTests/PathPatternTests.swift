import SeededRandom
import Testing

@testable import SpaceAgents

@Suite("Patterns of paths")
struct PathPatternTests {
    @Test(
        "Two patterns overlap if a file could be in both",
        arguments: [
            ("src/**", "src/a.swift", true), ("src/**", "src/b/c/d.swift", true), ("src/**", "src", true),
            ("src/**", "srcs/a", false), ("src", "src/a/b", true), ("src/*", "src/a/b", false),
            ("src/*", "src/a", true),
            ("*.swift", "a*", true), ("*.swift", "*.c", false), ("a?c", "abc", true), ("a?c", "ac", false),
            ("**/x", "x", true), ("**/x", "a/b/x", true), ("**/x", "a/b/y*", false), ("a/**/b", "a/b", true),
            ("a/**/b", "**/c/*", true), ("**", "anything/at/all", true), ("a/b", "a/c", false),
            ("app/[id]/page.tsx", "app/[id]/page.tsx", true), ("app/[id]/page.tsx", "app/i/page.tsx", false),
            ("./a//b", "a/b", true), ("a*b*c", "a?b?c", true), ("/etc/hosts", "etc/hosts", false),
            ("**", "/etc/hosts", false),
        ] as [(String, String, Bool)]
    )
    func overlaps(_ left: String, _ right: String, _ expected: Bool) {
        #expect(PathPattern(left).overlaps(PathPattern(right)) == expected)
        #expect(PathPattern(right).overlaps(PathPattern(left)) == expected)
    }

    @Test("In the path of a file nothing is a wildcard")
    func literal() {
        let star = PathPattern("src/*.swift", isLiteral: true)
        #expect(star.overlaps(PathPattern("src/*.swift")))
        #expect(!star.overlaps(PathPattern("src/a.swift")))
        #expect(!PathPattern("a", isLiteral: true).overlaps(PathPattern("a/b", isLiteral: true)))
    }

    @Test("Patterns overlap as the files say that they match, of all short paths", arguments: [1 as UInt64, 2, 3])
    func model(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let names = ["a", "b", "ab"]
        var paths: [String] = []
        for one in names {
            paths.append(one)
            for two in names {
                paths.append("\(one)/\(two)")
                for three in names { paths.append("\(one)/\(two)/\(three)") }
            }
        }
        let parts = ["a", "b", "ab", "*", "?", "a*", "**", "?b"]
        for _ in 0..<300 {
            func pattern() -> String {
                (0..<Int.random(in: 1...3, using: &random)).map { _ in parts.randomElement(using: &random)! }
                    .joined(separator: "/")
            }
            let (left, right) = (pattern(), pattern())
            let (one, other) = (PathPattern(left), PathPattern(right))
            let isShared = paths.contains { path in
                let file = PathPattern(path, isLiteral: true)
                return one.overlaps(file) && other.overlaps(file)
            }
            // Longer files than those of the model may be in both too.
            if isShared { #expect(one.overlaps(other), "\(left) and \(right), seed \(seed)") }
            if !one.overlaps(other) { #expect(!isShared, "\(left) and \(right), seed \(seed)") }
        }
    }
}
