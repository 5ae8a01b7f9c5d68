import SpaceSystem

/// An entry of a log in memory, taken apart and checked: each chunk has the right checksum and refers to the one before.
package struct EntryBytes {
    package let number: UInt64
    package let moment: LogMoment
    /// The hash that the entry refers to, and the one that the next refers to.
    package let linkBefore: UInt64
    package let link: UInt64
    private let bytes: [UInt8]
    private let parts: [Range<Int>]

    /// - Throws: `damaged` for bytes that are not one whole entry.
    package init(_ bytes: [UInt8]) throws(SpaceError) {
        var parts: [Range<Int>] = []
        var (first, last): (LogChunk?, LogChunk?)
        var position = 0
        while position < bytes.count {
            guard last?.isLast != true, bytes.count - position >= LogChunk.headerSize,
                let chunk = LogChunk(header: Array(bytes[position..<position + LogChunk.headerSize])),
                last.map({ chunk.entry == $0.entry && chunk.link == $0.ownHash && chunk.moment == $0.moment }) ?? true
            else { throw Self.damage }
            position += LogChunk.headerSize
            guard chunk.count <= bytes.count - position else { throw Self.damage }
            let part = position..<position + chunk.count
            guard hash64(Array(bytes[part])) == chunk.hash else { throw Self.damage }
            parts.append(part)
            position = part.upperBound
            first = first ?? chunk
            last = chunk
        }
        guard let first, let last, last.isLast else { throw Self.damage }
        (number, moment, linkBefore, link) = (first.entry, first.moment, first.link, last.ownHash)
        self.bytes = bytes
        self.parts = parts
    }

    private static var damage: SpaceError { .damaged("an entry of the log does not decode") }

    /// Calls `visit` with the changes of rows of each chunk, in order.
    package func forEachPart(_ visit: (UnsafeRawBufferPointer) throws(SpaceError) -> Void) throws(SpaceError) {
        for part in parts {
            try bytes.withBytes { (bytes) throws(SpaceError) in
                try visit(UnsafeRawBufferPointer(rebasing: bytes[part]))
            }
        }
    }
}
