/// Loads a dump into a new namespace that no other process sees, part by part.
///
/// A part for which there is no room is divided, down to single rows: a large transaction needs room for the old copies
/// of all pages that it changes, while small ones reuse the pages that earlier ones have freed. Single rows may use an
/// eighth of the room for removals, because the pages of the copy may be packed less densely. So contents that filled a
/// namespace step by step fit into a namespace with the same limit. A buried tuple is first written as a visible one, and
/// buried at the end with the room for removals, as in the dumped namespace: it has a row in `claims` too.
struct NewLoad {
    private let core: NamespaceCore
    /// The tuples that are to be buried.
    private var buried: [UInt64] = []
    /// How many of the dump's tuples are loaded.
    private(set) var tuples = 0

    init(_ core: NamespaceCore) { self.core = core }

    mutating func load(_ part: LoadedContents) throws(SpaceError) {
        do throws(SpaceError) {
            try write(part)
        } catch  where error.isOfStepTooLarge {
            if let (first, second) = part.halves {
                try load(first)
                return try load(second)
            }
            try useFreedPages()
            try write(part, as: .loading)
        }
    }

    private mutating func write(_ part: LoadedContents, as purpose: WritePurpose = .adding) throws(SpaceError) {
        var ids: [UInt64] = []
        try core.write(purpose) { (scope) throws(SpaceError) in
            ids.removeAll()
            try ContentsLoad(scope: scope).load(part) { (id) throws(SpaceError) in ids.append(id) }
        }
        buried += ids
        tuples += part.tuples.count
    }

    /// Buries what the dump has as buried.
    mutating func bury() throws(SpaceError) {
        for start in stride(from: 0, to: buried.count, by: Self.buriedAtOnce) {
            try bury(buried[start..<min(start + Self.buriedAtOnce, buried.count)])
        }
    }

    private static let buriedAtOnce = 500

    private func bury(_ ids: ArraySlice<UInt64>) throws(SpaceError) {
        func move() throws(SpaceError) {
            try core.write(.removing) { (scope) throws(SpaceError) in
                for id in ids { try ContentsLoad(scope: scope).bury(loaded: id) }
            }
        }
        do throws(SpaceError) {
            try move()
        } catch  where error.isOfStepTooLarge {
            if ids.count > 1 {
                try bury(ids.prefix(ids.count / 2))
                return try bury(ids.dropFirst(ids.count / 2))
            }
            try useFreedPages()
            try move()
        }
    }

    /// Makes the pages that the last commit has freed usable, because LMDB only reuses pages that older commits have
    /// freed.
    private func useFreedPages() throws(SpaceError) {
        for _ in 0..<2 { try core.write(.removing) { (scope) throws(SpaceError) in scope.noteUpkeep() } }
    }
}

extension LoadedContents {
    /// A part in two halves, or `nil` if it can't be divided.
    var halves: (LoadedContents, LoadedContents)? {
        func divided<Row>(_ rows: [Row], _ make: ([Row]) -> LoadedContents) -> (LoadedContents, LoadedContents)? {
            guard rows.count > 1 else { return nil }
            let half = rows.count / 2
            return (make(Array(rows.prefix(half))), make(Array(rows.dropFirst(half))))
        }
        if !tuples.isEmpty { return divided(tuples) { LoadedContents(tuples: $0) } }
        if !cells.isEmpty { return divided(cells) { LoadedContents(cells: $0) } }
        if let collection = collections.first {
            return divided(Array(collection.elements.indices)) { indices in
                var part = collection
                part.elements = indices.map { collection.elements[$0] }
                part.keys = collection.keys.isEmpty ? [] : indices.map { collection.keys[$0] }
                return LoadedContents(collections: [part])
            }
        }
        if let queue = recipes.queues.first, queue.isDivisible {
            return divided(queue.items) { LoadedContents(recipes: RecipesDump(queues: [queue.with($0)])) }
        }
        return divided(recipes.states) { LoadedContents(recipes: RecipesDump(states: $0)) }
    }
}
