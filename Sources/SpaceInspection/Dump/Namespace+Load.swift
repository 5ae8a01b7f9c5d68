import SpaceSystem
import TupleCoding

/// What is loaded from a dump: tuples, cells, collections, and the state of recipes.
///
/// The tuples keep their order and get new ids. Expired tuples and cells are left out. Whether all of it can be loaded
/// is checked before anything is.
package struct LoadedContents: Sendable {
    package var tuples: [LoadedTuple] = []
    package var cells: [DumpedCell] = []
    package var collections: [CollectionDump] = []
    package var recipes = RecipesDump()
    /// The number of deliveries after which a returning tuple is set aside; a namespace that has such a limit keeps it.
    package var deliveryLimit: Int?

    package init(
        tuples: [LoadedTuple] = [],
        cells: [DumpedCell] = [],
        collections: [CollectionDump] = [],
        recipes: RecipesDump = RecipesDump(),
        deliveryLimit: Int? = nil
    ) {
        self.tuples = tuples
        self.cells = cells
        self.collections = collections
        self.recipes = recipes
        self.deliveryLimit = deliveryLimit
    }

    fileprivate static let onlyTuplesFit = "the dump's tuples fit, and not all of what else it has"

    fileprivate var isEmpty: Bool {
        tuples.isEmpty && cells.isEmpty && collections.isEmpty && recipes.isEmpty && deliveryLimit == nil
    }

    fileprivate func check() throws(SpaceError) {
        for loaded in tuples { try Limits.check(size: loaded.tuple.encoded.count) }
        for cell in cells {
            try Limits.check(cellKey: cell.key, "a cell's key")
            _ = try cell.value.checkedElement()
        }
        for collection in collections { try collection.check() }
        try recipes.check()
        if let deliveryLimit { try Limits.check(deliveryLimit: deliveryLimit) }
    }
}

extension Namespace {
    fileprivate static let loading = "load"

    /// Loads a dump in one transaction: either all of it or nothing.
    package func load(_ contents: LoadedContents) throws(SpaceError) {
        try attempt(Self.loading) { (core) throws(SpaceError) in
            try contents.check()
            if contents.isEmpty { return }
            try core.write(.adding) { (scope) throws(SpaceError) in
                try scope.loadRows(contents) { (id) throws(SpaceError) in try scope.bury(loaded: id) }
                do throws(SpaceError) {
                    try scope.loadObjects(contents, core)
                } catch  where error.isOfStepTooLarge {
                    let error = error.ofStep
                    throw error.with(reason: "\(error.reason); \(LoadedContents.onlyTuplesFit)")
                }
            }
        }
    }
}

extension InitialContents {
    /// What a dump has, for a new namespace of this name.
    ///
    /// It is written in parts, in a folder that no other process sees. So a dump of any size is loaded into the room that
    /// its contents take, and the namespace comes with all of it or not at all. Nothing of it is in the history.
    package init(_ contents: LoadedContents, of namespace: String) {
        self.init { (core) throws(SpaceError) in
            try SpaceError.attempt(Namespace.loading, on: namespace) { () throws(SpaceError) in
                try contents.check()
                var history = (rows: UInt64(0), bytes: UInt64(0))
                try core.write(.adding) { (scope) throws(SpaceError) in
                    history = (scope.counters.historyRows, scope.counters.historyBytes)
                    (scope.counters.historyRows, scope.counters.historyBytes) = (0, 0)
                    scope.noteUpkeep()
                }
                var load = NewLoad(core)
                do throws(SpaceError) {
                    for part in try contents.parts() { try load.load(part) }
                    try load.bury()
                } catch  where error.isOfStepTooLarge {
                    throw error.ofLoad(fitting: load.tuples, of: contents.tuples.count)
                }
                // What was buried may have taken the room for additions.
                try core.write(.removing) { (scope) throws(SpaceError) in
                    (scope.counters.historyRows, scope.counters.historyBytes) = history
                    scope.noteUpkeep()
                }
            }
        }
    }
}

extension WriteScope {
    /// Loads contents; `bury` is called with the id of each tuple that is to be buried.
    func load(
        _ contents: LoadedContents,
        _ core: NamespaceCore,
        _ bury: (UInt64) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try loadRows(contents, bury)
        try loadObjects(contents, core)
    }

    /// Loads tuples and cells.
    fileprivate func loadRows(
        _ contents: LoadedContents,
        _ bury: (UInt64) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        if let deliveryLimit = contents.deliveryLimit, counters.deliveryLimit == 0 {
            counters.deliveryLimit = UInt64(deliveryLimit)
            noteUpkeep()
        }
        try addEach(of: contents.tuples.count, "tuples") { (index) throws(SpaceError) in
            let loaded = contents.tuples[index]
            if let id = try load(loaded), loaded.isBuried { try bury(id) }
        }
        try addEach(of: contents.cells.count, "cells") { (index) throws(SpaceError) in
            let cell = contents.cells[index]
            guard let end = clock.end(ofLoaded: cell.expires) else { return }
            try set(cell.key, try cell.value.checkedElement(), end: end)
        }
    }

    /// Loads collections, and the state of recipes.
    fileprivate func loadObjects(_ contents: LoadedContents, _ core: NamespaceCore) throws(SpaceError) {
        for collection in contents.collections { try core.load(collection, in: self) }
        try contents.recipes.load(into: self)
    }

    /// Buries a tuple that was loaded.
    func bury(loaded id: UInt64) throws(SpaceError) {
        if let row = try snapshot.tupleRow(id) { try bury(id, row) }
    }

    /// Loads a tuple, and returns its id, or `nil` if it has expired.
    private func load(_ loaded: LoadedTuple) throws(SpaceError) -> UInt64? {
        guard let end = clock.end(ofLoaded: loaded.expires) else { return nil }
        // The cursors are not kept from tuple to tuple, because setting a tuple aside changes the tables in between.
        var cursors: TupleCursors?
        return try loaded.tuple.encoded.withBytes { (bytes) throws(SpaceError) in
            try insert(
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

extension SpaceError {
    /// This error of room, for a dump that does not fit into the namespace that is made for it.
    fileprivate func ofLoad(fitting count: Int, of many: Int) -> SpaceError {
        let isInTuples = count < many
        let what =
            isInTuples
            ? "\(count.grouped) of the \(many.grouped) tuples of the dump fit"
            : LoadedContents.onlyTuplesFit
        return with(
            reason: "\(reason.split(separator: ";").first ?? ""); \(what)",
            advice: code == .limitReached ? "load it with a larger limit: --limit" : nil
        )
    }
}
