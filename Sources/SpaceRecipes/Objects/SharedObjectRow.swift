/// A row of `objects`: an object that exists even while no process uses it.
///
/// The key is the name. The value:
///
///     0  kind
///     1  zero, 7 bytes
///     8  number: the object's rows in other tables begin with it; no other object of the namespace ever has it
///     16 details of the kind (an element type, a bound), one encoded element
package struct SharedObjectRow: EncodedTableRow {
    package static let headerSize = 16

    package let kind: SharedObjectKind
    package let number: UInt64
    package let details: Value

    package init(kind: SharedObjectKind, number: UInt64, details: Value) {
        self.kind = kind
        self.number = number
        self.details = details
    }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    /// Copies the row out of the page; `nil` if the bytes are not a row.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headerSize, let kind = SharedObjectKind(rawValue: bytes[0]),
            let details = try? Value(encodedElement: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]))
        else { return nil }
        self.init(kind: kind, number: bytes.little(8), details: details)
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [kind.rawValue, 0, 0, 0, 0, 0, 0, 0]
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + details.knownElement
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        "the object \(String(decoding: key, as: UTF8.self).quotedForPeople)"
    }
}
