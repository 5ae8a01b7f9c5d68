import SpaceSystem
import TupleCoding

extension Namespace {
    /// Loads a dump in one transaction: either all of it or nothing.
    ///
    /// It writes tuples, sets cells, makes collections, fills ordered sets and queues, and sets the state of other
    /// recipes. The tuples keep their order and get new ids. Expired tuples are left out.
    package func load(
        tuples: [LoadedTuple],
        cells: [(key: String, value: Value)],
        collections: [CollectionDump] = [],
        recipes: RecipesDump = RecipesDump()
    ) throws(SpaceError) {
        let operation = "load"
        let core = try usableCore(operation)
        for loaded in tuples {
            guard loaded.tuple.encoded.count <= Limits.valueBytes else {
                throw tooLarge(operation, loaded.tuple.encoded.count)
            }
        }
        var values: [(key: String, encoded: [UInt8])] = []
        for cell in cells {
            guard (1...Limits.cellKeyBytes).contains(cell.key.utf8.count) else {
                throw SpaceError(
                    .tooLarge,
                    operation,
                    namespace: name,
                    reason: "a cell's key of \(cell.key.utf8.count) bytes is out of range",
                    advice: "a key is 1 to \(Limits.cellKeyBytes) bytes of UTF-8"
                )
            }
            let encoded = try encodedElement(of: cell.value, operation)
            guard encoded.count <= Limits.valueBytes else { throw tooLarge(operation, encoded.count) }
            values.append((cell.key, encoded))
        }
        for collection in collections { try check(collection, operation) }
        try recipes.check(for: self, operation)
        guard !tuples.isEmpty || !values.isEmpty || !collections.isEmpty || !recipes.isEmpty else { return }
        let now = Clock.realtimeMilliseconds()
        try core.write(operation, .adding) { (scope) throws(SpaceError) in
            for loaded in tuples {
                var expiry: Int64 = 0
                if let expires = loaded.expires {
                    let (left, overflow) = expires.subtractingReportingOverflow(now)
                    guard left > 0 else { continue }
                    // The dump has the wall clock's time; the namespace's own clock may be another.
                    expiry = core.clock.time(after: overflow ? .seconds(Int64.max / 1000) : .milliseconds(left))
                }
                // The cursors are not kept from tuple to tuple, because setting a tuple aside changes the tables in
                // between.
                var cursors: TupleCursors?
                let id = try loaded.tuple.encoded.withBytes { (bytes) throws(SpaceError) in
                    try scope.insert(bytes, isRecord: loaded.tuple.isRecord, expiry: expiry, with: &cursors)
                }
                guard loaded.isBuried, let row = try scope.snapshot.tupleRow(id) else { continue }
                try scope.bury(id, row)
            }
            for value in values { try scope.set(value.key, value.encoded) }
            for collection in collections { try core.load(collection, in: scope) }
            try recipes.load(into: self, scope)
        }
    }
}
