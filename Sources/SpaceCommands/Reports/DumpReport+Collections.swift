import SharedSpace

extension DumpReport {
    /// Prints a line for each collection; for an ordered set one for each element follows, in order.
    ///
    /// A dictionary's entries are cells.
    static func collectionLines(_ collections: [CollectionDump], _ print: (String) throws -> Void) throws {
        for collection in collections {
            var object = line("collection")
            object.add("name", collection.name)
            object.add("type", collection.kind.rawValue)
            object.add("element_type", collection.elementType)
            if let type = collection.keyType { object.add("key_type", type) }
            object.add("count", collection.count)
            try print(object.line)
            for (index, element) in collection.elements.enumerated() {
                var object = line("element")
                object.add("collection", collection.name)
                if collection.keys.indices.contains(index) { object.add("key", json: collection.keys[index].json) }
                object.add("element", json: element.json)
                try print(object.line)
            }
        }
    }

    func collectionText(_ print: (String) throws -> Void) throws {
        let dictionaries = inspection.collections.filter { $0.kind == .dictionary }
        try section("dictionaries", ["NAME", "OF", "ENTRIES"], dictionaries, print) { dictionary in
            [dictionary.name, dictionary.elementType, "\(dictionary.count)"]
        }
        for set in inspection.collections where set.kind == .orderedSet {
            let title = "ordered set \(PeopleText.escaped(set.name)) of \(PeopleText.escaped(set.elementType))"
            try section(title, ["INDEX", "ELEMENT"], Array(set.elements.enumerated()), print) { row in
                ["\(row.offset)", row.element.json]
            }
        }
    }
}
