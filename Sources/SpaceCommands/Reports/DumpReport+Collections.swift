import SpaceInspection

extension DumpReport {
    /// Prints a line for each collection; for an ordered set one for each element follows, in order.
    ///
    /// A dictionary's entries are cells.
    func collectionLines(_ print: (String) throws -> Void) throws {
        try inspection.forEachCollection { collection in
            try print(Self.line(of: collection))
            try inspection.forEachElement(of: collection) { element, key in
                try print(Self.line(of: element, key: key, in: collection))
            }
        }
    }

    /// The line of a collection.
    static func line(of collection: CollectionDump) -> String {
        line(
            "collection",
            [
                "name": collection.name, "type": collection.kind.rawValue, "element_type": collection.elementType,
                "key_type": collection.keyType.orLeftOut, "count": collection.count,
            ]
        )
    }

    /// The line of an element of an ordered set.
    static func line(of element: Value, key: Value?, in collection: CollectionDump) -> String {
        line("element", ["collection": collection.name, "key": key.orLeftOut, "element": element])
    }

    func collectionText(_ print: @escaping (String) throws -> Void) throws {
        try section("dictionaries", ["NAME", "OF", "ENTRIES"], print) { add in
            try inspection.forEachCollection { collection in
                guard collection.kind == .dictionary else { return }
                try add([collection.name, collection.elementType, "\(collection.count)"])
            }
        }
        try inspection.forEachCollection { set in
            guard set.kind == .orderedSet else { return }
            let title = "ordered set \(PeopleText.escaped(set.name)) of \(PeopleText.escaped(set.elementType))"
            try section(title, ["INDEX", "ELEMENT"], print) { add in
                var index = 0
                try inspection.forEachElement(of: set) { element, _ in
                    try add(["\(index)", element.json])
                    index += 1
                }
            }
        }
    }
}
