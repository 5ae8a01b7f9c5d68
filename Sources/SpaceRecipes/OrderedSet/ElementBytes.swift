/// An element on its way into an ordered set: its encoding, and its key's encoding if the set identifies elements by
/// key.
package struct ElementBytes: Hashable {
    package let encoded: [UInt8]
    package let key: [UInt8]?

    package init(_ encoded: [UInt8], key: [UInt8]? = nil) {
        self.encoded = encoded
        self.key = key
    }

    /// The bytes that no other element of the set has: the key's, or the element's own.
    package var identity: [UInt8] { key ?? encoded }

    /// The size in bytes of all that the row keeps of the element.
    var size: Int { encoded.count + (key?.count ?? 0) }
}
