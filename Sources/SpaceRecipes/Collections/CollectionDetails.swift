import TupleCoding

/// The details in the row of an ordered set or a dictionary.
package struct CollectionDetails {
    package var elementType: String

    package init(elementType: String) { self.elementType = elementType }

    package init?(_ value: Value) {
        guard case .object(let record) = value, case .string(let type)? = record["element"] else { return nil }
        elementType = type
    }

    package var value: Value { ["element": .string(elementType)] }
}
