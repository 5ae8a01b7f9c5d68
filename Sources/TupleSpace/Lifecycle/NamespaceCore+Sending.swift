import Glibc
import SpaceSystem
import TupleCoding

/// Operations that go to the daemon as data, in a namespace that several machines share: the daemon executes what several
/// processes have sent in one transaction.
extension NamespaceCore {
    /// Whether this process sends its operations; the daemon itself executes its own.
    @inline(__always)
    var isSending: Bool { control.staying.isReplica && engine.sessionMember != nil }

    /// Tells the daemon of a wait for something to take, so that the machine that writes it gives this one the pen with it.
    func tellOfWait(for interest: Interest) {
        if isSending, interest.isTaking { sender.tellOfWait() }
    }

    /// Sends an operation, and waits for its result.
    ///
    /// - Parameter action: Makes the operation, with its holders as they are now; it may be called again.
    /// - Returns: The result; `nil` if the process must execute the operation itself.
    /// - Throws: The operation's error; `clusterUnavailable`, `outcomeUnknown`, `namespaceDeleted`.
    func send(_ action: () -> SentOperation.Action) throws(SpaceError) -> SentResult? {
        try checkUsable()
        if deferred.isDue { carryOutDeferred() }
        let result = try renewingSession { () throws(SpaceError) in
            let operation = SentOperation(session: session.number, process: getpid(), action())
            let result = try sender.send(operation, timeout: timeout)
            if case .failed(let error) = result { throw error }
            return result
        }
        if case .notSent = result { return nil }
        return result
    }

    /// `nil` for an operation that the process must execute itself; throws if the daemon answers something else.
    func unfit<R>(_ result: SentResult?) throws(SpaceError) -> R? {
        guard result != nil else { return nil }
        throw .outcomeUnknown("the daemon of this machine gave an answer that does not fit")
    }
}
