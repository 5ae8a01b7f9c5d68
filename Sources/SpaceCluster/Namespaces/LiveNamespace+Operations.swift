import SpaceEngine
import SpaceMachines

/// Operations that processes of this machine send.
extension LiveNamespace {
    /// Executes an operation on the replica, and appends it.
    ///
    /// An operation that changes nothing is not appended, so the store has not confirmed the state that it was executed on.
    /// Unless this machine has held the pen all the time, the daemon asks for the head of the log then, and executes the
    /// operation again if the log went further: its result is true at some moment between its beginning and its end.
    ///
    /// - Returns: `result`; `joining` if this machine does not take part now, or `unavailable`: nothing was done then.
    func execute(_ operation: OperationMessage, of caller: Caller) async -> DaemonAnswer {
        var isConfirmed = false
        while true {
            guard hasEntered, let replica else {
                return .joining(trouble ?? "the daemon has not joined the namespace yet")
            }
            // The pen comes first: while it is away, nothing holds the gate, others' entries are applied, and more
            // operations come together.
            let pen = await appender.fetchPen(for: caller.use, isExact: false)
            guard case .pen(let revision, let head) = pen else { return pen }
            let (result, isUnchanged) = await replica.execute(operation) { [appender] in
                appender.noteBegun(caller.use)
                return caller.isConnected()
            }
            await appender.endUse(caller.use)
            // The daemon has left the replica before the operation began.
            if case .failed(let error) = result, error.code == .closed {
                return .joining("the daemon joins the namespace again")
            }
            if !isUnchanged || isConfirmed { return .result(result) }
            if await appender.hasHeldPen(since: revision) { return .result(result) }
            do {
                guard try await appender.readHead() > head else { return .result(result) }
            } catch {
                return .unavailable("the store does not say whether the operation had the newest state: \(error.told)")
            }
            isConfirmed = true
        }
    }
}
