import Synchronization

/// A regular expression as an element of a template: it matches every string that contains a match of the expression.
///
/// ```swift
/// let file = try Pattern(#"\.png$"#)
/// let (_, name) = try await jobs.take("resize", file)
/// ```
///
/// The syntax is that of Swift's `Regex`, without the parts that need an unbounded search: back references, look-ahead,
/// look-behind, atomic groups and possessive quantifiers. Letters compare as Unicode scalars, so a composed and a
/// decomposed "é" differ, as in all fields; `\b` is a place between a `\w` and a `\W`.
///
/// A search never goes back, so it takes time in proportion to the length of the string times the size of the
/// expression. A search that takes more than 16 million steps, and 64 more a character, is given up: then the operation
/// throws `badData`.
public struct Pattern: Matcher, Hashable {
    /// A matched field is read as a string.
    public typealias Matched = String

    /// The expression as it was written.
    public let source: String

    private let compiled: CompiledPattern

    /// Compiles an expression.
    ///
    /// - Throws: `TupleCodingError` if the text is no regular expression, is longer than 1,024 bytes of
    ///   UTF-8, nests groups and classes deeper than 16 levels, has repetitions that are too large, or a search for it would have no bound.
    public init(_ source: String) throws(TupleCodingError) {
        try Self.checkSize(source)
        self.source = source
        compiled = try CompiledPattern(source)
    }

    /// Whether the expression is found in `string`.
    package func isFound(in string: String) -> Bool {
        compiled.isFound(in: string)
    }

    /// Whether a search was given up since the last call, because it took too many steps.
    func takeGivenUp() -> Bool { compiled.hasGivenUp.exchange(false, ordering: .relaxed) }

    /// Makes what ``endSearches()`` uses, which must not be made inside a signal handler.
    package static func prepare() { _ = isAskedToEnd.load(ordering: .relaxed) }

    /// Makes all searches of this process give up; async-signal-safe, because it is one atomic store.
    package static func endSearches() { isAskedToEnd.store(true, ordering: .relaxed) }

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

/// Whether searches are to give up, because the process was asked to end.
private let isAskedToEnd = Atomic<Bool>(false)

/// The expression, compiled once for all copies of a pattern.
private final class CompiledPattern: Sendable {
    private let program: PatternProgram
    let hasGivenUp = Atomic<Bool>(false)

    init(_ source: String) throws(TupleCodingError) {
        do {
            // The grammar is Swift's, and so are the errors.
            _ = try Regex(source)
        } catch {
            throw TupleCodingError(.formal, "not a regular expression: \(error)")
        }
        let node: PatternNode
        do throws(PatternParser.Unsupported) {
            node = try PatternParser.parse(source)
        } catch {
            throw TupleCodingError(
                .formal,
                "a regular expression with \(error.what): only those whose search has a bound of steps are taken"
            )
        }
        guard let program = PatternProgram(node) else {
            throw TupleCodingError(
                .formal,
                "a regular expression whose repetitions are too large: it takes more than \(PatternProgram.longest) steps "
                    + "a character"
            )
        }
        self.program = program
    }

    func isFound(in string: String) -> Bool {
        switch program.search(string, isAsked: { isAskedToEnd.load(ordering: .relaxed) }) {
        case .found: return true
        case .absent: return false
        case .tooLong:
            hasGivenUp.store(true, ordering: .relaxed)
            return false
        }
    }
}
