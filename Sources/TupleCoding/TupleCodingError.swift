/// Why bytes, JSON text, a template or a Codable value could not be turned into what was asked for.
///
/// `description` says what was wrong, where, and what was expected instead.
public struct TupleCodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The class of the failure; hidden, so that finer ones can be added.
    package enum Code: Sendable, Hashable {
        case truncated
        case malformed
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

    /// Where the failure is.
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
}
