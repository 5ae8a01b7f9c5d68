// Observing a cell with the type of its value.

extension Namespace {
    /// Calls a handler with the values of a cell before and after each change, decoded.
    ///
    /// ```swift
    /// self.token = try jobs.observe(cell: "progress", as: Double.self) { old, new in print(old ?? 0, new ?? 0) }
    /// ```
    ///
    /// A value is `nil` where the cell is not set. A value of another type is an error for `onError`. If changes were
    /// missed, the handler gets the present value as the new one. The handler does not learn of the namespace's end.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value.
    ///   - type: The type of the value.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws, and one for each value of another type.
    ///   - handler: Called with the values before and after.
    /// - Returns: A token; when it is released, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Content: Decodable & Sendable>(
        cell key: String,
        as type: Content.Type,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable ((old: Content?, new: Content?)) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let tell: ObserverHandler.Teller<(old: Content?, new: Content?)> = { change in
            try self.values(of: key, in: change)
        }
        return try observe(.cell(key), options, ObserverHandler(tell, handler, on: queue), onError)
    }

    /// The values before and after a change of a cell; `nil` for the end of the namespace.
    package func values<Content: Decodable>(of key: String, in change: Change) throws -> (old: Content?, new: Content?)?
    {
        func content(_ value: Value?) throws(SpaceError) -> Content? {
            do throws(SpaceError) { return try value?.content(Content.self) } catch {
                throw error.named("observe the cell \(key.quotedForPeople)", name)
            }
        }
        switch change.kind {
        case .set, .unset: return (try content(change.old), try content(change.new))
        case .gap: return (nil, try content(try present(at: key)))
        default: return nil
        }
    }

    /// The value of a cell, or of the part of a cell that a path leads to.
    private func present(at path: String) throws(SpaceError) -> Value? {
        for key in ChangeFilter.keys(on: path) {
            guard let value = try get(String(decoding: key, as: UTF8.self)) else { continue }
            guard key.count < path.utf8.count else { return value }
            return value.part(path.utf8.components(from: key.count + 1))
        }
        return nil
    }
}
