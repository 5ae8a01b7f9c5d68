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
    /// The keys of the elements, one for each, if the ordered set has keys.
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

extension CollectionDump {
    /// An ordered set or dictionary without its elements.
    init(_ name: String, _ object: SharedObjectRow, in snapshot: Snapshot) throws(SpaceError) {
        guard let details = CollectionDetails(object.details) else {
            throw .damaged("the object \(name.quotedForPeople)")
        }
        let type = details.elementType
        if object.kind == .dictionary {
            let count = try snapshot.entryCount(ofDictionary: name)
            self.init(name: name, kind: .dictionary, elementType: type, count: count)
            return
        }
        let count = try ElementList(snapshot, name: name, object: object.number).count
        self.init(name: name, kind: .orderedSet, elementType: type, keyType: details.keyType, count: count)
    }
}

extension CollectionDump {
    /// Throws `invalidArgument` or `badData` if the dump describes an impossible collection.
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

    /// Makes the collection, as part of a transaction; if an ordered set exists, the missing elements are
    /// added.
    func load(into scope: WriteScope) throws(SpaceError) {
        let details = CollectionDetails(elementType: elementType, keyType: keyType)
        switch kind {
        case .dictionary:
            // The entries of a dictionary are cells, and are loaded as cells.
            let found = try scope.snapshot.collection(name, .dictionary, details)
            if found == nil { _ = try scope.places.makeObject(name, .dictionary, details: details.value) }
        case .orderedSet:
            let found = try scope.snapshot.collection(name, .orderedSet, details)
            let number = if let found { found } else { try scope.orderedSets.make(name, details: details.value) }
            var encoded: [ElementBytes] = []
            encoded.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                let key = keys.indices.contains(index) ? try keys[index].uncheckedElement() : nil
                encoded.append(ElementBytes(try element.uncheckedElement(), key: key))
            }
            try scope.orderedSets.fill(name, number, with: encoded)
        }
    }
}
