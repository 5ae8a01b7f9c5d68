import SpaceSystem

extension Space {
    /// Waits in a namespace, and neither creates nor owns it; if the namespace isn't there, or is deleted during the
    /// wait, waits for it too.
    ///
    /// - Parameters:
    ///   - name: The namespace's name.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    ///   - body: Waits for as long as its second argument says; `nil` means that the time has passed.
    /// - Returns: What `body` returns; `nil` if the time passes first.
    /// - Throws: What `body` throws; `cancelled` if the task is cancelled.
    func awaiting<Result>(
        _ name: String,
        timeout: Duration?,
        _ body: (Namespace, Duration?) async throws(SpaceError) -> Result?
    ) async throws(SpaceError) -> Result? {
        let deadline = MonotonicInstant.deadline(after: timeout)
        while true {
            do throws(SpaceError) {
                if let namespace = try ifThere(name) { return try await body(namespace, deadline?.remaining) }
            } catch {
                guard error.code == .namespaceDeleted else { throw error }
            }
            let isThere = try await first(of: [.namespace(name, in: self)], within: deadline?.remaining) != nil
            if !isThere { return nil }
        }
    }
}
