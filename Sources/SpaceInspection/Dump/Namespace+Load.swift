import SpaceSystem
import TupleCoding

extension Namespace {
    /// Loads a dump in one transaction: either all of it or nothing.
    ///
    /// It writes tuples, sets cells, makes collections, fills ordered sets and queues, and sets the state of other
    /// recipes. The tuples keep their order and get new ids. Expired tuples and cells are left out.
    package func load(
        tuples: [LoadedTuple],
        cells: [DumpedCell],
        collections: [CollectionDump] = [],
        recipes: RecipesDump = RecipesDump(),
        deliveryLimit: Int? = nil
    ) throws(SpaceError) {
        try attempt("load") { (core) throws(SpaceError) in
            for loaded in tuples { try Limits.check(size: loaded.tuple.encoded.count) }
            var values: [LoadedCell] = []
            for cell in cells {
                try Limits.check(cellKey: cell.key, "a cell's key")
                values.append((cell.key, try cell.value.checkedElement(), cell.expires))
            }
            for collection in collections { try collection.check() }
            try recipes.check()
            guard !tuples.isEmpty || !values.isEmpty || !collections.isEmpty || !recipes.isEmpty || deliveryLimit != nil
            else { return }
            try load(tuples, values, collections, recipes, deliveryLimit, core)
        }
    }

    private func load(
        _ tuples: [LoadedTuple],
        _ values: [LoadedCell],
        _ collections: [CollectionDump],
        _ recipes: RecipesDump,
        _ deliveryLimit: Int?,
        _ core: NamespaceCore
    ) throws(SpaceError) {
        try core.write(.adding) { (scope) throws(SpaceError) in
            // A namespace that has a limit keeps it.
            if let deliveryLimit, scope.counters.deliveryLimit == 0 {
                scope.counters.deliveryLimit = UInt64(deliveryLimit)
            }
            for loaded in tuples {
                guard let end = Self.end(loaded.expires, core.clock) else { continue }
                // The cursors are not kept from tuple to tuple, because burying a tuple changes the tables in
                // between.
                var cursors: TupleCursors?
                let id = try loaded.tuple.encoded.withBytes { (bytes) throws(SpaceError) in
                    let tuple = EncodedTuple(bytes: bytes, isRecord: loaded.tuple.isRecord)
                    return try scope.insert(
                        tuple,
                        end: end,
                        deliveries: loaded.deliveries,
                        origin: loaded.origin == .unknown ? nil : loaded.origin,
                        with: &cursors
                    )
                }
                guard loaded.isBuried, let row = try scope.snapshot.tupleRow(id) else { continue }
                try scope.bury(id, row)
            }
            for value in values {
                guard let end = Self.end(value.expires, core.clock) else { continue }
                try scope.set(value.key, value.encoded, end: end)
            }
            for collection in collections { try core.load(collection, in: scope) }
            try recipes.load(into: self, scope)
        }
    }

    private typealias LoadedCell = (key: String, encoded: [UInt8], expires: Int64?)

    /// The end of a loaded row that expires at a time of the wall clock; `nil` if that time has passed.
    private static func end(_ expires: Int64?, _ clock: NamespaceClock) -> RowEnd? {
        guard let expires else { return RowEnd() }
        return clock.time(ofLoaded: expires).map { RowEnd(expiry: $0) }
    }
}
