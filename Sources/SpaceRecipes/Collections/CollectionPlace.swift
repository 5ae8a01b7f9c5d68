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

    /// Runs `body` as one operation on the collection; see ``NamespaceCore/attempt(_:_:)``.
    func attempt<R>(
        _ operation: @autoclosure () -> String,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        try namespace.core.attempt(operation(), body)
    }
}

extension TransactionState {
    /// Throws `invalidArgument` if the transaction does not run on this thread; `what` names its part.
    func checkRunsHere(_ what: String) throws(SpaceError) {
        guard !namespace.core.isInTransactionHere else { return }
        try attempt { () throws(SpaceError) in
            let reason = "\(what) was got in a transaction that does not run here"
            throw .misuse(reason, advice: "use it in the transaction's body alone, and on its thread")
        }
    }

    /// Throws `invalidArgument` if `what` belongs to another namespace.
    func checkIsHere(_ what: String, of other: Namespace) throws(SpaceError) {
        guard other.core !== namespace.core else { return }
        try attempt { () throws(SpaceError) in
            throw .misuse("\(what) is in \(other.name.quotedForPeople)", advice: "a transaction is about one namespace")
        }
    }
}

extension Value {
    /// Encodes the content of a collection; a value that would not decode again is refused.
    ///
    /// `what` names the content in the error, with its article.
    static func elementToStay<Content: Codable>(_ content: Content, _ what: String) throws(SpaceError) -> [UInt8] {
        let value = try Value(checking: content, what)
        do throws(TupleCodingError) {
            _ = try value.decode(Content.self)
        } catch {
            let reason = "\(what) would not decode as \(Content.self) again: \(error)"
            throw SpaceError(.badData, reason: reason, advice: "see that the type decodes what it encodes")
        }
        return try value.checkedElement()
    }

    /// The content of a collection; throws `badData` if it doesn't decode, with `what` as its name.
    func content<Content: Decodable>(
        _ what: @autoclosure () -> String,
        orElse remedy: String? = nil
    ) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            return try decode(Content.self)
        } catch {
            throw .doesNotDecode(what(), as: Content.self, error, orElse: remedy)
        }
    }
}
