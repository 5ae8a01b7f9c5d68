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
    /// The elements of an ordered set, in order.
    package var elements: [Value]

    package init(name: String, kind: Kind, elementType: String, count: Int = 0, elements: [Value] = []) {
        self.name = name
        self.kind = kind
        self.elementType = elementType
        self.count = count
        self.elements = elements
    }
}

extension Snapshot {
    /// All ordered sets and dictionaries, ordered by name.
    func collectionDumps() throws(SpaceError) -> [CollectionDump] {
        var dumps: [CollectionDump] = []
        try forEachObject { (name, object) throws(SpaceError) in
            guard object.kind.isCollection else { return }
            guard let details = CollectionDetails(object.details) else {
                throw .damaged("the object \(name.quotedForPeople)")
            }
            let (type, isDictionary) = (details.elementType, object.kind == .dictionary)
            if isDictionary {
                let count = try entryCount(ofDictionary: name)
                return dumps.append(CollectionDump(name: name, kind: .dictionary, elementType: type, count: count))
            }
            let list = try ElementList(self, name: name, object: object.number)
            var dump = CollectionDump(name: name, kind: .orderedSet, elementType: type, count: list.count)
            dump.elements.reserveCapacity(list.count)
            try list.forEach(0..<list.count) { (bytes) throws(SpaceError) in
                dump.elements.append(try value(name, bytes))
            }
            dumps.append(dump)
        }
        return dumps
    }
}

extension CollectionDump {
    /// Throws `invalidArgument` or `badData` if no collection can be as this dump says.
    package func check() throws(SpaceError) {
        try Limits.check(objectName: name)
        let size = elementType.utf8.count
        guard (1...Limits.objectNameBytes).contains(size) else {
            let reason = "the name of the element type of \(name.quotedForPeople) has \(size) bytes"
            throw .misuse(reason, advice: "it has 1 to \(Limits.objectNameBytes) bytes")
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
        let details = CollectionDetails(elementType: dump.elementType).value
        switch dump.kind {
        case .dictionary:
            // The entries of a dictionary are cells, and are loaded as cells.
            let found = try scope.snapshot.collection(dump.name, .dictionary, elementType: dump.elementType)
            if found == nil { _ = try scope.makeObject(dump.name, .dictionary, details: details) }
        case .orderedSet:
            let found = try scope.snapshot.collection(dump.name, .orderedSet, elementType: dump.elementType)
            let number = if let found { found } else { try scope.makeOrderedSet(dump.name, details: details) }
            try insert(dump.elements, intoOrderedSet: dump.name, number, in: scope)
        }
    }

    private func insert(
        _ elements: [Value],
        intoOrderedSet name: String,
        _ number: UInt64,
        in scope: WriteScope
    ) throws(SpaceError) {
        // Insert in parts, each as large as one edit may be.
        var next = elements.startIndex
        while next < elements.endIndex {
            var part: [[UInt8]] = []
            var bytes = 0
            while next < elements.endIndex, part.count < 4096, bytes < 1 << 20 {
                part.append(try elements[next].uncheckedElement())
                bytes += part[part.count - 1].count
                next += 1
            }
            let list = try scope.snapshot.elementList(name, number)
            let new = try list.absent(part)
            if !new.isEmpty { try scope.carryOut(.insert(new, at: list.count), on: list) }
        }
    }
}
