/// A cell that was unset, as it was before: its value, and when it would have ended.
package struct FormerCell: Sendable {
    package let value: Value
    fileprivate let end: RowEnd
}

// Unsetting in two steps, for the shell: a value that can't be printed is put back.

extension Namespace {
    /// Unsets a cell, and returns what it was; `nil` if it was not set.
    package func unsetKeeping(_ key: String) throws(SpaceError) -> FormerCell? {
        try attempt("unset a cell") { (core) throws(SpaceError) in
            try core.write(.removing) { (scope) throws(SpaceError) -> FormerCell? in
                guard let row = try scope.snapshot.cellRow(key) else { return nil }
                let former = FormerCell(value: try scope.snapshot.value(key, row.element), end: row.end)
                try scope.unset(key)
                return former
            }
        }
    }

    /// Sets a cell as it was before it was unset, with the end that it had, unless it is set again or would have expired
    /// by now.
    package func putBack(_ key: String, _ former: FormerCell) throws(SpaceError) {
        try attempt("set a cell") { (core) throws(SpaceError) in
            let encoded = try former.value.checkedElement()
            try core.write(.adding) { (scope) throws(SpaceError) in
                guard try scope.snapshot.cellRow(key) == nil, former.end.isVisible(core.clock) else { return }
                try scope.set(key, encoded, end: former.end)
            }
        }
    }
}
