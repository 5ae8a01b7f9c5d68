import TupleCoding

/// JSON from the command line and standard input, with errors that say which word or line they are about.
enum JSONText {
    static func value(_ text: String, what: String, arguments: [String: Value] = [:]) throws -> Value {
        do {
            return try Value(json: text, arguments: arguments)
        } catch {
            throw failure(what, error)
        }
    }

    /// A line that encloses values: they may be nested as deep as if they stood alone, and are checked when they are used.
    static func line(_ text: String, what: String) throws -> Value {
        do {
            return try Value(json: text, wrapping: levels)
        } catch {
            throw failure(what, error)
        }
    }

    /// More than the arrays and objects in which a line of a dump or an operation encloses a value: the line's own, a tuple's,
    /// and those of a change to a collection.
    private static let levels = 8

    /// Why a value of a line can't be used; `nil` where it can.
    static func fault(of value: Value) -> String? {
        guard value.isNested(deeperThan: TupleLimits.maximumDepth) else { return nil }
        return "is nested deeper than \(TupleLimits.maximumDepth) levels"
    }

    static func tuple(_ text: String, what: String, arguments: [String: Value] = [:]) throws -> Tuple {
        do {
            return try Tuple(json: text, arguments: arguments)
        } catch {
            throw failure(what, error)
        }
    }

    static func failure(_ what: String, _ error: TupleCodingError) -> CommandFailure {
        // A word or line of its own has no line 2, so its number says nothing beside that of the input.
        if case .text(line: 1, let column)? = error.place {
            return .badData("\(what): \(error.reason) (column \(column))")
        }
        return .badData("\(what): \(error)")
    }
}
