import TupleCoding

// Changing a dictionary. A returned value is decoded after the commit: except in a transaction's body, no decoding of a
// user's type runs while other writers wait.

extension SharedDictionary {
    // MARK: One entry

    /// Sets the value of a key.
    ///
    /// - Returns: The old value, or `nil` if there was none.
    /// - Throws: `badData` if the value would not decode again, and then nothing has changed; `badData` too if the old
    ///   value does not decode, which is replaced all the same; `tooLarge`, `storageFull`, `limitReached`,
    ///   `holderStopped`, `holderBusy`, `namespaceDeleted`, `closed`.
    /// - Complexity: O(log n).
    @discardableResult
    public func updateValue(_ value: Value, forKey key: String) throws(SpaceError) -> Value? {
        let operation = "set a value"
        let encoded = try encode(value, operation)
        let old = try edit(operation, key, adding: encoded.count) { (scope, cell) throws(SpaceError) in
            try scope.set(cell, encoded) { _ in true }.old
        }
        return try decode(old, key, operation)
    }

    /// Sets the value of a key that has none.
    ///
    /// - Returns: The value of the key now: the given one, or the one that was there.
    /// - Throws: The same errors as ``updateValue(_:forKey:)``; a value that is there stays even if it does not decode.
    /// - Complexity: O(log n).
    @discardableResult
    public func setDefault(_ value: Value, forKey key: String) throws(SpaceError) -> Value {
        let operation = "set a default"
        let encoded = try encode(value, operation)
        let old = try edit(operation, key, adding: encoded.count) { (scope, cell) throws(SpaceError) in
            try scope.set(cell, encoded) { $0 == nil }.old
        }
        return try decode(old, key, operation) ?? value
    }

    /// Removes the value of a key.
    ///
    /// - Returns: The value, or `nil` if there was none.
    /// - Throws: `badData` if the value does not decode; it is removed all the same. The other errors of
    ///   ``updateValue(_:forKey:)``.
    /// - Complexity: O(log n).
    @discardableResult
    public func removeValue(forKey key: String) throws(SpaceError) -> Value? {
        let operation = "remove a value"
        let old = try edit(operation, key, adding: nil) { (scope, cell) throws(SpaceError) in
            try scope.unsetIfSet(cell)
        }
        return try decode(old, key, operation)
    }

    /// Sets or removes the value of a key, if the present value is the expected one.
    ///
    /// Values are compared as they are encoded.
    ///
    /// - Parameters:
    ///   - expected: The expected value, or `nil` if there must be none.
    ///   - new: The value to set, or `nil` to remove the entry.
    ///   - key: The key of the entry.
    /// - Returns: Whether the present value was the expected one, so that the change was made.
    /// - Throws: The same errors as ``updateValue(_:forKey:)``.
    /// - Complexity: O(log n).
    public func compareAndSet(expected: Value?, new: Value?, forKey key: String) throws(SpaceError) -> Bool {
        let operation = "compare and set a value"
        let expected = try expected.map { (value) throws(SpaceError) in try encode(value, operation) }
        let new = try new.map { (value) throws(SpaceError) in try encode(value, operation) }
        return try edit(operation, key, adding: new?.count) { (scope, cell) throws(SpaceError) in
            let isExpected = try scope.snapshot.cell(cell).map { $0.elementsEqual(expected ?? []) } ?? (expected == nil)
            guard isExpected else { return false }
            if let new {
                try scope.set(cell, new)
            } else if expected != nil {
                try scope.unset(cell)
            }
            return true
        }
    }

    /// Changes the value of a key in place, in one transaction.
    ///
    /// ```swift
    /// try settings.modify("retries") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - body: Changes the value, sets it if there was none, or makes it `nil` to remove it. The body runs once,
    ///     while all other writers wait, so it must be short.
    /// - Returns: The result of the body, after the commit.
    /// - Throws: The errors of the body, after which nothing has changed; `badData` if the value does not decode,
    ///   without a call of the body; and the errors of ``Namespace/transaction(_:)``.
    @discardableResult
    public func modify<Result>(_ key: String, _ body: (inout Value?) throws -> Result) throws -> Result {
        try inTransaction { dictionary in
            let operation = "modify a value"
            let old = try dictionary.encodedValue(forKey: key, operation)
            var value = try dictionary.decode(old, key, operation)
            let result = try body(&value)
            if let value {
                let new = try dictionary.encode(value, operation)
                if new != old?.knownElement { try dictionary.set(new, key, operation) }
            } else if old != nil {
                try dictionary.unset(key, operation)
            }
            return result
        }
    }

    // MARK: Several

    /// Sets the values of several keys, in one transaction.
    ///
    /// - Parameters:
    ///   - other: The new values.
    ///   - combine: Combines the present value of a key with the new one. It runs in the transaction, so it must be
    ///     short.
    /// - Throws: The errors of `combine`, after which nothing has changed; `badData` if a present value does not
    ///   decode; `transactionTooLarge`, and the errors of ``Namespace/transaction(_:)``.
    public func merge(
        _ other: [String: Value],
        uniquingKeysWith combine: (_ current: Value, _ new: Value) throws -> Value
    ) throws {
        guard !other.isEmpty else { return }
        try inTransaction { dictionary in
            let operation = "merge values"
            // All values are combined before the first is set: if `combine` throws, a transaction of the caller goes on
            // unchanged.
            var changes: [(key: String, encoded: [UInt8])] = []
            for (key, new) in other {
                let old = try dictionary.encodedValue(forKey: key, operation)
                let current = try dictionary.decode(old, key, operation)
                let merged = try dictionary.encode(try current.map { try combine($0, new) } ?? new, operation)
                if merged != old?.knownElement { changes.append((key, merged)) }
            }
            for change in changes { try dictionary.set(change.encoded, change.key, operation) }
        }
    }

    /// Removes all entries, in one transaction; the dictionary itself stays.
    ///
    /// All other writers wait meanwhile.
    ///
    /// - Throws: The same errors as ``updateValue(_:forKey:)``; `transactionTooLarge` if this is part of a larger
    ///   transaction.
    /// - Complexity: O(n log n).
    public func removeAll() throws(SpaceError) {
        let operation = "remove all entries"
        switch place {
        case .namespace(let namespace):
            let core = try namespace.usableCore(operation)
            try core.write(operation, .removing) { (scope) throws(SpaceError) in
                try scope.snapshot.checkDictionary(name, number)
                try scope.removeEntries(ofDictionary: name)
            }
        case .transaction(let state):
            let (keys, bytes) = try read(operation) { (snapshot) throws(SpaceError) in
                try snapshot.cells(ofDictionary: name)
            }
            try state.change(.removing, count: keys.count, bytes: bytes) { (scope) throws(SpaceError) in
                for key in keys { try scope.unset(key) }
            }
        }
    }

    // MARK: Helpers

    /// Runs `body` with the dictionary as part of a transaction: the one it belongs to, or a new one.
    private func inTransaction<Result>(_ body: (SharedDictionary) throws -> Result) throws -> Result {
        guard case .namespace(let namespace) = place else { return try body(self) }
        return try namespace.transaction { try body(try $0.dictionary(self)) }
    }

    private func set(_ encoded: [UInt8], _ key: String, _ operation: String) throws(SpaceError) {
        try edit(operation, key, adding: encoded.count) { (scope, cell) throws(SpaceError) in
            try scope.set(cell, encoded)
        }
    }

    private func unset(_ key: String, _ operation: String) throws(SpaceError) {
        try edit(operation, key, adding: nil) { (scope, cell) throws(SpaceError) in try scope.unset(cell) }
    }

    /// Changes one cell; `bytes` is the size of the value that may be set, or `nil` if none is set.
    private func edit<R>(
        _ operation: String,
        _ key: String,
        adding bytes: Int?,
        _ body: (WriteScope, _ cell: String) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let cell = try cellKey(key, operation)
        let purpose: WritePurpose = bytes == nil ? .removing : .adding
        switch place {
        case .namespace(let namespace):
            return try namespace.usableCore(operation).write(operation, purpose) { (scope) throws(SpaceError) in
                try scope.snapshot.checkDictionary(name, number)
                return try body(scope, cell)
            }
        case .transaction(let state):
            return try state.change(purpose, bytes: try state.cellSize(cell) + (bytes ?? 0)) {
                (scope) throws(SpaceError) in
                try body(scope, cell)
            }
        }
    }
}
