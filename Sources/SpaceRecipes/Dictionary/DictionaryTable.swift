/// The rows of dictionaries, in a write transaction.
package struct DictionaryTable {
    let scope: WriteScope

    /// Unsets all cells of a dictionary.
    package func removeEntries(of name: String) throws(SpaceError) {
        for key in try scope.snapshot.cells(ofDictionary: name).keys { try scope.unset(key) }
    }
}

extension WriteScope {
    /// The dictionaries of the namespace.
    package var dictionaries: DictionaryTable { DictionaryTable(scope: self) }
}
