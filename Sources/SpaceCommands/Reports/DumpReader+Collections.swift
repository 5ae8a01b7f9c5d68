import SpaceInspection

extension DumpReader {
    mutating func takeCollection(_ line: DumpLine) throws {
        let name = try line.name()
        guard let type = line.string("type").flatMap(CollectionDump.Kind.init(rawValue:)),
            let elements = line.string("element_type"),
            (1...Limits.objectNameBytes).contains(elements.utf8.count)
        else { throw line.bad("the collection has no element type, or is no ordered set and no dictionary") }
        let keys = line.string("key_type")
        guard line["key_type"] == nil || keys.map({ (1...Limits.objectNameBytes).contains($0.utf8.count) }) == true,
            keys == nil || type == .orderedSet
        else { throw line.bad("the collection's key type is none") }
        contents.collections.append(CollectionDump(name: name, kind: type, elementType: elements, keyType: keys))
    }

    /// An element of the ordered set whose line came last.
    mutating func takeElement(_ line: DumpLine) throws {
        guard let element = try line.value("element") else { throw line.bad("the element has no value") }
        let last = contents.collections.count - 1
        guard last >= 0, contents.collections[last].kind == .orderedSet,
            line["collection"] == .string(contents.collections[last].name)
        else { throw line.bad("the element does not follow its ordered set") }
        let key = try line.value("key")
        guard (key == nil) == (contents.collections[last].keyType == nil) else {
            throw line.bad("the element has no key, or its ordered set has none")
        }
        contents.collections[last].elements.append(element)
        if let key { contents.collections[last].keys.append(key) }
    }
}
