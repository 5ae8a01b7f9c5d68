/// The rows of watchers, as a write changes them.
package struct WatcherTable {
    fileprivate let scope: WriteScope

    package func put(_ number: UInt64, _ row: WatcherRow) throws(SpaceError) {
        try scope.watcherRows.put(number, row)
        scope.noteUpkeep()
    }

    package func remove(_ number: UInt64) throws(SpaceError) {
        guard try scope.watcherRows.delete(number) else { return }
        scope.counters.watchers -= min(1, scope.counters.watchers)
        scope.noteUpkeep()
        try scope.emptyUnreadJournal()
    }
}

extension WriteScope {
    /// The rows of watchers.
    package var watchers: WatcherTable { WatcherTable(scope: self) }
}
