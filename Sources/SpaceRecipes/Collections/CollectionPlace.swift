import TupleCoding

/// The place where a collection's handle reads and edits: its namespace, with a step of its own for each call, or a
/// transaction.
///
/// Unchecked Sendable: a transaction's state belongs to the thread that runs its body, and each use checks that it is
/// on that thread.
package enum CollectionPlace: @unchecked Sendable {
    case namespace(Namespace)
    case transaction(TransactionState)

    package var namespace: Namespace {
        switch self {
        case .namespace(let namespace): namespace
        case .transaction(let state): state.namespace
        }
    }
}

extension TransactionState {
    /// Throws `invalidArgument` if the transaction does not run on this thread; `what` names its part.
    func checkRunsHere(_ what: String) throws(SpaceError) {
        guard !namespace.core.isInTransactionHere else { return }
        throw SpaceError(
            .invalidArgument,
            Self.operation,
            namespace: namespace.name,
            reason: "\(what) was got in a transaction that does not run here",
            advice: "use it in the transaction's body alone, and on its thread"
        )
    }

    /// Throws `invalidArgument` if `what` belongs to another namespace.
    func checkIsHere(_ what: String, of other: Namespace) throws(SpaceError) {
        guard other.core !== namespace.core else { return }
        throw SpaceError(
            .invalidArgument,
            Self.operation,
            namespace: namespace.name,
            reason: "\(what) is in \(other.name.quotedForPeople)",
            advice: "a transaction is about one namespace"
        )
    }
}

extension Namespace {
    /// Encodes the content of a collection; a value that would not decode again is refused.
    ///
    /// `what` names the content in the error, with its article.
    func encodedToStay<Content: Codable>(
        _ content: Content,
        _ what: String,
        _ operation: String
    ) throws(SpaceError) -> [UInt8] {
        let value = try encoded(content, operation)
        do throws(TupleCodingError) {
            _ = try value.decode(Content.self)
        } catch {
            throw SpaceError(
                .badData,
                operation,
                namespace: name,
                reason: "\(what) would not decode as \(Content.self) again: \(error)",
                advice: "see that the type decodes what it encodes"
            )
        }
        let bytes = try encodedElement(of: value, operation)
        guard bytes.count <= Limits.valueBytes else { throw tooLarge(operation, bytes.count) }
        return bytes
    }
}
