import TupleCoding

/// JSON from the command line and standard input; its errors name the word or line.
enum JSONText {
    /// The value of a word or line; `advice` is what to do if it is not JSON.
    static func value(
        _ text: String,
        what: String,
        arguments: [String: Value] = [:],
        advice: String? = nil
    ) throws -> Value {
        do {
            return try Value(json: text, arguments: arguments)
        } catch {
            throw failure(what, error, advice)
        }
    }

    /// A line that encloses values.
    ///
    /// The values may be nested as deep as if they stood alone; `fault(of:)` checks each when it is used.
    static func line(_ text: String, what: String) throws -> Value {
        do {
            return try Value(json: text, wrapping: levels)
        } catch {
            throw failure(what, error)
        }
    }

    /// A limit on the arrays and objects in which a line of a dump or an operation encloses a value: the line's own, a
    /// tuple's, and those of a change to a collection are fewer.
    private static let levels = 8

    /// Why a value of a line can't be used, or `nil`.
    static func fault(of value: Value) -> String? {
        guard value.isNested(deeperThan: TupleLimits.maximumDepth) else { return nil }
        return "is nested deeper than \(TupleLimits.maximumDepth) levels"
    }

    /// The tuple of a word or line; `advice` is what to do if it is none.
    static func tuple(
        _ text: String,
        what: String,
        arguments: [String: Value] = [:],
        advice: @autoclosure () -> String? = nil
    ) throws -> Tuple {
        do {
            return try Tuple(json: text, arguments: arguments)
        } catch {
            throw failure(what, error, advice())
        }
    }

    /// A text as one word of a shell's line.
    static func quotedForShell(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

    static func failure(_ what: String, _ error: TupleCodingError, _ advice: String? = nil) -> CommandFailure {
        let advice = advice.map { "; \($0)" } ?? ""
        // A word, and a line of the input, has one line only: its number would say nothing.
        if case .text(line: 1, let column)? = error.place {
            return .badData("\(what): \(error.reason) (column \(column))\(advice)")
        }
        return .badData("\(what): \(error)\(advice)")
    }
}
