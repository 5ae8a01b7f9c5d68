import LMDB
import TupleCoding

/// A named object of a namespace, for those who look on.
public struct SharedObjectInfo: Sendable, Hashable {
    /// The name.
    public var name: String { named.text }
    let named: Name
    /// What it is: `orderedSet`, `dictionary` and so on.
    public let kind: String
    /// Of an ordered set, the name of the type of its elements; of a dictionary, of its values.
    public let elementType: String?
    /// Of an ordered set, a dictionary or a queue, how many elements, entries or items it has; `nil` where they can't be counted.
    public let count: Int?
    /// Of a queue, how many items are in which state.
    public let items: QueueCounts?
}

extension Namespace {
    /// The ordered set of a name, which is made if there is none.
    ///
    /// All processes have to mean the same type: the first one's is kept, and another is refused. Types are told apart by name alone,
    /// without the module's, which differs between programs that share a source file; where a type changes, give it a
    /// `schema` of your own with a version in it.
    ///
    /// - Parameters:
    ///   - name: 1 to ``Limits/objectNameBytes`` bytes of UTF-8.
    ///   - type: The type of the elements.
    ///   - schema: The type's name for all processes; `nil`: its name in Swift.
    /// - Returns: A handle, which keeps the namespace.
    /// - Throws: `typeMismatch` when the ordered set has elements of another type, or the name is that of another kind of object;
    ///   `invalidArgument` for a name that is none; `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
    public func orderedSet<Element: Codable & Sendable>(
        _ name: String,
        of type: Element.Type = Element.self,
        schema: String? = nil
    ) throws(SpaceError) -> SharedOrderedSet<Element> {
        let number = try collection(.orderedSet, name, elementType: schema ?? "\(Element.self)") {
            (scope, details) throws(SpaceError) in
            try scope.makeOrderedSet(name, details: details)
        }
        return SharedOrderedSet(place: .namespace(self), name: name, number: number)
    }

    /// The number of the collection of a name; `make` makes it if there is none.
    func collection(
        _ kind: SharedObjectKind,
        _ name: String,
        elementType: String,
        _ make: (WriteScope, _ details: Value) throws(SpaceError) -> UInt64
    ) throws(SpaceError) -> UInt64 {
        let operation = "open \(kind.phrase)"
        try checkObjectName(name, operation)
        guard (1...Limits.objectNameBytes).contains(elementType.utf8.count) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: self.name,
                reason: "the name of the element type has \(elementType.utf8.count) bytes",
                advice: "give a schema of 1 to \(Limits.objectNameBytes) bytes"
            )
        }
        let core = try usableCore(operation)
        let found = try core.read(operation) { (snapshot) throws(SpaceError) in
            try snapshot.collection(name, kind, elementType: elementType)
        }
        if let found { return found }
        var demand = Room.Demand.adding(1, bytes: 1024)
        demand.elements = 1
        return try core.write(operation, demand) { (scope) throws(SpaceError) in
            if let found = try scope.snapshot.collection(name, kind, elementType: elementType) { return found }
            return try make(scope, CollectionDetails(elementType: elementType).value)
        }
    }

    /// Removes an ordered set, with all elements.
    ///
    /// Its handles, in all processes, throw `closed` from then on; observers are told that it is gone.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `typeMismatch` when the name is that of another kind of object; `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(n).
    @discardableResult
    public func removeOrderedSet(_ name: String) throws(SpaceError) -> Bool {
        let operation = "remove an ordered set"
        try checkObjectName(name, operation)
        let core = try usableCore(operation)
        return try core.write(operation, Room.Demand()) { (scope) throws(SpaceError) in
            guard let object = try scope.snapshot.object(name, .orderedSet) else { return false }
            var demand = Room.Demand.removing(1, bytes: 1024)
            demand.elements = try scope.snapshot.elementRows(object.number)
            demand.bytes += 32 * demand.elements
            scope.demand = scope.demand + demand
            try core.ensureRoom(scope.demand)
            try scope.removeOrderedSet(name, object.number)
            return true
        }
    }

    /// The named objects of the namespace, by name.
    ///
    /// - Throws: `namespaceDeleted`, `closed`, `damaged`.
    /// - Complexity: O(objects + entries of dictionaries).
    public var objects: [SharedObjectInfo] {
        get throws(SpaceError) {
            let operation = "list the objects"
            return try usableCore(operation).read(operation) { (snapshot) throws(SpaceError) in
                try snapshot.objectInfos()
            }
        }
    }
}

extension Transaction {
    /// An ordered set as a part of the transaction: its edits are seen by others with all else that the body does.
    ///
    /// ```swift
    /// try party.transaction { t in
    ///     guard let song = try t.orderedSet(requests).removeFirst() else { return }
    ///     try t.orderedSet(playlist).append(song)
    /// }
    /// ```
    ///
    /// Observers are told of each edit, one after the other, all with one ``CollectionChange/batch``.
    ///
    /// - Parameter set: An ordered set of the same namespace.
    /// - Returns: The same, for use in the body.
    /// - Throws: `invalidArgument` for one of another namespace.
    public func orderedSet<Element>(_ set: SharedOrderedSet<Element>) throws(SpaceError) -> SharedOrderedSet<Element> {
        try state.checkIsHere(set.title, of: set.namespace)
        return SharedOrderedSet(place: .transaction(state), name: set.name, number: set.number)
    }
}

/// What the row of an ordered set, or of a dictionary, keeps of it.
struct CollectionDetails {
    var elementType: String

    init(elementType: String) { self.elementType = elementType }

    init?(_ value: Value) {
        guard case .object(let record) = value, case .string(let type)? = record["element"] else { return nil }
        elementType = type
    }

    var value: Value { ["element": .string(elementType)] }
}

extension Snapshot {
    /// The number of a collection of a kind with elements of a type; `nil`: there is none.
    ///
    /// Throws: `typeMismatch`.
    func collection(
        _ name: String,
        _ kind: SharedObjectKind,
        elementType: String
    ) throws(SpaceError) -> UInt64? {
        guard let object = try object(name, kind) else { return nil }
        guard let details = CollectionDetails(object.details) else {
            throw damaged("the object \(name.quotedForPeople)")
        }
        guard details.elementType.isSame(as: elementType) else {
            throw SpaceError(
                .typeMismatch,
                operation,
                namespace: namespace,
                reason:
                    "\(name.quotedForPeople) has elements of type \(details.elementType.quotedForPeople), and was opened "
                    + "for \(elementType.quotedForPeople)",
                advice: "use the same type in all processes, or another name"
            )
        }
        return object.number
    }

    func objectInfos() throws(SpaceError) -> [SharedObjectInfo] {
        var infos: [SharedObjectInfo] = []
        try forEachObject { (name, object) throws(SpaceError) in
            // Who looks on is shown also what is damaged.
            let items = object.kind == .queue ? try? queueCounts(QueueRows(number: object.number)) : nil
            let count: Int? =
                switch object.kind {
                case .orderedSet: try row(object.number, .directory).flatMap(ElementDirectory.init)?.count
                case .dictionary: try entryCount(ofDictionary: name)
                default: items?.all
                }
            infos.append(
                SharedObjectInfo(
                    named: Name(name),
                    kind: "\(object.kind)",
                    elementType: object.kind.isCollection ? CollectionDetails(object.details)?.elementType : nil,
                    count: count,
                    items: items
                )
            )
        }
        return infos
    }
}
