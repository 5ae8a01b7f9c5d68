// Unsetting in two steps, for the shell: a value that can't be printed is put back.

extension Namespace {
    /// Unsets a cell, and returns what it was; `nil` if it was not set.
    package func unsetKeeping(_ key: String) throws(SpaceError) -> FormerCell? { try perform(Unset(key: key)) }

    /// Restores a cell that was unset, with the end that it had, unless it was set again or would have expired by now.
    package func putBack(_ key: String, _ former: FormerCell) throws(SpaceError) {
        let element = try core.naming(PutBack.name) { () throws(SpaceError) in try former.value.checkedElement() }
        try perform(PutBack(key: key, element: element, end: former.end))
    }
}
