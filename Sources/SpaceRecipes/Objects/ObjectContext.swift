/// Where a queue's or a collection's handle reads and edits: its namespace, with a step of its own for each call, or a
/// transaction.
///
/// Unchecked Sendable: a transaction's state belongs to the thread that runs its body, and each use checks that it is
/// on that thread.
package enum ObjectContext: @unchecked Sendable {
    case namespace(Namespace)
    case transaction(TransactionState)

    package var namespace: Namespace {
        switch self {
        case .namespace(let namespace): namespace
        case .transaction(let state): state.namespace
        }
    }

    /// Runs `body` as one operation on the object; see ``NamespaceCore/naming(_:_:)``.
    package func naming<R>(
        _ operation: @autoclosure () -> String,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        try namespace.core.naming(operation(), body)
    }
}

extension TransactionState {
    /// Throws `invalidArgument` if the transaction does not run on this thread; `what` names its part.
    package func checkRunsHere(_ what: String) throws(SpaceError) {
        guard !namespace.core.isInTransactionHere else { return }
        try naming { () throws(SpaceError) in
            let reason = "\(what) was got in a transaction that does not run here"
            throw .misuse(reason, advice: "use it in the transaction's body alone, and on its thread")
        }
    }

    /// Throws `invalidArgument` if `what` belongs to another namespace.
    package func checkIsHere(_ what: String, of other: Namespace) throws(SpaceError) {
        guard other.core !== namespace.core else { return }
        try naming { () throws(SpaceError) in
            throw .misuse("\(what) is in \(other.name.quotedForPeople)", advice: "a transaction is about one namespace")
        }
    }
}
