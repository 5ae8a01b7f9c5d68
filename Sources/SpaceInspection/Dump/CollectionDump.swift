import TupleCoding

/// A collection in a dump: an ordered set with its elements, or a dictionary, whose entries are among the cells.
package struct CollectionDump: Sendable {
    package enum Kind: String, Sendable { case orderedSet, dictionary }

    package let name: String
    package let kind: Kind
    /// The element type's name, which is the same in all processes.
    package let elementType: String
    /// The number of elements or entries.
    package let count: Int
    /// The type of the keys by which an ordered set identifies its elements, or `nil`.
    package let keyType: String?
    /// The elements of an ordered set, in order.
    package var elements: [Value]
    /// The keys of the elements, as many, if the ordered set has keys.
    package var keys: [Value] = []

    package init(
        name: String,
        kind: Kind,
        elementType: String,
        keyType: String? = nil,
        count: Int = 0,
        elements: [Value] = []
    ) {
        self.keyType = keyType
        self.name = name
        self.kind = kind
        self.elementType = elementType
        self.count = count
        self.elements = elements
    }
}

extension Snapshot {
    /// An ordered set or dictionary without its elements.
    func collectionDump(_ name: String, _ object: SharedObjectRow) throws(SpaceError) -> CollectionDump {
        guard let details = CollectionDetails(object.details) else {
            throw .damaged("the object \(name.quotedForPeople)")
        }
        let type = details.elementType
        if object.kind == .dictionary {
            let count = try entryCount(ofDictionary: name)
            return CollectionDump(name: name, kind: .dictionary, elementType: type, count: count)
        }
        let count = try ElementList(self, name: name, object: object.number).count
        return CollectionDump(name: name, kind: .orderedSet, elementType: type, keyType: details.keyType, count: count)
    }
}

extension CollectionDump {
    /// Throws `invalidArgument` or `badData` if no collection can be as this dump says.
    package func check() throws(SpaceError) {
        try Limits.check(objectName: name)
        for type in [elementType, keyType ?? "-"] where !(1...Limits.objectNameBytes).contains(type.utf8.count) {
            let size = type.utf8.count
            let reason = "the name of the element type of \(name.quotedForPeople), or of its key, has \(size) bytes"
            throw .misuse(reason, advice: "it has 1 to \(Limits.objectNameBytes) bytes")
        }
        guard keys.count == (keyType == nil ? 0 : elements.count) else {
            throw SpaceError(
                .badData,
                reason: "the ordered set \(name.quotedForPeople) has \(elements.count) elements and \(keys.count) keys",
                advice: "each element has a key if the set has a key type, and none otherwise"
            )
        }
        guard kind != .dictionary || !name.utf8.contains(DictionaryKeys.separator) else {
            throw SpaceError(.badData, reason: "\(name.quotedForPeople) has a slash, and no dictionary's name has one")
        }
    }
}

extension NamespaceCore {
    /// Makes the collection of a dump, as part of a transaction; if an ordered set exists, the missing elements are
    /// added.
    package func load(_ dump: CollectionDump, in scope: WriteScope) throws(SpaceError) {
        let details = CollectionDetails(elementType: dump.elementType, keyType: dump.keyType)
        switch dump.kind {
        case .dictionary:
            // The entries of a dictionary are cells, and are loaded as cells.
            let found = try scope.snapshot.collection(dump.name, .dictionary, details)
            if found == nil { _ = try scope.makeObject(dump.name, .dictionary, details: details.value) }
        case .orderedSet:
            let found = try scope.snapshot.collection(dump.name, .orderedSet, details)
            let number = if let found { found } else { try scope.makeOrderedSet(dump.name, details: details.value) }
            var elements: [ElementBytes] = []
            elements.reserveCapacity(dump.elements.count)
            for (index, element) in dump.elements.enumerated() {
                let key = dump.keys.indices.contains(index) ? try dump.keys[index].uncheckedElement() : nil
                elements.append(ElementBytes(try element.uncheckedElement(), key: key))
            }
            try scope.fill(dump.name, number, with: elements)
        }
    }
}
