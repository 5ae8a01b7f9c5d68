/// Bytes from the other side that do not decode; the connection they came by ends.
package struct WireError: Error, Equatable, CustomStringConvertible {
    /// What is wrong with the bytes.
    package let description: String

    package init(_ description: String) { self.description = description }
}
