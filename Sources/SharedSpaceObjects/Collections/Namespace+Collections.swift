extension Namespace {
    /// The number of the collection with a name; if there is none, `make` makes it.
    package func collection(
        _ kind: SharedObjectKind,
        _ name: String,
        _ details: CollectionDetails,
        _ make: (WriteScope, _ details: Value) throws(SpaceError) -> UInt64
    ) throws(SpaceError) -> UInt64 {
        try attempt("open \(kind.phrase)") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            for type in [details.elementType, details.keyType ?? "-"]
            where !(1...Limits.objectNameBytes).contains(type.utf8.count) {
                let reason = "the name of the element type, or of its key, has \(type.utf8.count) bytes"
                throw .misuse(reason, advice: "give a schema of 1 to \(Limits.objectNameBytes) bytes")
            }
            let found = try core.read { (snapshot) throws(SpaceError) in
                try snapshot.collection(name, kind, details)
            }
            if let found { return found }
            return try core.write(.adding) { (scope) throws(SpaceError) in
                if let found = try scope.snapshot.collection(name, kind, details) { return found }
                return try make(scope, details.value)
            }
        }
    }
}
