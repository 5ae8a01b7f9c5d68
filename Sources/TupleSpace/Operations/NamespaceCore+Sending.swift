import Glibc
import SpaceMachines

// Operations that go to the daemon as data, in a namespace that several machines share.

extension NamespaceCore {
    /// Whether this process sends its operations; the daemon itself executes its own.
    @inline(__always)
    var isSending: Bool { control.staying.isReplica && engine.sessionMember != nil }

    /// Sends an operation to the daemon, and waits for its outcome.
    ///
    /// - Returns: The outcome; `nil` if the process must execute the operation itself.
    /// - Throws: The operation's error; `clusterUnavailable`, `outcomeUnknown`, `namespaceDeleted`.
    @inline(never)
    func send<O: SentOperation>(_ operation: O) throws(SpaceError) -> O.Outcome? {
        try checkUsable()
        if deferred.isDue { carryOutDeferred() }
        let answer = try participation.renewingSession { () throws(SpaceError) in
            // First the session, then the holder: if the session is renewed in between, the daemon refuses the former number.
            // The other way round it would accept an operation that names a holder of the former member.
            let number = session.number
            let message = OperationMessage(session: number, process: getpid(), operation: renewed(operation).message)
            let answer = try daemon.sender.send(message, timeout: timeout)
            if case .failed(let error) = answer { throw error }
            return answer
        }
        guard case .outcome(let bytes) = answer else { return nil }
        var reader = ByteReader(bytes[...])
        guard let outcome = O.outcome(&reader), reader.isAtEnd else { throw .answerDoesNotFit }
        return outcome
    }
}
