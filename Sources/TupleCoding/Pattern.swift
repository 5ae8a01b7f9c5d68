import Synchronization

/// A regular expression as an element of a template: it matches every string that contains a match of the expression.
///
/// ```swift
/// let file = try Pattern(#"\.png$"#)
/// let (_, name) = try await jobs.take("resize", file)
/// ```
///
/// The syntax is that of Swift's `Regex`. Letters compare as Unicode scalars, so a composed and a decomposed "é"
/// differ, as in all fields. Searching has no time limit: an expression that backtracks much takes long.
public struct Pattern: Matcher, Hashable {
    /// A matched field is read as a string.
    public typealias Matched = String

    /// The expression as it was written.
    public let source: String

    private let compiled: CompiledPattern

    /// Compiles an expression.
    ///
    /// - Throws: `TupleCodingError` if the text is no regular expression, is longer than
    ///   ``TupleLimits/maximumPatternLength``, or nests deeper than ``TupleLimits/maximumPatternDepth``.
    public init(_ source: String) throws(TupleCodingError) {
        try Self.checkSize(source)
        self.source = source
        compiled = try CompiledPattern(source)
    }

    /// Whether the expression is found in `string`.
    package func isFound(in string: String) -> Bool {
        compiled.isFound(in: string)
    }

    /// Refuses expressions that are too long or too deep: the regex compiler recurses into groups, and expressions come
    /// from the shell.
    private static func checkSize(_ source: String) throws(TupleCodingError) {
        guard source.utf8.count <= TupleLimits.maximumPatternLength else {
            throw TupleCodingError(
                .formal,
                "a regular expression is longer than \(TupleLimits.maximumPatternLength) bytes"
            )
        }
        // Escaped brackets are counted too; no expression that people write is refused because of that.
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

    /// Whether both expressions were written with the same UTF-8 bytes.
    public static func == (left: Pattern, right: Pattern) -> Bool {
        left.source.compareUTF8(right.source) == 0
    }

    /// Feeds the same bytes that equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Value.string(source))
    }

    /// Adds the pattern to a template.
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendPattern(self)
    }
}

/// The expression, compiled once for all copies of a pattern.
///
/// `Regex` is not Sendable, because a regex that was built of parsers may hold any closure. The lock makes this class
/// Sendable.
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
        // A search throws only if a custom parser throws, and a regex that was compiled from text has none.
        regex.withLock { regex in ((try? regex.firstMatch(in: string)) ?? nil) != nil }
    }
}
