extension Snapshot {
    /// The number of a collection with a kind and details, or `nil` if there is none.
    ///
    /// Throws `typeMismatch` if the kind, the type or the key is another.
    package func collection(
        _ name: String,
        _ kind: SharedObjectKind,
        _ wanted: CollectionDetails
    ) throws(SpaceError) -> UInt64? {
        guard let object = try object(name, kind) else { return nil }
        guard let details = CollectionDetails(object.details) else {
            throw .damaged("the object \(name.quotedForPeople)")
        }
        try details.check(name, isAs: wanted)
        return object.number
    }
}
