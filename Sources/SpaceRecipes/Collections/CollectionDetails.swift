/// The details in the row of an ordered set or a dictionary.
package struct CollectionDetails {
    package var elementType: String
    /// The type of the keys by which an ordered set identifies its elements, or `nil` if their values identify them.
    package var keyType: String?

    package init(elementType: String, keyType: String? = nil) {
        self.elementType = elementType
        self.keyType = keyType
    }

    package init?(_ value: Value) {
        guard case .object(let record) = value, case .string(let type)? = record["element"] else { return nil }
        elementType = type
        switch record["key"] {
        case nil: keyType = nil
        case .string(let type)?: keyType = type
        default: return nil
        }
    }

    package var value: Value {
        guard let keyType else { return ["element": .string(elementType)] }
        return ["element": .string(elementType), "key": .string(keyType)]
    }

    /// Throws `typeMismatch` unless the collection with this name is as a process wants it.
    package func check(_ name: String, isAs wanted: CollectionDetails) throws(SpaceError) {
        guard elementType.isSame(as: wanted.elementType) else {
            throw .mismatch(
                "\(name.quotedForPeople) has elements of type \(elementType.quotedForPeople), and was opened for "
                    + wanted.elementType.quotedForPeople,
                advice: "use the same type in all processes, or another name"
            )
        }
        let isSame =
            if let keyType, let other = wanted.keyType {
                keyType.isSame(as: other)
            } else {
                keyType == nil && wanted.keyType == nil
            }
        guard isSame else {
            throw .mismatch(
                "\(name.quotedForPeople) identifies its elements by \(identity), and was opened with identity by "
                    + wanted.identity,
                advice: "open it in the same way in all processes, or under another name"
            )
        }
    }

    private var identity: String { keyType.map { "keys of type \($0.quotedForPeople)" } ?? "value" }
}
