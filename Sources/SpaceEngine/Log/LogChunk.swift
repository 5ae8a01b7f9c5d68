/// The header of a part of an entry.
package struct LogChunk {
    static let headerSize = 72
    static let hashOffset = 64
    /// A chunk has a MiB and a row at most; no row is as large as this.
    private static let mostBytes = 1 << 27
    private static let magic = Array("CHNK".utf8)

    package var entry: UInt64
    package var moment: LogMoment
    package var isLast = false
    package var count = 0
    package var hash: UInt64 = 0
    /// The last hash of the chunk before, or of the file's header.
    package var link: UInt64

    /// The first chunk of the entry behind a position.
    package init(behind position: LogPosition, _ moment: LogMoment) {
        entry = position.entry + 1
        link = position.link
        self.moment = moment
    }

    init?(header bytes: [UInt8]) {
        guard bytes.count == Self.headerSize, bytes.starts(with: Self.magic),
            hash64(Array(bytes[..<Self.hashOffset])) == bytes.little(Self.hashOffset, UInt64.self)
        else { return nil }
        let flags = bytes.little(4, UInt32.self)
        isLast = flags & 1 != 0
        entry = bytes.little(8, UInt64.self)
        moment = LogMoment(
            sequence: bytes.little(16, UInt64.self),
            time: bytes.little(24, Int64.self),
            isPersistent: flags & 2 != 0,
            clock: bytes.little(56, Int64.self)
        )
        count = Int(clamping: bytes.little(32, UInt64.self))
        hash = bytes.little(40, UInt64.self)
        link = bytes.little(48, UInt64.self)
        guard count <= Self.mostBytes else { return nil }
    }

    /// The hash that the next chunk refers to.
    package var ownHash: UInt64 { Self.ownHash(encoded: encoded) }

    static func ownHash(encoded bytes: [UInt8]) -> UInt64 { bytes.little(hashOffset, UInt64.self) }

    package var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(little: UInt32((isLast ? 1 : 0) | (moment.isPersistent ? 2 : 0)))
        bytes.append(little: entry)
        bytes.append(little: moment.sequence)
        bytes.append(little: moment.time)
        bytes.append(little: UInt64(count))
        bytes.append(little: hash)
        bytes.append(little: link)
        bytes.append(little: moment.clock)
        bytes.append(little: hash64(bytes))
        return bytes
    }
}

extension [UInt8] {
    package mutating func append(little number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    package func little<I: FixedWidthInteger>(_ offset: Int, _: I.Type) -> I {
        withUnsafeBytes { $0.little(offset) }
    }
}
