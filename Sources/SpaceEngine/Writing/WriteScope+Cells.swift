import SpaceSystem

// The rows of a cell: one in `cells`, and those in `expiries` if it ends by itself. Every change of a cell goes through
// here, so the two tables agree.

extension WriteScope {
    /// Sets a cell to one encoded element; what is known of the cell's end before no longer holds.
    package func set(_ key: String, _ encoded: [UInt8], end: RowEnd = RowEnd()) throws(SpaceError) {
        let before = try removeExpiries(ofCell: key)
        try encoded.withBytes { (new) throws(SpaceError) in
            try note(.set, key, old: before, new: new)
            try cells.put(key, CellRow(end: end, version: newVersion, element: new))
        }
        if !end.isNever { for expiry in end.keys(.cell(key)) { try addExpiry(expiry) } }
        note(Interest(cell: key))
    }

    /// The version of the cell that is being set: higher than any version that a cell had before.
    ///
    /// The changes of a transaction's body are numbered later, the first of them one above the last change.
    private var newVersion: UInt64 { net == nil ? counters.sequence : counters.sequence + 1 }

    /// Changes when a cell that is set ends; its value and its version stay.
    package func setEnd(ofCell key: String, _ row: CellRow, _ end: RowEnd) throws(SpaceError) {
        let (version, element) = (row.version, Array(row.element))
        for expiry in row.end.keys(.cell(key)) { try removeExpiry(expiry) }
        try element.withBytes { (element) throws(SpaceError) in
            try cells.put(key, CellRow(end: end, version: version, element: element))
        }
        for expiry in end.keys(.cell(key)) { try addExpiry(expiry) }
        noteUpkeep()
    }

    /// Unsets a cell that is set.
    package func unset(_ key: String) throws(SpaceError) {
        try note(.unset, key, old: try removeExpiries(ofCell: key), new: nil)
        try cells.delete(key)
    }

    /// Removes the rows in `expiries` of a cell that is about to be changed; the result is a copy of its present value,
    /// if changes are journaled and the cell is set.
    private func removeExpiries(ofCell key: String) throws(SpaceError) -> [UInt8]? {
        guard isJournaling || counters.expiring > 0, let row = try cells.getValid(key) else { return nil }
        let end = row.end
        let old = isJournaling ? Array(row.element) : nil
        if !end.isNever { for expiry in end.keys(.cell(key)) { try removeExpiry(expiry) } }
        return old
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
    package func notePost(_ name: String, _ value: [UInt8], sender: [UInt8]?) throws(SpaceError) {
        try value.withBytes { (new) throws(SpaceError) in try note(.post, name, old: sender, new: new) }
    }
}
