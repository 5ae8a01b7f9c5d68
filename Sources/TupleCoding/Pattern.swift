import Synchronization

/// A regular expression as an element of a template: it matches strings in which it is found.
///
/// ```swift
/// let file = try Pattern(#"\.png$"#)
/// let (_, name) = try await jobs.take("resize", file)
/// ```
///
/// The syntax is that of Swift's `Regex`; letters compare as Unicode scalars, so that a composed and a decomposed "é"
/// differ here as everywhere. Searching has no time limit: an expression that backtracks much takes long.
public struct Pattern: Matcher, Hashable {
    /// The expression as it was written.
    public let source: String

    private let compiled: CompiledPattern

    /// Compiles an expression.
    ///
    /// - Throws: `TupleCodingError` when it is no regular expression, is longer than
    ///   ``TupleLimits/maximumPatternLength`` or nests deeper than ``TupleLimits/maximumPatternDepth``.
    public init(_ source: String) throws(TupleCodingError) {
        try Self.checkSize(source)
        self.source = source
        compiled = try CompiledPattern(source)
    }

    /// Whether the expression is found in `string`.
    package func isFound(in string: String) -> Bool {
        compiled.isFound(in: string)
    }

    /// Bounds what the compiler is given: it recurses into groups, and expressions come from the shell.
    private static func checkSize(_ source: String) throws(TupleCodingError) {
        guard source.utf8.count <= TupleLimits.maximumPatternLength else {
            throw TupleCodingError(
                .formal,
                "a regular expression is longer than \(TupleLimits.maximumPatternLength) bytes"
            )
        }
        // Escaped and closing brackets are counted too: a bound that is too strict for none that people write.
        var depth = 0
        for byte in source.utf8 {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth = max(0, depth - 1)
            default: break
            }
            guard depth <= TupleLimits.maximumPatternDepth else {
                throw TupleCodingError(
                    .formal,
                    "a regular expression nests deeper than \(TupleLimits.maximumPatternDepth) levels"
                )
            }
        }
    }

    /// Whether both were written alike.
    public static func == (left: Pattern, right: Pattern) -> Bool {
        left.source.compareUTF8(right.source) == 0
    }

    /// Feeds what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Value.string(source))
    }

    /// Adds the pattern to a template.
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendPattern(self)
    }

    /// Reads the matched string.
    public static func decodeMatched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> String {
        try decoder.decodeString()
    }
}

/// The expression, compiled once for all copies of a pattern.
///
/// `Regex` is not Sendable, since one that was built of parsers may hold any closure; the lock makes the question moot.
private final class CompiledPattern: Sendable {
    private let regex: Mutex<Regex<AnyRegexOutput>>

    init(_ source: String) throws(TupleCodingError) {
        do {
            regex = Mutex(try Regex(source).matchingSemantics(.unicodeScalar))
        } catch {
            throw TupleCodingError(.formal, "not a regular expression: \(error)")
        }
    }

    func isFound(in string: String) -> Bool {
        // A search throws only when a parser of the user's does, and there are none in an expression of text.
        regex.withLock { regex in ((try? regex.firstMatch(in: string)) ?? nil) != nil }
    }
}
