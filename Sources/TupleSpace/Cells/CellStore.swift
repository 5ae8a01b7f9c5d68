/// What has cells, which are named values: a namespace, a transaction's body, and a namespace that is named and opened
/// at its first use.
///
/// ```swift
/// try jobs.set("progress", 0.5)
/// let progress: Double? = try jobs.get("progress")
/// try jobs.set("lease", "worker 7", expires: .seconds(30))
/// try jobs.set("member/7", ["host": "ada"], lifetime: .session)
/// ```
///
/// A cell's key has 1 to 480 bytes of UTF-8. Its value is any `Codable` value, up to 64 MiB encoded. A cell may expire,
/// and it may end with a process. Setting the cell again replaces its end too: without `expires` and `lifetime` the
/// cell then stays.
///
/// Every verb throws `tooLarge` for a key or value that is too large, and `namespaceDeleted`; those that change a cell
/// throw what ``Namespace/write(_:expires:lifetime:)`` throws, and `badData` for content that does not encode.
public protocol CellStore: ~Copyable {
    /// How the verbs reach the cells.
    var _cells: _CellAccess { get }
}

/// A cell with what is known about it.
public struct CellDetails: Sendable, Hashable {
    /// The cell's value.
    public let value: Value
    /// A number that is different each time the cell is set, and never comes back while the namespace lives.
    public let version: UInt64
    /// The time that the cell still has; `nil`: it does not expire.
    public let expiry: Duration?
    /// Whether the cell ends with a process.
    public let endsWithProcess: Bool
}

extension CellStore {
    // MARK: Waiting

    /// Waits until a cell is set, and decodes its value.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - type: The type of the content; `Value.self` for any.
    ///   - timeout: How long to wait; zero looks once, `nil` waits without a limit.
    /// - Returns: The content; `nil` if the time-out passes first.
    /// - Throws: `cancelled` if the task is cancelled; `badData` if the value doesn't decode as the type.
    public func get<Content: Decodable>(
        _ key: String,
        as type: Content.Type = Content.self,
        timeout: Duration?
    ) async throws(SpaceError) -> Content? {
        let value = try await _cells.awaiting(timeout: timeout) { (namespace, rest) async throws(SpaceError) in
            try await namespace.value(of: key, timeout: rest)
        }
        return try decoded(value, key)
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
        try await _cells.awaiting(timeout: timeout) { (namespace, rest) async throws(SpaceError) in
            try await namespace.awaitCell(key, timeout: rest, to: "take a cell") { () throws(SpaceError) in
                try namespace.take(key: key, as: type)
            }
        }
    }
}

extension CellStore where Self: ~Copyable {
    // MARK: Setting

    /// Sets a cell.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - content: Any `Codable` value, up to 64 MiB encoded.
    ///   - expires: The time after which the cell is unset; `nil`: never. A negative time is refused; with zero, the cell
    ///     is unset at once.
    ///   - lifetime: With which process the cell ends.
    /// - Returns: The old value; `nil` if the cell was not set.
    /// - Throws: `invalidArgument` for a negative time; `noSuchProcess` for a process that does not run.
    @discardableResult
    public func set(
        _ key: String,
        _ content: some Encodable,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> Value? {
        try change(key, to: content, expires, lifetime, if: .any).old
    }

    /// Sets a cell if it has the expected value: compare-and-set.
    ///
    /// - Returns: Whether the cell had the expected value, and so was set. A cell that is not set equals no value.
    @discardableResult
    public func set<Content: Encodable>(
        _ key: String,
        _ content: Content,
        ifEquals expected: Content,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> Bool {
        let expected = try _cells.naming(SetCell.name) { () throws(SpaceError) in
            try Value(checking: expected).uncheckedElement()
        }
        return try change(key, to: content, expires, lifetime, if: .equals(expected)).isSet
    }

    /// Sets a cell if it still has the version that an earlier look found.
    ///
    /// Unlike a comparison of values, this also fails if the cell was set to another value and back in between.
    ///
    /// - Parameters:
    ///   - key: The cell's key.
    ///   - content: The new content.
    ///   - version: The version by ``details(of:)``; 0 for a cell that must not be set.
    ///   - expires: As in ``set(_:_:expires:lifetime:)``.
    ///   - lifetime: As in ``set(_:_:expires:lifetime:)``.
    /// - Returns: Whether the cell had this version, and so was set.
    /// - Throws: What ``set(_:_:expires:lifetime:)`` throws.
    @discardableResult
    public func set(
        _ key: String,
        _ content: some Encodable,
        ifVersion version: UInt64,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> Bool {
        try change(key, to: content, expires, lifetime, if: .hasVersion(version)).isSet
    }

    /// Sets a cell if it is not set yet.
    ///
    /// - Returns: Whether the cell was not set before, and so was set.
    @discardableResult
    public func setIfAbsent(
        _ key: String,
        _ content: some Encodable,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> Bool {
        try change(key, to: content, expires, lifetime, if: .isAbsent).isSet
    }

    /// Adds to the integer in a cell, in one step; a cell that is not set counts as 0.
    ///
    /// The cell keeps the time and the process with which it ends.
    ///
    /// - Returns: The sum.
    /// - Throws: `badData` if the cell holds something else, or if the sum doesn't fit 64 bits; a transaction is then
    ///   undone.
    @discardableResult
    public func increment(_ key: String, by amount: Int = 1) throws(SpaceError) -> Int {
        try _cells.naming(Increment.name) { () throws(SpaceError) in try Limits.check(cellKey: key) }
        return try opened().execute(Increment(key, by: amount))
    }

    // MARK: Getting

    /// The value of a cell; `nil` if the cell is not set.
    ///
    /// - Complexity: O(log n), and O(1) for a cell that is read again and again while no process commits; no system call, except
    ///   at the first look of each of several simultaneous threads, and for a cell that ends with another process.
    public func get(_ key: String) throws(SpaceError) -> Value? {
        try _cells.opened(creates: false)?.value(of: key) ?? nil
    }

    /// The value of a cell, decoded; `nil` if the cell is not set.
    ///
    /// ```swift
    /// let progress: Double? = try jobs.get("progress")
    /// ```
    ///
    /// - Throws: `badData` if the value of the cell doesn't decode as the type.
    public func get<Content: Decodable>(_ key: String, as type: Content.Type = Content.self) throws(SpaceError)
        -> Content?
    {
        try decoded(try get(key), key)
    }

    /// A cell with its version and its end; `nil` if the cell is not set.
    public func details(of key: String) throws(SpaceError) -> CellDetails? {
        try look("get a cell", key) { (snapshot, row) throws(SpaceError) in
            CellDetails(
                value: try snapshot.value(key, row.element),
                version: row.version,
                expiry: row.end.timeLeft(snapshot.clock),
                endsWithProcess: row.end.holder != nil
            )
        }
    }

    /// The cells of one snapshot, ordered by the UTF-8 of their keys.
    ///
    /// - Parameter which: All cells, or those with a prefix, in a range, or like a pattern: `.prefix("config/")`.
    /// - Returns: Keys and values.
    /// - Throws: What every read throws.
    public func cells(_ which: ChangeFilter.Cells = .all) throws(SpaceError) -> [(key: String, value: Value)] {
        let all = try _cells.opened(creates: false)?.all() ?? []
        guard which != .all else { return all }
        return all.filter { cell in
            var key = cell.key
            return key.withUTF8 { which.include(UnsafeRawBufferPointer($0)) }
        }
    }

    // MARK: Ends

    /// Sets the time that a cell has from now on; its value and version stay, and watchers get no change.
    ///
    /// - Parameters:
    ///   - key: The cell's key.
    ///   - expires: The time from now on, which may be shorter than what was left.
    /// - Returns: Whether the cell was set.
    /// - Throws: `invalidArgument` for a negative time.
    @discardableResult
    public func renew(_ key: String, expires: Duration) throws(SpaceError) -> Bool {
        try _cells.naming("renew a cell") { () throws(SpaceError) in try expires.checkNotNegative("an expiry") }
        return try changeIfSet(key, SetEnd(row: .cell(key), expires: expires)) ?? false
    }

    /// Lets a cell stay until a call unsets it, whatever time and process it would have ended with.
    ///
    /// - Returns: Whether the cell was set.
    @discardableResult
    public func persist(_ key: String) throws(SpaceError) -> Bool {
        try changeIfSet(key, SetEnd(row: .cell(key), expires: nil)) ?? false
    }

    /// Unsets a cell.
    ///
    /// - Returns: The value that the cell had; `nil` if it was not set.
    @discardableResult
    public func unset(_ key: String) throws(SpaceError) -> Value? {
        try changeIfSet(key, Unset(key: key))??.value
    }

    /// Unsets a cell, and returns the content that it had; `nil` if it was not set.
    ///
    /// - Throws: `badData` if the value of the cell doesn't decode as the type; then the cell stays.
    public func take<Content: Decodable>(key: String, as type: Content.Type = Content.self) throws(SpaceError)
        -> Content?
    {
        try changeIfSet(key, TakeCell<Content>(key: key)) ?? nil
    }

    // MARK: Helpers

    func decoded<Content: Decodable>(_ value: Value?, _ key: String) throws(SpaceError) -> Content? {
        guard let value else { return nil }
        return try _cells.naming("get the cell \(key.quotedForPeople)") { () throws(SpaceError) in
            try value.content(Content.self)
        }
    }

    /// The open namespace, which is created if it isn't there.
    private func opened() throws(SpaceError) -> OpenCells {
        guard let cells = try _cells.opened(creates: true) else {
            preconditionFailure("a namespace that may be created is opened, or the opening throws")
        }
        return cells
    }

    private func look<Result>(
        _ operation: String,
        _ key: String,
        _ body: (Snapshot, CellRow) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        try _cells.opened(creates: false)?.look(operation, at: key, body) ?? nil
    }

    private func change(
        _ key: String,
        to content: some Encodable,
        _ expires: Duration?,
        _ lifetime: Lifetime,
        if condition: CellCondition
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        let encoded = try _cells.naming(SetCell.name) { () throws(SpaceError) in
            try Limits.check(cellKey: key)
            try expires?.checkNotNegative("an expiry")
            return try Value(checking: content).checkedElement()
        }
        let cells = try opened()
        let end = try _cells.naming(SetCell.name) { () throws(SpaceError) in
            try cells.end(expires, lifetime)
        }
        return try cells.execute(SetCell(key, encoded, end, if: condition))
    }

    /// Changes a cell that is set; a look comes first, so that nothing is locked for a cell that is not.
    private func changeIfSet<O: Operation>(_ key: String, _ operation: O) throws(SpaceError) -> O.Outcome? {
        guard let cells = try _cells.opened(creates: false),
            try cells.look(operation.name, at: key, { (_, _) in () }) != nil
        else { return nil }
        return try cells.execute(operation)
    }
}
