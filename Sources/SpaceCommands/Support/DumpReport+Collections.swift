import SharedSpace

extension DumpReport {
    /// Each ordered set as a line, followed by one for each element, in order.
    func orderedSetLines(_ print: (String) throws -> Void) throws {
        for set in inspection.orderedSets {
            var object = line("collection")
            object.add("name", set.name)
            object.add("type", "orderedSet")
            object.add("element_type", set.elementType)
            object.add("count", set.elements.count)
            try print(object.line)
            for element in set.elements {
                var object = line("element")
                object.add("collection", set.name)
                object.add("element", json: element.json)
                try print(object.line)
            }
        }
    }

    func orderedSetText(_ print: (String) throws -> Void) throws {
        for set in inspection.orderedSets {
            let title = "ordered set \(PeopleText.escaped(set.name)) of \(PeopleText.escaped(set.elementType))"
            try section(title, ["INDEX", "ELEMENT"], Array(set.elements.enumerated()), print) { row in
                ["\(row.offset)", row.element.json]
            }
        }
    }
}

extension DumpReader {
    /// A line of kind `collection`, or `element`, which follows its collection's.
    mutating func takeOrderedSet(_ kind: String, _ record: Record, _ bad: (String) -> CommandFailure) throws {
        if kind == "collection" {
            let name = try Self.name(record, bad)
            guard case .string(let type)? = record["element_type"], record["type"] == "orderedSet",
                (1...Limits.objectNameBytes).contains(type.utf8.count)
            else { throw bad("the collection has no element type, or is no ordered set") }
            return orderedSets.append(OrderedSetDump(name: name, elementType: type))
        }
        guard let element = record["element"] else { throw bad("the element has no value") }
        guard let last = orderedSets.indices.last, record["collection"] == .string(orderedSets[last].name) else {
            throw bad("the element does not follow its collection")
        }
        orderedSets[last].elements.append(element)
    }
}
