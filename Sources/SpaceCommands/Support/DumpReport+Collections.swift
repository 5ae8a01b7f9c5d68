import SharedSpace

extension DumpReport {
    /// Each collection as a line, followed by one for each element of an ordered set, in order; a dictionary's entries are cells.
    static func collectionLines(_ collections: [CollectionDump], _ print: (String) throws -> Void) throws {
        for collection in collections {
            var object = line("collection")
            object.add("name", collection.name)
            object.add("type", collection.kind.rawValue)
            object.add("element_type", collection.elementType)
            object.add("count", collection.count)
            try print(object.line)
            for element in collection.elements {
                var object = line("element")
                object.add("collection", collection.name)
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

extension DumpReader {
    /// A line of kind `collection`, or `element`, which follows its ordered set's.
    mutating func takeCollection(_ kind: String, _ record: Record, _ bad: (String) -> CommandFailure) throws {
        if kind == "collection" {
            let name = try Self.name(record, bad)
            guard case .string(let word)? = record["type"], let type = CollectionDump.Kind(rawValue: word),
                case .string(let elements)? = record["element_type"],
                (1...Limits.objectNameBytes).contains(elements.utf8.count)
            else { throw bad("the collection has no element type, or is no ordered set and no dictionary") }
            return collections.append(CollectionDump(name: name, kind: type, elementType: elements))
        }
        guard let element = try Self.value("element", record, bad) else { throw bad("the element has no value") }
        guard let last = collections.indices.last, collections[last].kind == .orderedSet,
            record["collection"] == .string(collections[last].name)
        else { throw bad("the element does not follow its ordered set") }
        collections[last].elements.append(element)
    }
}
