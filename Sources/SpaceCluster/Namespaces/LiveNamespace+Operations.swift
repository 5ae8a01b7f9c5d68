import SpaceEngine
import SpaceMachines

/// Operations that processes of this machine send.
extension LiveNamespace {
    /// Executes an operation on the replica, and appends it.
    ///
    /// - Returns: `result`, or `joining` if this machine does not take part now; nothing was done then.
    func execute(_ operation: OperationMessage, of caller: Caller) async -> DaemonAnswer {
        guard hasEntered, let replica else { return .joining(trouble ?? "the daemon has not joined the namespace yet") }
        // The pen comes first: while it is away, nothing holds the gate, others' entries are applied, and more operations
        // come together.
        let pen = await appender.fetchPen(for: caller.use)
        guard case .pen = pen else { return pen }
        let result = await replica.execute(operation) { [appender] in
            appender.noteBegun(caller.use)
            return caller.isConnected()
        }
        await appender.endUse(caller.use)
        // The daemon has left the replica before the operation began.
        if case .failed(let error) = result, error.code == .closed {
            return .joining("the daemon joins the namespace again")
        }
        return .result(result)
    }
}
