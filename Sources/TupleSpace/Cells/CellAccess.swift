/// How the verbs of ``CellStore`` reach the cells: in a namespace, in a transaction's body, or in a namespace that is
/// opened when it is needed.
///
/// It is public because a requirement of a public protocol must be public; nothing in it is public.
public struct _CellAccess {
    enum Place {
        case namespace(Namespace)
        case transaction(TransactionState)
        case named(NamedNamespace)
    }

    let place: Place

    /// Runs `body` as an operation, before anything is opened or locked.
    func naming<Result>(
        _ operation: @autoclosure () -> String,
        _ body: () throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        switch place {
        case .namespace(let namespace): try namespace.core.naming(operation(), body)
        case .transaction(let state): try state.naming(operation(), body)
        case .named(let named): try SpaceError.naming(operation(), on: named.name, body)
        }
    }

    /// The cells of an open namespace or of a transaction's body.
    ///
    /// - Parameter creates: Whether a namespace that isn't there is created.
    /// - Returns: `nil` if there is no namespace.
    /// - Throws: What opening a namespace throws.
    func opened(creates: Bool) throws(SpaceError) -> OpenCells? {
        switch place {
        case .namespace(let namespace): .namespace(namespace)
        case .transaction(let state): .transaction(state)
        case .named(let named): try named.namespace(creates: creates).map { .namespace($0) }
        }
    }

    /// Waits in the namespace, or for it if it isn't there; `nil` if the time passes first.
    func awaiting<Result>(
        timeout: Duration?,
        _ body: (Namespace, Duration?) async throws(SpaceError) -> Result?
    ) async throws(SpaceError) -> Result? {
        switch place {
        case .namespace(let namespace): try await body(namespace, timeout)
        case .named(let named): try await named.space.awaiting(named.name, timeout: timeout, body)
        case .transaction: throw .waitingWithinTransaction
        }
    }
}

/// The cells of an open namespace or of a transaction's body.
enum OpenCells {
    case namespace(Namespace)
    case transaction(TransactionState)

    var core: NamespaceCore {
        switch self {
        case .namespace(let namespace): namespace.core
        case .transaction(let state): state.namespace.core
        }
    }

    /// When something that is about to be written ends; the processes that wait listen for the end of its holder.
    func end(_ expires: Duration?, _ lifetime: Lifetime) throws(SpaceError) -> RowEnd {
        let end = try Expiry(expires, lifetime, core).end
        if end.holder != nil {
            switch self {
            case .namespace(let namespace): namespace.core.claimants.announce()
            case .transaction(let state): state.hasHolder = true
            }
        }
        return end
    }

    /// The value of a cell; `nil` if the cell is not set.
    func value(of key: String) throws(SpaceError) -> Value? {
        if case .namespace(let namespace) = self { return try namespace.get(key) }
        return try look("get a cell", at: key) { (snapshot, row) throws(SpaceError) in
            try snapshot.value(key, row.element)
        }
    }

    /// Reads a cell: passes `body` its row; the result is `nil` if the cell is not set.
    func look<Result>(
        _ operation: @autoclosure () -> String,
        at key: String,
        _ body: (Snapshot, CellRow) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        switch self {
        case .namespace(let namespace):
            try namespace.attempt(operation()) { (core) throws(SpaceError) in
                try Limits.check(cellKey: key)
                return try core.lookAtCell(key, body)
            }
        case .transaction(let state):
            try state.naming(operation()) { () throws(SpaceError) in
                try Limits.check(cellKey: key)
                return try state.read { (scope) throws(SpaceError) in
                    guard let row = try scope.snapshot.cellRow(key) else { return nil }
                    return try body(scope.snapshot, row)
                }
            }
        }
    }

    /// All cells of one snapshot, by key.
    func all() throws(SpaceError) -> [(key: String, value: Value)] {
        let operation = "get the cells"
        switch self {
        case .namespace(let namespace):
            return try namespace.attempt(operation) { (core) throws(SpaceError) in try core.allCells() }
        case .transaction(let state):
            return try state.naming(operation) { () throws(SpaceError) in
                try state.read { (scope) throws(SpaceError) in try scope.snapshot.allCells() }
            }
        }
    }

    /// Carries out an operation: by the namespace, or in the transaction of the body.
    func execute<O: Operation>(_ operation: O) throws(SpaceError) -> O.Outcome {
        switch self {
        case .namespace(let namespace): try namespace.perform(operation)
        case .transaction(let state): try state.execute(operation)
        }
    }
}

extension NamespaceCore {
    /// Reads a cell: passes `body` its row, or `nil` if the cell is not set.
    ///
    /// A cell that ends with a holder is shown only if the holder was alive when it was last asked, a tick ago at most.
    @inline(__always)
    func lookAtCell<Result>(
        _ key: String,
        _ body: (Snapshot, CellRow) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        while true {
            var mayHaveEnded = false
            let result = try read { (snapshot) throws(SpaceError) -> Result? in
                guard let row = try snapshot.cellRow(key) else { return nil }
                mayHaveEnded = row.end.isOfOther(session: session.number)
                return try body(snapshot, row)
            }
            guard mayHaveEnded, endedHolders.returnIfAskingIsDue() else { return result }
        }
    }

    package func cell(_ key: String) throws(SpaceError) -> Value? {
        if keptCells.mayHave(key), let value = try keptCell(key) { return value }
        let found = try lookAtCell(key) { (snapshot, row) throws(SpaceError) in
            let mayKeep = row.end.isNever && row.element.count <= KeptCells.longest
            return (value: try snapshot.value(key, row.element), commit: mayKeep ? snapshot.commit : nil)
        }
        guard let found else { return nil }
        if let commit = found.commit { keptCells.keep(found.value, of: key, asOf: commit) }
        return found.value
    }

    private func keptCell(_ key: String) throws(SpaceError) -> Value? {
        try checkUsable()
        return keptCells.value(of: key, asOf: engine.lastCommit)
    }

    func allCells() throws(SpaceError) -> [(key: String, value: Value)] {
        while true {
            let (cells, mayHaveEnded) = try read { (snapshot) throws(SpaceError) in
                let mayHaveHolders = try snapshot.counters().expiring > 0
                let holders = mayHaveHolders ? try snapshot.holdersOfRows() : []
                return (try snapshot.allCells(), !holders.isEmpty)
            }
            guard mayHaveEnded, endedHolders.returnIfAskingIsDue() else { return cells }
        }
    }
}
