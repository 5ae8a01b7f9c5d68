// The changes that tell watchers what is held.

extension PlaceTable {
    /// Notes that a lock, permits or leadership came to a holder, or left it; places of other kinds are not reported.
    func noteHeld(_ kind: ChangeKind, _ row: PlaceRow, of name: String) throws(SpaceError) {
        switch row.kind {
        case .lock, .semaphore, .election:
            try scope.objects.note(
                kind,
                object: name,
                old: kind == .release ? row.told : nil,
                new: kind == .release ? nil : row.told
            )
        default: break
        }
    }

    /// Replaces the value that a leader proclaims; `nil` if it no longer leads.
    func proclaim(_ value: Value, _ ticket: UInt64, of name: String) throws(SpaceError) -> PlaceRow? {
        let keys = PlaceKeys(name)
        guard let old = try scope.snapshot.place(keys, ticket), old.kind == .election, old.isHolding else { return nil }
        var row = old
        row.details = value
        try put(row, keys)
        try scope.objects.note(.proclaim, object: name, old: old.told, new: row.told)
        return row
    }
}

extension PlaceRow {
    /// What watchers are told of a holder.
    fileprivate var told: Value {
        var told: [(String, Value)] = [
            ("kind", .string(kind.word)), ("fencing", .int(Int(Int64(bitPattern: ticket)))), ("pid", .int(Int(pid))),
        ]
        switch kind {
        case .lock where isShared: told.append(("shared", true))
        case .semaphore: told.append(("permits", .int(Int(weight))))
        // A value that is nested as deep as values may be can't be put into another value.
        case .election where (try? Value.array([details]).checkedElement()) != nil: told.append(("value", details))
        default: break
        }
        return (try? Record(told)).map { .object($0) } ?? .null
    }
}
