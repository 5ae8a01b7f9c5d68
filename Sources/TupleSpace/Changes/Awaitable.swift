/// Something that a task can wait for together with others; see ``Space/first(of:timeout:)``.
public struct Awaitable: Sendable {
    /// Waits until it is there; `nil` waits without a limit, zero looks once.
    package let wait: @Sendable (_ timeout: Duration?) async throws(SpaceError) -> Bool

    package init(_ wait: @escaping @Sendable (_ timeout: Duration?) async throws(SpaceError) -> Bool) {
        self.wait = wait
    }

    /// A tuple that matches.
    public static func tuple<Content>(_ selection: Selection<Content>, in namespace: Namespace) -> Awaitable {
        let match = Selection(selection.form) { (decoder) in decoder.skipAll() }
        return Awaitable { (timeout) async throws(SpaceError) in
            guard let timeout else { return try await namespace.read(matching: match) == () }
            return try await namespace.read(matching: match, timeout: timeout) != nil
        }
    }

    /// A cell that is set.
    public static func cell(_ key: String, in namespace: Namespace) -> Awaitable {
        Awaitable { (timeout) async throws(SpaceError) in try await namespace.value(of: key, timeout: timeout) != nil }
    }

    /// A namespace that exists.
    public static func namespace(_ name: String, in space: Space) -> Awaitable {
        Awaitable { (timeout) async throws(SpaceError) in
            if try space.namespaceNames().contains(name) { return true }
            if timeout == .zero { return false }
            var changes = try space.changes(initial: true).makeAsyncIterator()
            while let change = try await changes.next() {
                if case .appeared(let other) = change, Name(other) == Name(name) { return true }
            }
            return false
        }
    }
}

extension Space {
    /// Waits until any of several things is there, in whatever namespaces: tuples, cells, namespaces, items of queues.
    ///
    /// Nothing is taken. The caller takes what was found without waiting; if another process was quicker, it waits again.
    ///
    /// ```swift
    /// switch try await space.first(of: [.tuple(["job", .any], in: jobs), .cell("stop", in: settings)]) {
    /// case 0: if let (_, id) = try jobs.takeIfExists("job", any(Int.self)) { print("job", id) }
    /// default: print("asked to stop")
    /// }
    /// ```
    ///
    /// - Parameter awaited: What to wait for; the first is looked for first.
    /// - Returns: The place of one that is there, counted from 0.
    /// - Throws: `cancelled` if the task is cancelled, and what the waits throw; `invalidArgument` without anything to wait
    ///   for.
    /// - Complexity: One waiting task for each.
    public func first(of awaited: [Awaitable]) async throws(SpaceError) -> Int {
        try await first(of: awaited, within: nil).orEnded()
    }

    /// Waits until any of several things is there; `nil` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``first(of:)``.
    public func first(of awaited: [Awaitable], timeout: Duration) async throws(SpaceError) -> Int? {
        try await first(of: awaited, within: timeout)
    }

    func first(of awaited: [Awaitable], within timeout: Duration?) async throws(SpaceError) -> Int? {
        guard !awaited.isEmpty else {
            throw .misuse("there is nothing to wait for", advice: "give one thing at least").named("wait", nil)
        }
        for (place, one) in awaited.enumerated() where try await one.wait(.zero) { return place }
        guard timeout != .zero else { return nil }
        let result = await withTaskGroup(of: Result<Int?, SpaceError>.self) { group in
            for (place, one) in awaited.enumerated() {
                group.addTask {
                    do throws(SpaceError) {
                        return .success(try await one.wait(nil) ? place : nil)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            if let timeout {
                group.addTask {
                    try? await Task.sleep(for: timeout)
                    return .success(nil)
                }
            }
            let first = await group.next() ?? .success(nil)
            group.cancelAll()
            return first
        }
        if Task.isCancelled { throw SpaceError.cancelled.named("wait", nil) }
        return try result.get()
    }
}
