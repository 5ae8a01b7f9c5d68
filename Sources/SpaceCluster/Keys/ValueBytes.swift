import SpaceEngine

/// Why a value of the store can't be used.
package enum ValueError: Error, Equatable {
    /// It was written by another version of this program, with this format.
    case unknownFormat(UInt8)
    /// Its bytes are no value of the kind that belongs to its key.
    case damaged
    /// It belongs to another incarnation of the namespace.
    case foreign
}

/// Which kind of value it is, so that a value under a wrong key is never taken for another.
package enum ValueKind: UInt8, Sendable {
    case number = 1
    case member, log, last, manifest, chunk
}

/// Writes a value: a format (1 byte), a kind (1 byte), fields in little-endian order, and hash64 of all of it.
package struct ValueWriter {
    package static let format: UInt8 = 1
    private var bytes: [UInt8]

    package init(_ kind: ValueKind) { bytes = [Self.format, kind.rawValue] }

    package mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds bytes with their length.
    package mutating func add(_ field: [UInt8]) {
        add(UInt32(field.count))
        bytes += field
    }

    package mutating func add(_ text: String) { add(Array(text.utf8)) }

    package consuming func finished() -> [UInt8] {
        let hash = hash64(bytes)
        add(hash)
        return bytes
    }
}

/// Reads a value that ``ValueWriter`` has written; nothing that it reads is trusted.
package struct ValueReader {
    private var rest: ArraySlice<UInt8>

    /// Checks format, kind and hash.
    package init(_ bytes: [UInt8], _ kind: ValueKind) throws(ValueError) {
        guard let format = bytes.first else { throw .damaged }
        guard format == ValueWriter.format else { throw .unknownFormat(format) }
        guard bytes.count >= 10, bytes[1] == kind.rawValue else { throw .damaged }
        rest = bytes[(bytes.count - 8)...]
        let hash = try Self.number(&rest, UInt64.self)
        guard hash == hash64(Array(bytes[..<(bytes.count - 8)])) else { throw .damaged }
        rest = bytes[2..<(bytes.count - 8)]
    }

    private static func number<I: FixedWidthInteger>(_ rest: inout ArraySlice<UInt8>, _: I.Type) throws(ValueError) -> I
    {
        let size = MemoryLayout<I>.size
        guard rest.count >= size else { throw .damaged }
        let number = rest.withUnsafeBytes { I(littleEndian: $0.loadUnaligned(as: I.self)) }
        rest = rest.dropFirst(size)
        return number
    }

    package mutating func next<I: FixedWidthInteger>(_ type: I.Type = I.self) throws(ValueError) -> I {
        try Self.number(&rest, type)
    }

    package mutating func nextBytes() throws(ValueError) -> [UInt8] {
        let count = try next(UInt32.self)
        guard count <= rest.count else { throw .damaged }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    package mutating func nextText() throws(ValueError) -> String {
        guard let text = String(validating: try nextBytes(), as: UTF8.self) else { throw .damaged }
        return text
    }

    /// Checks that nothing is left.
    package func end() throws(ValueError) {
        guard rest.isEmpty else { throw .damaged }
    }
}
