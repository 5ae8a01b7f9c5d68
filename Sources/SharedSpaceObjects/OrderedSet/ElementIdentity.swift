/// How a handle tells the elements of an ordered set apart.
package enum ElementIdentity<Element>: Sendable {
    /// By their values.
    case value
    /// By a key, whose encoding the function computes.
    case key(@Sendable (Element) throws(SpaceError) -> [UInt8])
    /// By a key that this handle cannot compute: its calls take keys instead of elements, and it adds no element.
    case givenKey
}
