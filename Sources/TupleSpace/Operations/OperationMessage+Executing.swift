package import SpaceMachines

extension OperationMessage {
    /// Executes the operation, which a process of this machine has sent.
    ///
    /// - Returns: The outcome; `failed` and `notHere` if nothing was changed.
    /// - Throws: An error after which the transaction must be undone.
    package func execute(in scope: WriteScope) throws(SpaceError) -> OperationAnswer {
        let member = SessionNumber.member(of: session)
        guard try scope.snapshot.hasMember(member) else {
            return .failed(.memberEnded("this machine takes part as another member now"))
        }
        var reader = ByteReader(operation.dropFirst())
        guard let type = SentOperations.type(of: operation),
            let sent = type.init(&reader, session: session), sent.fitsInMessage, reader.isAtEnd
        else { return .failed(SpaceError(.badData, reason: "the operation that was sent does not decode")) }
        return try scope.act(for: process, of: member) { () throws(SpaceError) in try Self.answer(sent, in: scope) }
    }

    private static func answer(
        _ operation: some SentOperation,
        in scope: WriteScope
    ) throws(SpaceError) -> OperationAnswer {
        do throws(SpaceError) { try operation.check() } catch { return .failed(error) }
        guard try operation.outcomeFitsInMessage(in: scope) else { return .notHere }
        return .outcome(of: operation, try operation.execute(in: scope))
    }

    /// Whether the operation may need more space than it frees.
    package var purpose: WritePurpose { SentOperations.type(of: operation)?.purpose ?? .removing }
}

extension OperationAnswer {
    fileprivate static func outcome<O: SentOperation>(of operation: O, _ outcome: O.Outcome) -> OperationAnswer {
        var bytes: [UInt8] = []
        O.encode(outcome, into: &bytes)
        return .outcome(bytes)
    }
}
