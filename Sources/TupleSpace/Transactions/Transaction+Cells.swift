public import TupleCoding

// Cells in a transaction: the same calls as on a namespace, without those that wait.

extension Transaction {
    // MARK: Codable values

    /// Sets a cell.
    public func set(_ key: String, _ content: some Encodable) throws(SpaceError) {
        try set(key, value: try state.namespace.encoded(content, "set a cell"))
    }

    /// The value of a cell, decoded; `nil` if the cell is not set.
    ///
    /// - Throws: `badData` if the value of the cell doesn't decode as the type.
    public func get<Content: Decodable>(_ key: String, as type: Content.Type = Content.self) throws(SpaceError)
        -> Content?
    {
        guard let value = try get(key) else { return nil }
        do throws(TupleCodingError) {
            return try value.decode(type)
        } catch {
            throw SpaceError(error, "get the cell \(key.quotedForPeople)", namespace: name)
        }
    }

    // MARK: Values

    /// Sets a cell to a value.
    ///
    /// - Returns: The old value; `nil` if the cell was not set.
    @discardableResult
    public func set(_ key: String, value: Value) throws(SpaceError) -> Value? {
        try change(key, to: value) { _ in true }.old
    }

    /// Sets a cell if it has the expected value.
    ///
    /// - Returns: Whether the cell had the expected value, and so is set.
    public func set(_ key: String, value: Value, ifEquals expected: Value) throws(SpaceError) -> Bool {
        let expected = try state.namespace.encodedElement(of: expected, "set a cell")
        return try change(key, to: value) { old in old.map { $0.elementsEqual(expected) } ?? false }.isSet
    }

    /// Sets a cell if it is not set yet.
    ///
    /// - Returns: Whether the cell was not set before, and so is now.
    public func setIfAbsent(_ key: String, value: Value) throws(SpaceError) -> Bool {
        try change(key, to: value) { $0 == nil }.isSet
    }

    /// The value of a cell; `nil` if the cell is not set.
    public func get(_ key: String) throws(SpaceError) -> Value? {
        try state.namespace.check(key, "get a cell")
        return try state.look { (scope) throws(SpaceError) in
            try scope.snapshot.cell(key).map { (bytes) throws(SpaceError) in try scope.snapshot.value(key, bytes) }
        }
    }

    /// Unsets a cell.
    ///
    /// - Returns: The value that the cell had; `nil` if it was not set.
    @discardableResult
    public func unset(_ key: String) throws(SpaceError) -> Value? {
        try state.namespace.check(key, "unset a cell")
        return try state.change(.removing, bytes: try state.cellSize(key)) { (scope) throws(SpaceError) in
            try scope.unsetIfSet(key)
        }
    }

    /// Adds to the integer in a cell; a cell that is not set counts as 0.
    ///
    /// - Returns: The sum.
    /// - Throws: `badData` if the cell holds something else, or if the sum doesn't fit 64 bits; then the transaction is
    ///   undone.
    @discardableResult
    public func increment(_ key: String, by amount: Int = 1) throws(SpaceError) -> Int {
        try state.namespace.check(key, "increment a cell")
        return try state.change(.adding, bytes: try state.cellSize(key)) { (scope) throws(SpaceError) in
            try scope.increment(key, by: amount)
        }
    }

    private func change(
        _ key: String,
        to value: Value,
        if condition: (UnsafeRawBufferPointer?) -> Bool
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        let encoded = try state.namespace.checked(key, value, "set a cell")
        return try state.change(.adding, bytes: try state.cellSize(key) + encoded.count) { (scope) throws(SpaceError) in
            try scope.set(key, encoded, if: condition)
        }
    }
}
