import SpaceSystem

extension Namespace: CellStore {
    /// How the verbs of cells reach them.
    public var _cells: _CellAccess { _CellAccess(place: .namespace(self)) }
}

extension Namespace {
    /// The value of a cell; `nil` if the cell is not set.
    ///
    /// It does the same as the one of ``CellStore``, without asking where the cells are, because programs call it most.
    public func get(_ key: String) throws(SpaceError) -> Value? {
        try attempt("get a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.cell(key)
        }
    }

    // MARK: Waiting

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

    /// Waits until a cell is set, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait
    /// early.
    package func getBlocking(_ key: String, timeout: Duration?, interruption: Interruption?) throws(SpaceError)
        -> Value?
    {
        try awaitCellBlocking(key, timeout: timeout, interruption) { () throws(SpaceError) in try core.cell(key) }
    }

    /// Waits until a cell is set, as `getBlocking` does, and gives it with its version.
    package func detailsBlocking(of key: String, timeout: Duration?, interruption: Interruption?) throws(SpaceError)
        -> CellDetails?
    {
        try awaitCellBlocking(key, timeout: timeout, interruption) { () throws(SpaceError) in try details(of: key) }
    }

    private func awaitCellBlocking<Content>(
        _ key: String,
        timeout: Duration?,
        _ interruption: Interruption?,
        _ look: () throws(SpaceError) -> Content?
    ) throws(SpaceError) -> Content? {
        try attempt("get a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.waits.block(
                Interest(cell: key),
                text: Value.string(key).json,
                until: MonotonicInstant.deadline(after: timeout),
                interruption: interruption
            ) { (_) throws(SpaceError) in try look().map { Found(result: $0, removed: nil) } }
        }
    }

    /// Waits until a cell is set, and gives it with its version; `nil` if the time passes first.
    package func details(of key: String, timeout: Duration?) async throws(SpaceError) -> CellDetails? {
        try await awaitCell(key, timeout: timeout, to: "get a cell") { () throws(SpaceError) in try details(of: key) }
    }

    /// Waits until a cell is set; `nil` if the time passes first.
    package func value(of key: String, timeout: Duration?) async throws(SpaceError) -> Value? {
        try await awaitCell(key, timeout: timeout, to: "get a cell") { () throws(SpaceError) in try core.cell(key) }
    }

    /// Waits until a look at a cell finds something; `nil` if the time passes first.
    func awaitCell<Content>(
        _ key: String,
        timeout: Duration?,
        to operation: String,
        _ look: () throws(SpaceError) -> Content?
    ) async throws(SpaceError) -> Content? {
        try await attempt(suspending: operation) { (core) async throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try await core.waits.suspend(
                Interest(cell: key),
                text: { Value.string(key).json },
                until: MonotonicInstant.deadline(after: timeout)
            ) { (_) throws(SpaceError) in try look().map { Found(result: $0, removed: nil) } }
        }
    }
}
