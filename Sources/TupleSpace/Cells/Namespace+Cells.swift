import SpaceSystem
import TupleCoding

// Cells: named values in a namespace.

extension Namespace {
    // MARK: Codable values

    /// Sets a cell.
    ///
    /// - Parameters:
    ///   - key: 1 to 480 bytes of UTF-8.
    ///   - content: Any `Codable` value, up to 64 MiB encoded.
    /// - Throws: `tooLarge`; `badData` if the content doesn't encode; and what ``Namespace/write(_:expires:)`` throws.
    public func set(_ key: String, _ content: some Encodable) throws(SpaceError) {
        let value = try core.attempt("set a cell") { () throws(SpaceError) in try Value(checking: content) }
        try set(key, value: value)
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
        guard let value = try get(key) else { return nil }
        return try core.attempt("get the cell \(key.quotedForPeople)") { () throws(SpaceError) in
            try value.content(type)
        }
    }

    // MARK: Values

    /// Sets a cell to a value.
    ///
    /// - Returns: The old value; `nil` if the cell was not set.
    /// - Throws: `badData` if the value is nested deeper than ``TupleLimits/maximumDepth``, and what ``set(_:_:)``
    ///   throws.
    @discardableResult
    public func set(_ key: String, value: Value) throws(SpaceError) -> Value? {
        try change(key, to: value) { _ in true }.old
    }

    /// Sets a cell if it has the expected value: compare-and-set.
    ///
    /// - Returns: Whether the cell had the expected value, and so was set. A cell that is not set equals no value.
    public func set(_ key: String, value: Value, ifEquals expected: Value) throws(SpaceError) -> Bool {
        let expected = try core.attempt("set a cell") { () throws(SpaceError) in try expected.uncheckedElement() }
        return try change(key, to: value) { old in old.map { $0.elementsEqual(expected) } ?? false }.isSet
    }

    /// Sets a cell if it is not set yet.
    ///
    /// - Returns: Whether the cell was not set before, and so is now.
    public func setIfAbsent(_ key: String, value: Value) throws(SpaceError) -> Bool {
        try change(key, to: value) { $0 == nil }.isSet
    }

    /// The value of a cell; `nil` if the cell is not set.
    ///
    /// - Complexity: O(log n); no lock and no system call, except at the first look of each of several simultaneous
    ///   threads.
    public func get(_ key: String) throws(SpaceError) -> Value? {
        try attempt("get a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.cell(key)
        }
    }

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
            return try core.block(
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
            return try await core.suspend(
                Interest(cell: key),
                text: { Value.string(key).json },
                until: MonotonicInstant.deadline(after: timeout)
            ) { () throws(SpaceError) in try core.cell(key).map { Found(result: $0, removed: nil) } }
        }
    }

    /// Unsets a cell.
    ///
    /// - Returns: The value that the cell had; `nil` if it was not set.
    @discardableResult
    public func unset(_ key: String) throws(SpaceError) -> Value? {
        try attempt("unset a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            guard try core.cell(key) != nil else { return nil }
            return try core.write(.removing, keepsNear: true) { (scope) throws(SpaceError) in
                try scope.unsetIfSet(key)
            }
        }
    }

    /// Adds to the integer in a cell, in one step; a cell that is not set counts as 0.
    ///
    /// - Returns: The sum.
    /// - Throws: `badData` if the cell holds something else, or if the sum doesn't fit 64 bits.
    @discardableResult
    public func increment(_ key: String, by amount: Int = 1) throws(SpaceError) -> Int {
        try attempt("increment a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try core.write(.adding, keepsNear: true) { (scope) throws(SpaceError) in
                try scope.increment(key, by: amount)
            }
        }
    }

    /// All cells of one snapshot, ordered by key.
    public func cells() throws(SpaceError) -> [(key: String, value: Value)] {
        try attempt("get the cells") { (core) throws(SpaceError) in
            try core.read { (snapshot) throws(SpaceError) in try snapshot.allCells() }
        }
    }

    private func change(
        _ key: String,
        to value: Value,
        if condition: (UnsafeRawBufferPointer?) -> Bool
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        try attempt("set a cell") { (core) throws(SpaceError) in
            try Limits.check(cellKey: key)
            let encoded = try value.checkedElement()
            // A commit that adds many pages would use up what is promised to the near end.
            let keepsNear = encoded.count <= NearRing.longestTuple
            return try core.write(.adding, keepsNear: keepsNear) { (scope) throws(SpaceError) in
                try scope.set(key, encoded, if: condition)
            }
        }
    }
}

extension NamespaceCore {
    package func cell(_ key: String) throws(SpaceError) -> Value? {
        try read { (snapshot) throws(SpaceError) in
            guard let bytes = try snapshot.cell(key) else { return nil }
            return try snapshot.value(key, bytes)
        }
    }
}
