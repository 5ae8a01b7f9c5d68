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
    /// The values may be nested as deep as if they stood alone; `depthFault` checks each when it is used.
    static func line(_ text: String, what: String) throws -> Value {
        do {
            return try Value(line: text)
        } catch {
            throw failure(what, error)
        }
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
        // A word, and a line of the input, has one line only: its number would say nothing.
        .badData("\(what): \(error.descriptionOnOneLine)\(advice.map { "; \($0)" } ?? "")")
    }
}
