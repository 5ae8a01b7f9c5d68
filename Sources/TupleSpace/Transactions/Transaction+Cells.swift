public import TupleCoding

// Cells in a transaction: the same calls as on a namespace, without those that wait.

extension Transaction {
    // MARK: Codable values

    /// Sets a cell.
    public func set(_ key: String, _ content: some Encodable) throws(SpaceError) {
        let value = try state.attempt("set a cell") { () throws(SpaceError) in try Value(checking: content) }
        try set(key, value: value)
    }

    /// The value of a cell, decoded; `nil` if the cell is not set.
    ///
    /// - Throws: `badData` if the value of the cell doesn't decode as the type.
    public func get<Content: Decodable>(_ key: String, as type: Content.Type = Content.self) throws(SpaceError)
        -> Content?
    {
        guard let value = try get(key) else { return nil }
        return try state.attempt("get the cell \(key.quotedForPeople)") { () throws(SpaceError) in
            try value.content(type)
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
        let expected = try state.attempt("set a cell") { () throws(SpaceError) in try expected.uncheckedElement() }
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
        try state.attempt("get a cell") { () throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try state.look { (scope) throws(SpaceError) in
                try scope.snapshot.cell(key).map { (bytes) throws(SpaceError) in try scope.snapshot.value(key, bytes) }
            }
        }
    }

    /// Unsets a cell.
    ///
    /// - Returns: The value that the cell had; `nil` if it was not set.
    @discardableResult
    public func unset(_ key: String) throws(SpaceError) -> Value? {
        try state.attempt("unset a cell") { () throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try state.change(.removing, bytes: try state.cellSize(key)) { (scope) throws(SpaceError) in
                try scope.unsetIfSet(key)
            }
        }
    }

    /// Adds to the integer in a cell; a cell that is not set counts as 0.
    ///
    /// - Returns: The sum.
    /// - Throws: `badData` if the cell holds something else, or if the sum doesn't fit 64 bits; then the transaction is
    ///   undone.
    @discardableResult
    public func increment(_ key: String, by amount: Int = 1) throws(SpaceError) -> Int {
        try state.attempt("increment a cell") { () throws(SpaceError) in
            try Limits.check(cellKey: key)
            return try state.change(.adding, bytes: try state.cellSize(key)) { (scope) throws(SpaceError) in
                try scope.increment(key, by: amount)
            }
        }
    }

    private func change(
        _ key: String,
        to value: Value,
        if condition: (UnsafeRawBufferPointer?) -> Bool
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        try state.attempt("set a cell") { () throws(SpaceError) in
            try Limits.check(cellKey: key)
            let encoded = try value.checkedElement()
            let bytes = try state.cellSize(key) + encoded.count
            return try state.change(.adding, bytes: bytes) { (scope) throws(SpaceError) in
                try scope.set(key, encoded, if: condition)
            }
        }
    }
}
