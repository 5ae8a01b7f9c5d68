import SpaceSystem

/// Loads what a dump has, in a write transaction.
struct ContentsLoad {
    let scope: WriteScope

    /// Loads contents; `bury` is called with the id of each tuple that is to be buried.
    func load(
        _ contents: LoadedContents,
        _ bury: (UInt64) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try loadRows(contents, bury)
        try loadObjects(contents)
    }

    /// Loads tuples and cells.
    func loadRows(
        _ contents: LoadedContents,
        _ bury: (UInt64) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        if let deliveryLimit = contents.deliveryLimit, scope.counters.deliveryLimit == 0 {
            scope.counters.deliveryLimit = UInt64(deliveryLimit)
            scope.noteUpkeep()
        }
        try scope.addEach(of: contents.tuples.count, "tuples") { (index) throws(SpaceError) in
            let loaded = contents.tuples[index]
            if let id = try load(loaded), loaded.isBuried { try bury(id) }
        }
        try scope.addEach(of: contents.cells.count, "cells") { (index) throws(SpaceError) in
            let cell = contents.cells[index]
            guard let end = scope.clock.end(ofLoaded: cell.expires) else { return }
            try scope.set(cell.key, try cell.value.checkedElement(), end: end)
        }
    }

    /// Loads collections, and the state of recipes.
    func loadObjects(_ contents: LoadedContents) throws(SpaceError) {
        for collection in contents.collections { try collection.load(into: scope) }
        try contents.recipes.load(into: scope)
    }

    /// Buries a tuple that was loaded.
    func bury(loaded id: UInt64) throws(SpaceError) {
        if let row = try scope.snapshot.tupleRow(id) { try scope.bury(id, row) }
    }

    /// Loads a tuple, and returns its id, or `nil` if it has expired.
    private func load(_ loaded: LoadedTuple) throws(SpaceError) -> UInt64? {
        guard let end = scope.clock.end(ofLoaded: loaded.expires) else { return nil }
        // The cursors are not kept from tuple to tuple, because burying a tuple changes the tables in between.
        var cursors: TupleCursors?
        return try loaded.tuple.encoded.withBytes { (bytes) throws(SpaceError) in
            try scope.insert(
                EncodedTuple(bytes: bytes, isRecord: loaded.tuple.isRecord),
                end: end,
                deliveries: loaded.deliveries,
                origin: loaded.origin == .unknown ? nil : loaded.origin,
                with: &cursors
            )
        }
    }
}

extension NamespaceClock {
    /// The end of a loaded row that expires at a time of the wall clock; `nil` if that time has passed.
    fileprivate func end(ofLoaded expires: Int64?) -> RowEnd? {
        guard let expires else { return RowEnd() }
        return time(ofLoaded: expires).map { RowEnd(expiry: $0) }
    }
}
