extension LoadedContents {
    /// The most bytes and rows of a part: far fewer than change the pages that a transaction of LMDB can change.
    private static let most = (bytes: 16 << 20, rows: 20_000)

    /// The contents in parts that are loaded one after the other.
    func parts() throws(SpaceError) -> [LoadedContents] {
        var parts = [LoadedContents(deliveryLimit: deliveryLimit)]
        parts += try Self.parts(tuples) { $0.tuple.encoded.count }.map { LoadedContents(tuples: $0) }
        parts += try Self.parts(cells) { (cell) throws(SpaceError) in try cell.value.checkedElement().count }
            .map { LoadedContents(cells: $0) }
        for collection in collections {
            let indices = try Self.parts(Array(collection.elements.indices)) { (index) throws(SpaceError) in
                try collection.elements[index].checkedElement().count
            }
            // A collection without elements is made too.
            for some in indices.isEmpty ? [[]] : indices {
                var part = collection
                part.elements = some.map { collection.elements[$0] }
                part.keys = collection.keys.isEmpty ? [] : some.map { collection.keys[$0] }
                parts.append(LoadedContents(collections: [part]))
            }
        }
        for queue in recipes.queues {
            let items = queue.items.sorted { $0.id < $1.id }
            let some = try Self.parts(items) { (item) throws(SpaceError) in try item.value.checkedElement().count }
            for items in some.isEmpty || !queue.isDivisible ? [items] : some {
                parts.append(LoadedContents(recipes: RecipesDump(queues: [queue.with(items)])))
            }
        }
        parts.append(LoadedContents(recipes: RecipesDump(states: recipes.states)))
        return parts
    }

    private static func parts<Row>(_ rows: [Row], _ size: (Row) throws(SpaceError) -> Int) throws(SpaceError) -> [[Row]]
    {
        var parts: [[Row]] = []
        var bytes = Int.max
        for row in rows {
            let size = try size(row)
            if bytes > most.bytes - size || parts[parts.count - 1].count == most.rows {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(row)
            bytes += size
        }
        return parts
    }
}

extension QueueDump {
    /// Whether its items can be loaded in parts.
    ///
    /// Two items with the same key can only be loaded together: an item whose key the queue already has is left out.
    var isDivisible: Bool {
        let keys = items.compactMap { $0.key.map(Name.init) }
        return Set(keys).count == keys.count
    }

    /// The queue with some of its items.
    func with(_ items: [Item]) -> QueueDump {
        QueueDump(name: name, deliveries: deliveries, bound: bound, items: items)
    }
}
