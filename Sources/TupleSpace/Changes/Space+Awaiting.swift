import SpaceSystem

// The namespaces that calls on the space open: one line for each operation, and cells by a namespace's name.

extension Space {
    /// A namespace that is created if need be, and that this process owns from then on.
    func held(_ name: String) throws(SpaceError) -> Namespace {
        try held.namespace(name, owning: true) { () throws(SpaceError) in try namespace(name) }
    }

    /// A namespace that exists, without owning it; `nil` if there is none.
    func ifThere(_ name: String) throws(SpaceError) -> Namespace? {
        do throws(SpaceError) {
            return try held.namespace(name, owning: false) { () throws(SpaceError) in
                try existingNamespace(name, owning: false)
            }
        } catch  where error.code == .namespaceNotFound {
            return nil
        }
    }

    /// Waits in a namespace, which is neither created nor owned: one that isn't there, or is deleted meanwhile, is waited
    /// for.
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
