/// The chain of executors: the near end, the root's daemon in a namespace of several machines, the tables.
///
/// A take or claim in such a namespace asks the daemon before it comes here (`Looking.remove`), because it names several
/// candidates.
extension NamespaceCore {
    @inline(__always)
    package func execute<O: Operation>(_ operation: O) throws(SpaceError) -> O.Outcome {
        if deferred.isDue { carryOutDeferred() }
        if let outcome = try operation.execute(withoutTransaction: engine) { return outcome }
        if isSending, let outcome = try operation.send(by: self) { return outcome }
        return try executeInTables(operation)
    }

    /// Carries out an operation in a transaction; a function of its own, so that the near end's way stays short.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - timeout: How long to wait for the gate; `nil`: as long as the space says.
    /// - Returns: The outcome.
    /// - Throws: The operation's error, and what a write throws.
    @inline(never)
    func executeInTables<O: Operation>(_ operation: O, timeout: Duration? = nil) throws(SpaceError) -> O.Outcome {
        try write(O.purpose, timeout: timeout, keeps: operation.keeps) { (scope) throws(SpaceError) in
            try renewed(operation).execute(in: scope)
        }
    }

    /// The operation with its holder as it is now.
    @inline(__always)
    func renewed<O: Operation>(_ operation: O) -> O {
        guard let holder = operation.holder, !participation.isPresent(holder) else { return operation }
        return operation.with(holder: participation.renewed(holder))
    }
}

extension Namespace {
    /// Carries out an operation, which names its errors.
    @inline(__always)
    package func perform<O: Operation>(_ operation: O) throws(SpaceError) -> O.Outcome {
        try attempt(operation.name) { (core) throws(SpaceError) in try core.execute(operation) }
    }
}
