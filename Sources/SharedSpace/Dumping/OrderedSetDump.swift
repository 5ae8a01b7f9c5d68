import TupleCoding

/// An ordered set in a dump.
package struct OrderedSetDump: Sendable {
    package let name: String
    /// The type's name for all processes.
    package let elementType: String
    package var elements: [Value]

    package init(name: String, elementType: String, elements: [Value] = []) {
        self.name = name
        self.elementType = elementType
        self.elements = elements
    }
}

extension Snapshot {
    /// All ordered sets, by name.
    func orderedSetDumps() throws(SpaceError) -> [OrderedSetDump] {
        var dumps: [OrderedSetDump] = []
        try forEachObject { (name, object) throws(SpaceError) in
            guard object.kind == .orderedSet else { return }
            guard let details = CollectionDetails(object.details) else {
                throw damaged("the object \(name.quotedForPeople)")
            }
            let list = try ElementList(self, name: name, object: object.number)
            var dump = OrderedSetDump(name: name, elementType: details.elementType)
            dump.elements.reserveCapacity(list.count)
            try list.forEach(0..<list.count) { (bytes) throws(SpaceError) in
                dump.elements.append(try value(name, bytes))
            }
            dumps.append(dump)
        }
        return dumps
    }
}

extension Namespace {
    /// Throws: `invalidArgument` for a dump of what no ordered set can be.
    func check(_ dump: OrderedSetDump, _ operation: String) throws(SpaceError) {
        try checkObjectName(dump.name, operation)
        guard (1...Limits.objectNameBytes).contains(dump.elementType.utf8.count) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: name,
                reason: "the name of the element type of \(dump.name.quotedForPeople) has "
                    + "\(dump.elementType.utf8.count) bytes",
                advice: "it has 1 to \(Limits.objectNameBytes) bytes"
            )
        }
    }
}

extension NamespaceCore {
    /// Makes an ordered set as a dump has it, as a part of a transaction; one that is there gets what it has not.
    func load(_ dump: OrderedSetDump, in scope: WriteScope) throws(SpaceError) {
        var making = Room.Demand.adding(1, bytes: 1024)
        making.elements = 1
        scope.demand = scope.demand + making
        try ensureRoom(scope.demand)
        let number: UInt64
        if let found = try scope.snapshot.collection(dump.name, .orderedSet, elementType: dump.elementType) {
            number = found
        } else {
            let details = CollectionDetails(elementType: dump.elementType)
            number = try scope.makeOrderedSet(dump.name, details: details.value)
        }
        // In parts, as large as an edit may be.
        var next = dump.elements.startIndex
        while next < dump.elements.endIndex {
            var part: [[UInt8]] = []
            var bytes = 0
            while next < dump.elements.endIndex, part.count < 4096, bytes < 1 << 20 {
                part.append(dump.elements[next].encodedElement)
                bytes += part[part.count - 1].count
                next += 1
            }
            let list = try scope.snapshot.elementList(dump.name, number)
            let new = try list.absent(part)
            if !new.isEmpty { try carryOut(.insert(new, at: list.count), on: list, in: scope) }
        }
    }
}
