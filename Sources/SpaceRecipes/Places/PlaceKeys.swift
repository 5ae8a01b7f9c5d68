/// The keys of a name's rows in `holds`.
package struct PlaceKeys {
    let name: String
    /// The bytes with which all keys of the name begin.
    let prefix: [UInt8]

    package init(_ name: String) {
        self.name = name
        var encoder = TupleEncoder()
        encoder.encode(name)
        prefix = encoder.bytes
    }

    /// The key of a ticket; the key of ticket 0 sorts before all others of the name.
    package func key(_ ticket: UInt64) -> [UInt8] {
        var key = prefix
        withUnsafeBytes(of: ticket.bigEndian) { key.append(contentsOf: $0) }
        return key
    }

    /// The ticket of a key, or `nil` if the key belongs to another name.
    package func ticket(of key: UnsafeRawBufferPointer) -> UInt64? {
        guard key.count == prefix.count + 8, key.starts(with: prefix) else { return nil }
        return key.big(prefix.count)
    }

    /// The name and ticket of any key, or `nil` if it is not a key of `holds`.
    package static func parts(of key: UnsafeRawBufferPointer) -> (name: String, ticket: UInt64)? {
        guard key.count > 8,
            case .string(let name) = try? Value(
                encodedElement: UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)])
            )
        else { return nil }
        return (name, key.big(key.count - 8))
    }
}
