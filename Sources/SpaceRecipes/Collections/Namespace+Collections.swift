import TupleCoding

extension Namespace {
    /// The number of the collection with a name; if there is none, `make` makes it.
    package func collection(
        _ kind: SharedObjectKind,
        _ name: String,
        elementType: String,
        _ make: (WriteScope, _ details: Value) throws(SpaceError) -> UInt64
    ) throws(SpaceError) -> UInt64 {
        try attempt("open \(kind.phrase)") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            guard (1...Limits.objectNameBytes).contains(elementType.utf8.count) else {
                let reason = "the name of the element type has \(elementType.utf8.count) bytes"
                throw .misuse(reason, advice: "give a schema of 1 to \(Limits.objectNameBytes) bytes")
            }
            let found = try core.read { (snapshot) throws(SpaceError) in
                try snapshot.collection(name, kind, elementType: elementType)
            }
            if let found { return found }
            return try core.write(.adding) { (scope) throws(SpaceError) in
                if let found = try scope.snapshot.collection(name, kind, elementType: elementType) { return found }
                return try make(scope, CollectionDetails(elementType: elementType).value)
            }
        }
    }
}

extension Snapshot {
    /// The number of a collection with a kind and an element type, or `nil` if there is none.
    ///
    /// Throws `typeMismatch` if the kind or the type is another.
    package func collection(
        _ name: String,
        _ kind: SharedObjectKind,
        elementType: String
    ) throws(SpaceError) -> UInt64? {
        guard let object = try object(name, kind) else { return nil }
        guard let details = CollectionDetails(object.details) else {
            throw .damaged("the object \(name.quotedForPeople)")
        }
        guard details.elementType.isSame(as: elementType) else {
            throw .mismatch(
                "\(name.quotedForPeople) has elements of type \(details.elementType.quotedForPeople), and was opened "
                    + "for \(elementType.quotedForPeople)",
                advice: "use the same type in all processes, or another name"
            )
        }
        return object.number
    }
}
