import SpaceSystem
import TupleCoding

extension WriteScope {
    /// Executes an operation that a process of this machine has sent.
    ///
    /// - Returns: The outcome; `failed` and `notHere` if nothing was changed.
    /// - Throws: An error after which the transaction must be undone.
    package func execute(_ message: OperationMessage) throws(SpaceError) -> OperationAnswer {
        let member = SessionNumber.member(of: message.session)
        guard try snapshot.hasMember(member) else {
            return .failed(.memberEnded("this machine takes part as another member now"))
        }
        var reader = ByteReader(message.operation.dropFirst())
        guard let type = SentOperations.type(of: message.operation),
            let operation = type.init(&reader, session: message.session), operation.fitsInMessage, reader.isAtEnd
        else { return .failed(SpaceError(.badData, reason: "the operation that was sent does not decode")) }
        return try act(for: message.process, of: member) { () throws(SpaceError) in try answer(operation) }
    }

    private func answer(_ operation: some SentOperation) throws(SpaceError) -> OperationAnswer {
        do throws(SpaceError) { try operation.check() } catch { return .failed(error) }
        guard try operation.outcomeFitsInMessage(in: self) else { return .notHere }
        return .outcome(of: operation, try operation.execute(in: self))
    }
}

extension OperationMessage {
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
