import SharedSpace

extension Agent {
    /// Has it wait, and returns when its slot is described.
    ///
    /// For a thread that is after its look with the slot, so that nothing but a raised word or a tick can end the wait. A slot
    /// without a description does not say so: the look may still find what the test writes next. (A task describes its
    /// slot before that look.)
    package func block(_ command: String, in namespace: Namespace) throws {
        try send(command)
        let answer = try line()
        guard answer == "waiting" else {
            throw TestFailure("agent \(pid) was told \(command) and says \(answer ?? "nothing")")
        }
        guard
            try eventually({
                try namespace.status().waiters.contains { $0.pid == pid && !$0.template.isEmpty }
            })
        else { throw TestFailure("agent \(pid) was told \(command) and does not wait") }
    }
}
