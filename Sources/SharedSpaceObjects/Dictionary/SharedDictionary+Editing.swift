// Changing a dictionary. A returned value is decoded after the commit: except in a transaction's body, no decoding of a
// user's type runs while other writers wait.

extension SharedDictionary {
    // MARK: One entry

    /// Sets the value of a key.
    ///
    /// - Returns: The old value, or `nil` if there was none.
    /// - Throws: `badData` if the value would not decode again, and then nothing has changed; `badData` too if the old
    ///   value does not decode, although it is replaced; `tooLarge`, `storageFull`, `limitReached`, `holderStopped`,
    ///   `holderBusy`, `namespaceDeleted`, `closed`.
    /// - Complexity: O(log n).
    @discardableResult
    public func updateValue(_ value: Value, forKey key: String) throws(SpaceError) -> Value? {
        try context.naming("set a value") { () throws(SpaceError) in
            let encoded = try encode(value)
            let old = try edit(key, adding: encoded.count) { (scope, cell) throws(SpaceError) in
                try scope.set(cell, encoded, if: .any).old
            }
            return try decode(old, key)
        }
    }

    /// Sets the value of a key that has no value.
    ///
    /// - Returns: The value of the key now: the given value, or the value that was there.
    /// - Throws: The same errors as ``updateValue(_:forKey:)``; an existing value stays even if it does not decode.
    /// - Complexity: O(log n).
    @discardableResult
    public func setDefault(_ value: Value, forKey key: String) throws(SpaceError) -> Value {
        try context.naming("set a default") { () throws(SpaceError) in
            let encoded = try encode(value)
            let old = try edit(key, adding: encoded.count) { (scope, cell) throws(SpaceError) in
                try scope.set(cell, encoded, if: .isAbsent).old
            }
            return try decode(old, key) ?? value
        }
    }

    /// Removes the value of a key.
    ///
    /// - Returns: The value, or `nil` if there was none.
    /// - Throws: `badData` if the value does not decode, although it is removed. The other errors of
    ///   ``updateValue(_:forKey:)``.
    /// - Complexity: O(log n).
    @discardableResult
    public func removeValue(forKey key: String) throws(SpaceError) -> Value? {
        try context.naming("remove a value") { () throws(SpaceError) in
            let old = try edit(key, adding: nil) { (scope, cell) throws(SpaceError) in try scope.unsetIfSet(cell) }
            return try decode(old, key)
        }
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
        try context.naming("compare and set a value") { () throws(SpaceError) in
            let expected = try expected.map { (value) throws(SpaceError) in try encode(value) }
            let new = try new.map { (value) throws(SpaceError) in try encode(value) }
            return try edit(key, adding: new?.count) { (scope, cell) throws(SpaceError) in
                let old = try scope.snapshot.cell(cell)
                guard old.map({ $0.elementsEqual(expected ?? []) }) ?? (expected == nil) else { return false }
                if let new {
                    try scope.set(cell, new)
                } else if expected != nil {
                    try scope.unset(cell)
                }
                return true
            }
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
    ///   - body: Changes the value, sets it if there was none, or makes it `nil` to remove the entry. The body runs
    ///     once, while all other writers wait, so it must be short.
    /// - Returns: The result of the body, after the commit.
    /// - Throws: The errors of the body, after which nothing has changed; `badData` if the value does not decode,
    ///   without a call of the body; and the errors of ``Namespace/transaction(_:)``.
    @discardableResult
    public func modify<Result>(_ key: String, _ body: (inout Value?) throws -> Result) throws -> Result {
        try inTransaction { dictionary in
            let operation = "modify a value"
            var (old, value) = try context.naming(operation) { () throws(SpaceError) in try dictionary.present(key) }
            let result = try body(&value)
            try context.naming(operation) { () throws(SpaceError) in
                if let value {
                    let new = try dictionary.encode(value)
                    if new != old?.knownElement { try dictionary.set(new, key) }
                } else if old != nil {
                    try dictionary.edit(key, adding: nil) { (scope, cell) throws(SpaceError) in try scope.unset(cell) }
                }
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
            // All values are combined before the first is set: if `combine` throws, a transaction of the caller goes on
            // unchanged.
            var changes: [(key: String, encoded: [UInt8])] = []
            for (key, new) in other {
                let (old, current) = try context.naming(Self.merging) { () throws(SpaceError) in
                    try dictionary.present(key)
                }
                let merged = try current.map { try combine($0, new) } ?? new
                let encoded = try context.naming(Self.merging) { () throws(SpaceError) in try dictionary.encode(merged)
                }
                if encoded != old?.knownElement { changes.append((key, encoded)) }
            }
            try context.naming(Self.merging) { () throws(SpaceError) in
                for change in changes { try dictionary.set(change.encoded, change.key) }
            }
        }
    }

    /// Removes all entries, in one transaction; the dictionary itself stays.
    ///
    /// All other writers wait during the transaction.
    ///
    /// - Throws: The same errors as ``updateValue(_:forKey:)``; `transactionTooLarge` if this is part of a larger
    ///   transaction.
    /// - Complexity: O(n log n).
    public func removeAll() throws(SpaceError) {
        try context.naming("remove all entries") { () throws(SpaceError) in
            switch context {
            case .namespace(let namespace):
                try namespace.usableCore().write(.removing) { (scope) throws(SpaceError) in
                    try scope.snapshot.checkDictionary(name, number)
                    try scope.dictionaries.removeEntries(of: name)
                }
            case .transaction(let state):
                let (keys, bytes) = try read { (snapshot) throws(SpaceError) in try snapshot.cells(ofDictionary: name) }
                try state.change(.removing, count: keys.count, bytes: bytes) { (scope) throws(SpaceError) in
                    for key in keys { try scope.unset(key) }
                }
            }
        }
    }

    // MARK: Helpers

    /// Runs `body` with the dictionary as part of a transaction: the one it belongs to, or a new one.
    private func inTransaction<Result>(_ body: (SharedDictionary) throws -> Result) throws -> Result {
        guard case .namespace(let namespace) = context else { return try body(self) }
        return try namespace.transaction { try body(try $0.dictionary(self)) }
    }

    private static var merging: String { "merge values" }

    /// The value of a key as it is stored, and decoded.
    private func present(_ key: String) throws(SpaceError) -> (TupleCoding.Value?, Value?) {
        let stored = try encodedValue(forKey: key)
        return (stored, try decode(stored, key))
    }

    private func set(_ encoded: [UInt8], _ key: String) throws(SpaceError) {
        try edit(key, adding: encoded.count) { (scope, cell) throws(SpaceError) in try scope.set(cell, encoded) }
    }

    /// Changes one cell; `bytes` is the size of the value that may be set, or `nil` if none is set.
    private func edit<R>(
        _ key: String,
        adding bytes: Int?,
        _ body: (WriteScope, _ cell: String) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let cell = try cellKey(key)
        let purpose: WritePurpose = bytes == nil ? .removing : .adding
        switch context {
        case .namespace(let namespace):
            return try namespace.usableCore().write(purpose) { (scope) throws(SpaceError) in
                try scope.snapshot.checkDictionary(name, number)
                return try body(scope, cell)
            }
        case .transaction(let state):
            return try state.change(
                purpose,
                bytes: try state.read { (scope) throws(SpaceError) in try scope.snapshot.cell(cell)?.count ?? 0 }
                    + (bytes ?? 0)
            ) {
                (scope) throws(SpaceError) in
                try body(scope, cell)
            }
        }
    }
}
