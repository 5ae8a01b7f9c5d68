extension Snapshot {
    /// All cells, by key.
    package func allCells() throws(SpaceError) -> [(key: String, value: Value)] {
        var rows = try cellsByBytes.scan()
        var cells: [(key: String, value: Value)] = []
        while let (bytes, row) = try rows.next() {
            guard row.end.isVisible(clock) else { continue }
            let key = String(decoding: bytes, as: UTF8.self)
            cells.append((key, try value(key, row.element)))
        }
        return cells
    }

    package func value(_ key: String, _ bytes: UnsafeRawBufferPointer) throws(SpaceError) -> Value {
        do throws(TupleCodingError) {
            return try Value(encodedElement: bytes)
        } catch {
            throw .damaged("the cell \(key.quotedForPeople): \(error)")
        }
    }
}

extension WriteScope {
    /// Sets a cell if its old value meets the condition.
    package func set(
        _ key: String,
        _ encoded: [UInt8],
        _ end: RowEnd = RowEnd(),
        if condition: CellCondition
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        let old = try snapshot.cellRow(key)
        let oldValue = try old.map { (row) throws(SpaceError) in try snapshot.value(key, row.element) }
        guard condition.isMet(by: old) else { return (false, oldValue) }
        try set(key, encoded, end: end)
        return (true, oldValue)
    }

    /// Unsets a cell if it is set; the result is the old value, or `nil` if the cell was not set.
    package func unsetIfSet(_ key: String) throws(SpaceError) -> Value? {
        guard let old = try snapshot.cell(key) else { return nil }
        let value = try snapshot.value(key, old)
        try unset(key)
        return value
    }

    package func increment(_ key: String, by amount: Int) throws(SpaceError) -> Int {
        var current = 0
        var end = RowEnd()
        if let old = try snapshot.cellRow(key) {
            end = old.end
            guard case .int(let number) = try snapshot.value(key, old.element) else {
                let reason = "the cell \(key.quotedForPeople) holds no integer"
                throw SpaceError(.badData, reason: reason, advice: "set it to one first")
            }
            current = number
        }
        let (sum, overflow) = current.addingReportingOverflow(amount)
        guard !overflow else { throw .overflow(current, plus: amount) }
        try set(key, Value.int(sum).knownElement, end: end)
        return sum
    }
}
