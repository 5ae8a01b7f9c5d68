/// The error of a conversion between bytes, JSON text, templates or Codable types and values.
///
/// `description` tells what was wrong, where, and what was expected instead.
public struct TupleCodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The class of the failure; it is not public, so that finer classes can be added.
    package enum Code: Sendable, Hashable {
        case truncated
        case malformed
        /// What is stored as a tuple is none.
        case damaged
        case unsupported
        case integerOutOfRange
        case invalidUTF8
        case tooDeep
        case duplicateName
        case typeMismatch
        case missingField
        case syntax
        case formal
        case argument
        case codable
    }

    /// The place of the failure.
    package enum Place: Sendable, Hashable {
        case offset(Int)
        case text(line: Int, column: Int)
        case path(String)
    }

    package let code: Code
    package let reason: String
    package let place: Place?

    package init(_ code: Code, _ reason: String, at place: Place? = nil) {
        self.code = code
        self.reason = reason
        self.place = place
    }

    /// What was wrong, and where.
    public var description: String {
        switch place {
        case .offset(let offset): "\(reason) (at byte \(offset))"
        case .text(let line, let column): "\(reason) (line \(line), column \(column))"
        case .path(let path): path.isEmpty ? reason : "\(reason) (at \(path))"
        case nil: reason
        }
    }

    /// What was wrong, and where in a text of which the reader knows that it has one line.
    package var descriptionOnOneLine: String {
        if case .text(line: 1, let column)? = place { "\(reason) (column \(column))" } else { description }
    }
}
