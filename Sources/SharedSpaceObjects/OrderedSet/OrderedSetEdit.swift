/// An edit of an ordered set whose type of elements only its programs know: for commands and other languages.
package enum OrderedSetEdit: Sendable {
    /// Adds those that are not there, at the end.
    case append([Value])
    /// Adds those that are not there, at an index.
    case insert([Value], at: Int)
    case remove([Value])
    /// Moves one, so that it stands at an index.
    case move(Value, to: Int)
    /// Replaces one in its place.
    case replace(Value, with: Value)
    /// Sorts them in the order of JSON values.
    case sort
}

extension Namespace {
    /// Edits an ordered set, in one step; `append` and `insert` make it if it does not exist.
    ///
    /// - Parameters:
    ///   - name: The set's name.
    ///   - edit: What to do.
    ///   - type: The name of its elements' type for Swift, if it is made; `nil`: that of the first element.
    /// - Returns: How many elements were added, removed, moved or replaced; 1 for a sort; 0 if there is no such set or
    ///   element.
    /// - Throws: `badData` for an element of another type; `invalidArgument` for an index beyond the end; `typeMismatch`.
    package func edit(orderedSet name: String, _ edit: OrderedSetEdit, type: String? = nil) throws -> Int {
        switch edit {
        case .append(let values):
            return try orderedSet(name, for: values, type).append(contentsOf: values)
        case .insert(let values, let index):
            return try orderedSet(name, for: values, type).insert(contentsOf: values, at: index)
        default: break
        }
        guard let (set, details) = try anyOrderedSet(name) else { return 0 }
        switch edit {
        case .append, .insert: return 0
        case .remove(let values): return try set.subtract(values)
        case .sort:
            try set.sort()
            return 1
        case .move(let value, let index):
            return try change(set, at: value) { (set, place) in try set.move(from: place, to: index) }
        case .replace(let value, let new):
            try Self.check([new], details.elementType)
            return try change(set, at: value) { (set, place) in try set.replace(at: place, with: new) }
        }
    }

    /// One step: the element is looked for and moved or replaced in the same transaction.
    private func change(
        _ set: SharedOrderedSet<Value>,
        at value: Value,
        _ body: (SharedOrderedSet<Value>, Int) throws -> Void
    ) throws -> Int {
        try repeatableTransaction { transaction in
            let set = try transaction.orderedSet(set)
            guard let place = try set.firstIndex(of: value) else { return 0 }
            try body(set, place)
            return 1
        }
    }

    /// The set to which values are to be added, which is made if it does not exist.
    private func orderedSet(
        _ name: String,
        for values: [Value],
        _ type: String?
    ) throws -> SharedOrderedSet<Value> {
        let (set, elementType): (SharedOrderedSet<Value>, String)
        if let found = try anyOrderedSet(name) {
            (set, elementType) = (found.set, found.details.elementType)
            if let type, type != elementType {
                throw SpaceError(
                    .badData,
                    "edit an ordered set",
                    namespace: self.name,
                    reason: "\(name.quotedForPeople) has elements of type \(elementType.quotedForPeople), not "
                        + type.quotedForPeople
                )
            }
            try Self.check(values, elementType)
        } else {
            elementType = type ?? values.first?.swiftType ?? "Value"
            try Self.check(values, elementType)
            set = try orderedSet(name, of: Value.self, schema: elementType)
        }
        return set
    }

    /// Throws `badData` for a value that does not decode as one of Swift's plain types.
    private static func check(_ values: [Value], _ elementType: String) throws(SpaceError) {
        for value in values where !value.fits(elementType) {
            throw SpaceError(
                .badData,
                "edit an ordered set",
                reason: "the ordered set has elements of type \(elementType), and \(value.json) is none"
            )
        }
    }
}

extension Value {
    /// The plain type of Swift that has such values, or `Value`.
    fileprivate var swiftType: String {
        switch self {
        case .string: "String"
        case .int: "Int"
        case .double: "Double"
        case .bool: "Bool"
        default: "Value"
        }
    }

    /// Whether the value decodes as a type with this name; for types that are not plain, only their programs know.
    fileprivate func fits(_ type: String) -> Bool {
        switch type {
        case "String", "Int", "Double", "Bool": swiftType == type
        default: true
        }
    }
}
