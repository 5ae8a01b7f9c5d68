import SpaceSystem
public import TupleCoding

extension Namespace: CellStore {
    /// How the verbs of cells reach them.
    public var cellAccess: CellAccess { CellAccess(place: .namespace(self)) }
}

extension Namespace {
    /// The value of a cell; `nil` if the cell is not set.
    ///
    /// It does what the one of ``CellStore`` does, without asking where the cells are: this is what programs call most.
    public func get(_ key: String) throws(SpaceError) -> Value? {
        try attempt("get a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.cell(key)
        }
    }

    // MARK: Waiting

    /// Waits until a cell is set; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func get(_ key: String, timeout: Duration) throws(SpaceError) -> Value? {
        try getBlocking(key, timeout: timeout, interruption: nil)
    }

    /// Waits until a cell is set, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait
    /// early.
    package func getBlocking(_ key: String, timeout: Duration?, interruption: Interruption?) throws(SpaceError)
        -> Value?
    {
        try attempt("get a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.waits.block(
                Interest(cell: key),
                text: Value.string(key).json,
                until: MonotonicInstant.deadline(after: timeout),
                interruption: interruption
            ) { () throws(SpaceError) in try core.cell(key).map { Found(result: $0, removed: nil) } }
        }
    }

    /// Waits until a cell is set.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The value; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled.
    public func get(_ key: String, timeout: Duration?) async throws(SpaceError) -> Value? {
        try await attempt(suspending: "get a cell") { (core) async throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try await core.waits.suspend(
                Interest(cell: key),
                text: { Value.string(key).json },
                until: MonotonicInstant.deadline(after: timeout)
            ) { () throws(SpaceError) in try core.cell(key).map { Found(result: $0, removed: nil) } }
        }
    }

    /// Waits until a cell is set, and decodes its value; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Throws: `badData` if the value doesn't decode as the type.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func get<Content: Decodable>(
        _ key: String,
        as type: Content.Type = Content.self,
        timeout: Duration
    ) throws(SpaceError) -> Content? {
        try decoded(try getBlocking(key, timeout: timeout, interruption: nil), key)
    }

    /// Waits until a cell is set, and decodes its value.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - type: The type of the content.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The content; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; `badData` if the value doesn't decode as the type.
    public func get<Content: Decodable>(
        _ key: String,
        as type: Content.Type = Content.self,
        timeout: Duration?
    ) async throws(SpaceError) -> Content? {
        let value: Value? = try await get(key, timeout: timeout)
        return try decoded(value, key)
    }

    private func decoded<Content: Decodable>(_ value: Value?, _ key: String) throws(SpaceError) -> Content? {
        guard let value else { return nil }
        return try attempt("get the cell \(key.quotedForPeople)") { (_) throws(SpaceError) in
            try value.content(Content.self)
        }
    }

    /// Waits until a cell is set, and takes it: unsets it, and returns its content.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - type: The type of the content.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The content; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; `badData` if the value doesn't decode as the type; then the cell
    ///   stays.
    public func take<Content: Decodable>(
        key: String,
        as type: Content.Type = Content.self,
        timeout: Duration?
    ) async throws(SpaceError) -> Content? {
        try await attempt(suspending: "take a cell") { (core) async throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try await core.waits.suspend(
                Interest(cell: key),
                text: { Value.string(key).json },
                until: MonotonicInstant.deadline(after: timeout)
            ) { () throws(SpaceError) in
                try take(key: key, as: type).map { Found(result: $0, removed: nil) }
            }
        }
    }
}
