import SpaceSystem
import TupleCoding

// Cells: named values. The value of a row is one encoded element, so that two values are equal if their bytes are.

extension Snapshot {
    /// All cells, by key.
    package func allCells() throws(SpaceError) -> [(key: String, value: Value)] {
        var rows = try cellsByBytes.scan()
        var cells: [(key: String, value: Value)] = []
        while let (bytes, encoded) = try rows.next() {
            let key = String(decoding: bytes, as: UTF8.self)
            cells.append((key, try value(key, encoded)))
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
    package func set(_ key: String, _ encoded: [UInt8]) throws(SpaceError) {
        let old = isJournaling ? try snapshot.cell(key).map { Array($0) } : nil
        try encoded.withBytes { (new) throws(SpaceError) in
            try note(.set, key, old: old, new: new)
            try put(cell: key, new)
        }
        noteSet(cell: key)
    }

    /// Notes a change of something with a name; the old value is a copy.
    private func note(
        _ kind: ChangeKind,
        _ name: String,
        old: [UInt8]?,
        new: UnsafeRawBufferPointer?
    ) throws(SpaceError) {
        guard let old else { return try note(kind, name: name, new: new) }
        try old.withBytes { (old) throws(SpaceError) in try note(kind, name: name, old: old, new: new) }
    }

    /// Notes a post; `sender` is the encoded number of an object, or `nil` if there is none.
    func notePost(_ name: String, _ value: [UInt8], sender: [UInt8]?) throws(SpaceError) {
        try value.withBytes { (new) throws(SpaceError) in try note(.post, name, old: sender, new: new) }
    }

    package func unset(_ key: String) throws(SpaceError) {
        try note(.unset, key, old: isJournaling ? try snapshot.cell(key).map { Array($0) } : nil, new: nil)
        try cells.delete(key)
    }
}

extension WriteScope {
    /// Sets a cell if its old value meets the condition.
    package func set(
        _ key: String,
        _ encoded: [UInt8],
        if condition: (UnsafeRawBufferPointer?) -> Bool
    ) throws(SpaceError) -> (isSet: Bool, old: Value?) {
        let old = try snapshot.cell(key)
        let oldValue = try old.map { (bytes) throws(SpaceError) in try snapshot.value(key, bytes) }
        guard condition(old) else { return (false, oldValue) }
        try set(key, encoded)
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
        if let old = try snapshot.cell(key) {
            guard case .int(let number) = try snapshot.value(key, old) else {
                let reason = "the cell \(key.quotedForPeople) holds no integer"
                throw SpaceError(.badData, reason: reason, advice: "set it to one first")
            }
            current = number
        }
        let (sum, overflow) = current.addingReportingOverflow(amount)
        guard !overflow else { throw .overflow(current, plus: amount) }
        try set(key, Value.int(sum).knownElement)
        return sum
    }
}
