import SharedSpace

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
