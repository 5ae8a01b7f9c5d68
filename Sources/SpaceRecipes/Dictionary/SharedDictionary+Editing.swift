import TupleCoding

// Changing a dictionary. A value that is returned is decoded after the change was made: no decoding of a user's type runs while
// others are kept from writing, but in a transaction's body.

extension SharedDictionary {
    // MARK: One entry

    /// Sets the value of a key.
    ///
    /// - Returns: The old value; `nil` when there was none.
    /// - Throws: `badData` when the value would not decode again, and nothing has changed then, or when the old one does not
    ///   decode: it is replaced all the same; `tooLarge`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`, `closed`.
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
    /// - Returns: The value that is there now: this one, or the one that was.
    /// - Throws: As ``updateValue(_:forKey:)``; a value that is there stays also where it doesn't decode.
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
    /// - Returns: The value; `nil` when there was none.
    /// - Throws: `badData` when it does not decode: it is removed all the same; and as ``updateValue(_:forKey:)``.
    /// - Complexity: O(log n).
    @discardableResult
    public func removeValue(forKey key: String) throws(SpaceError) -> Value? {
        let operation = "remove a value"
        let old = try edit(operation, key, adding: nil) { (scope, cell) throws(SpaceError) in
            try scope.unsetIfSet(cell)
        }
        return try decode(old, key, operation)
    }

    /// Sets or removes the value of a key, if it is what is expected.
    ///
    /// Values are compared as they are encoded.
    ///
    /// - Parameters:
    ///   - expected: The value that is to be there; `nil`: none.
    ///   - new: The value to set; `nil`: none is to be there.
    ///   - key: Whose value.
    /// - Returns: Whether it was as expected, and so now is the new one.
    /// - Throws: As ``updateValue(_:forKey:)``.
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

    /// Changes the value of a key with what a body makes of it, in one transaction.
    ///
    /// ```swift
    /// try settings.modify("retries") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - key: Whose value.
    ///   - body: Changes the value, sets it where there was none, or makes it `nil` to remove it. It runs once, while all others
    ///     who write wait: so it is to be short.
    /// - Returns: What the body returned, after the commit.
    /// - Throws: What the body throws, after which nothing has changed; `badData` when the value does not decode, without a call
    ///   of the body; and as ``Namespace/transaction(_:)``.
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
    ///   - combine: Makes one of the value that is there and the new one, for a key that has both; part of the transaction, and
    ///     so short.
    /// - Throws: What `combine` throws, after which nothing has changed; `badData` when a value that is there does not decode;
    ///   `transactionTooLarge`, and as ``Namespace/transaction(_:)``.
    public func merge(
        _ other: [String: Value],
        uniquingKeysWith combine: (_ current: Value, _ new: Value) throws -> Value
    ) throws {
        guard !other.isEmpty else { return }
        try inTransaction { dictionary in
            let operation = "merge values"
            // All before the first is set: where `combine` throws, a transaction of the caller's own goes on as it was.
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
    /// All others who write wait meanwhile.
    ///
    /// - Throws: As ``updateValue(_:forKey:)``; `transactionTooLarge` where it is a part of a larger one.
    /// - Complexity: O(n log n).
    public func removeAll() throws(SpaceError) {
        let operation = "remove all entries"
        switch place {
        case .namespace(let namespace):
            let core = try namespace.usableCore(operation)
            try core.write(operation, DiskReserve.Demand.none) { (scope) throws(SpaceError) in
                try scope.snapshot.checkDictionary(name, number)
                try core.removeEntries(ofDictionary: name, in: scope)
            }
        case .transaction(let state):
            let (keys, demand) = try read(operation) { (snapshot) throws(SpaceError) in
                try snapshot.cells(ofDictionary: name)
            }
            try state.change(demand) { (scope) throws(SpaceError) in for key in keys { try scope.unset(key) } }
        }
    }

    // MARK: Helpers

    /// The same dictionary as a part of a transaction: of the one that it belongs to, or of one of its own.
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

    /// Changes one cell; `bytes` are those of the value that may be set, `nil`: none.
    private func edit<R>(
        _ operation: String,
        _ key: String,
        adding bytes: Int?,
        _ body: (WriteScope, _ cell: String) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let cell = try cellKey(key, operation)
        var demand = bytes.map { DiskReserve.Demand.adding(1, bytes: $0 + cell.utf8.count + 16) } ?? .removing(1)
        switch place {
        case .namespace(let namespace):
            return try namespace.usableCore(operation).write(operation, demand.replacing(cell: cell)) {
                (scope) throws(SpaceError) in
                try scope.snapshot.checkDictionary(name, number)
                return try body(scope, cell)
            }
        case .transaction(let state):
            // Measured now: the journal keeps a copy of the old value.
            demand.cells = 1
            demand.removedBytes += try read(operation) { (snapshot) throws(SpaceError) in
                try snapshot.cell(cell)?.count ?? 0
            }
            return try state.change(demand) { (scope) throws(SpaceError) in try body(scope, cell) }
        }
    }
}
