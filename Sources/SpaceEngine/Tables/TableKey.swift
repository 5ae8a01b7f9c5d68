import SpaceSystem

/// The key of a table's rows: to bytes and back.
package protocol TableKey {
    /// Reads a key; `nil` if the bytes are not one.
    init?(key bytes: UnsafeRawBufferPointer)

    /// Calls `body` with the key's bytes, which are in the order of the keys.
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}

extension TableKey {
    /// Reads a key from bytes in memory.
    package init?(keyBytes bytes: [UInt8]) {
        let key = bytes.withUnsafeBytes { Self(key: $0) }
        guard let key else { return nil }
        self = key
    }
}

/// A number as a key: eight bytes, big-endian.
extension UInt64: TableKey {
    @inline(__always)
    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        self = bytes.big(0)
    }

    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes(of: bigEndian) { (bytes) throws(E) -> R in try body(bytes) }
    }
}

/// A small number as a key: two bytes, big-endian.
extension UInt16: TableKey {
    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 2 else { return nil }
        self = bytes.big(0)
    }

    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes(of: bigEndian) { (bytes) throws(E) -> R in try body(bytes) }
    }
}

/// A name as a key: its UTF-8.
extension String: TableKey {
    package init?(key bytes: UnsafeRawBufferPointer) { self.init(validating: bytes, as: UTF8.self) }

    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var text = self
        return try text.withUTF8Bytes(body)
    }
}

/// Bytes as a key.
extension [UInt8]: TableKey {
    package init?(key bytes: UnsafeRawBufferPointer) { self.init(bytes) }
}
