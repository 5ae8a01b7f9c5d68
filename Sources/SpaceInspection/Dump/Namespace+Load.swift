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
                let load = ContentsLoad(scope: scope)
                try load.loadRows(contents) { (id) throws(SpaceError) in try load.bury(loaded: id) }
                do throws(SpaceError) {
                    try load.loadObjects(contents)
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
    /// It is written in parts, in a folder that no other process sees. So a dump of any size needs only the room that
    /// its contents take, and the namespace appears with all of it or not at all. The history has none of it.
    package init(_ contents: LoadedContents, of namespace: String) {
        self.init { (core) throws(SpaceError) in
            try SpaceError.naming(Namespace.loading, on: namespace) { () throws(SpaceError) in
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

extension SpaceError {
    /// This error of room, for a dump that does not fit into its new namespace.
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
