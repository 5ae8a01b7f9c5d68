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

    package consuming func adding(_ number: some FixedWidthInteger) -> ValueWriter {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        return self
    }

    /// Adds bytes with their length.
    package consuming func adding(_ field: [UInt8]) -> ValueWriter {
        bytes.append(field: field)
        return self
    }

    package consuming func adding(_ text: String) -> ValueWriter { adding(Array(text.utf8)) }

    package consuming func finished() -> [UInt8] {
        let hash = hash64(bytes)
        return adding(hash).bytes
    }
}

/// Reads a value that ``ValueWriter`` has written; nothing that it reads is trusted.
package struct ValueReader {
    private var reader: ByteReader

    /// Checks format, kind and hash.
    package init(_ bytes: [UInt8], _ kind: ValueKind) throws(ValueError) {
        guard let format = bytes.first else { throw .damaged }
        guard format == ValueWriter.format else { throw .unknownFormat(format) }
        guard bytes.count >= 10, bytes[1] == kind.rawValue else { throw .damaged }
        var end = ByteReader(bytes[(bytes.count - 8)...])
        guard end.next() == hash64(Array(bytes[..<(bytes.count - 8)])) else { throw .damaged }
        reader = ByteReader(bytes[2..<(bytes.count - 8)])
    }

    package mutating func next<I: FixedWidthInteger>(_ type: I.Type = I.self) throws(ValueError) -> I {
        try Self.whole(reader.next(type))
    }

    package mutating func nextBytes() throws(ValueError) -> [UInt8] { try Self.whole(reader.nextBytes()) }

    package mutating func nextText() throws(ValueError) -> String { try Self.whole(reader.nextText()) }

    /// Checks that nothing is left.
    package func end() throws(ValueError) {
        guard reader.isAtEnd else { throw .damaged }
    }

    private static func whole<Field>(_ field: Field?) throws(ValueError) -> Field {
        guard let field else { throw .damaged }
        return field
    }
}
