import Glibc
import SpaceEngine
import SpaceSystem
import SystemPackage
import TupleCoding

/// A backup's file: entries, each with the changes of rows since the entry before; the first has all rows.
///
/// Guarantees: an entry counts once its last chunk is in the file, so a backup that is killed leaves the file as it was
/// before, apart from bytes behind its end, which the next backup removes. Every byte is under a checksum. A backup
/// holds the kernel's lock on the file's first byte, so two don't mix.
///
///     file   0    "SpaceBackup", a zero, the format's version (4 bytes)
///            16   the header of the namespace's control file, as of the first entry (256 bytes)
///            272  length of the namespace's name (2 bytes), the name, zeros (256 bytes in all)
///            528  hash64 of the bytes before
///            536  chunks
///     chunk  0    "CHNK"
///            4    flags: bit 0, the last chunk of its entry; bit 1, the namespace stays without owners
///            8    number of the entry, from 1
///            16   the number of the last change that the entry knows of
///            24   time, milliseconds since 1970
///            32   how many bytes follow the chunk's header
///            40   hash64 of these bytes
///            48   the last hash64 of the chunk before, or of the file's header: no chunk can be left out, moved, or put in
///                 from another file
///            56   hash64 of the chunk's header before this
///            64   changes of rows (`RowChange`)
struct BackupFile: ~Copyable {
    static let magic = Array("SpaceBackup\0".utf8)
    private static let controlOffset = 16
    private static let nameOffset = controlOffset + ControlHeader.size
    fileprivate static let hashOffset = nameOffset + 256
    static let headerSize = hashOffset + 8

    let path: String
    let descriptor: OwnedDescriptor

    /// What the file says it is a backup of.
    struct Subject {
        let header: ControlHeader
        let name: String

        /// The hash at the end of the file's header.
        var hash: UInt64 { BackupFile.header(of: self).little(BackupFile.hashOffset, UInt64.self) }
    }

    /// The chunks of one entry.
    struct Entry {
        let number: UInt64
        let sequence: UInt64
        /// When it was made, in milliseconds since 1970.
        let time: Int64
        let isPersistent: Bool
        let bytes: Range<Int>
    }

    /// What is in a file.
    struct Contents {
        var entries: [Entry] = []
        /// Where the next entry goes; what lies behind is a part of an entry that was never completed.
        var end = BackupFile.headerSize
        /// The hash that the next chunk begins with.
        var link: UInt64
        /// What is wrong behind the last entry that can be read, if something is.
        var damage: SpaceError?
    }

    // MARK: Opening

    private init(path: String, _ descriptor: consuming OwnedDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        // A child that this process is starting has the open file too until it calls exec, and would keep the lock.
        try? FileLock.unlock(descriptor.raw, byte: 0)
    }

    /// Opens a backup to read it.
    static func reading(_ path: String) throws(SpaceError) -> BackupFile { try opened(path, flags: O_RDONLY) }

    /// Opens a backup to add to it, or makes an empty file; no other process adds to it meanwhile.
    static func adding(to path: String) throws(SpaceError) -> BackupFile {
        let file = try opened(path, flags: O_RDWR | O_CREAT)
        let raw = file.descriptor.raw
        guard try system(path.quotedForPeople, { () throws(Errno) in try FileLock.tryExclusive(raw, byte: 0) }) else {
            throw SpaceError(
                .holderBusy,
                reason: "another process is adding to \(path.quotedForPeople)",
                advice: "wait until it has ended, or name another file"
            )
        }
        return file
    }

    private static func opened(_ path: String, flags: CInt) throws(SpaceError) -> BackupFile {
        let descriptor = try system(path.quotedForPeople) { () throws(Errno) in
            // O_NONBLOCK: open(2) of a FIFO would wait for a writer.
            try OwnedDescriptor.open(path, flags: flags | O_NONBLOCK, mode: 0o600)
        }
        let file = BackupFile(path: path, descriptor)
        try file.checkKind()
        return file
    }

    private func checkKind() throws(SpaceError) {
        let raw = descriptor.raw
        let info = try system(path.quotedForPeople) { () throws(Errno) in try FileInfo.of(raw) }
        if info.kind != .regular {
            throw .misuse("\(path.quotedForPeople) is no regular file", advice: "name a file")
        }
    }

    var size: Int {
        get throws(SpaceError) {
            let raw = descriptor.raw
            return try system(path.quotedForPeople) { () throws(Errno) in try FileInfo.of(raw).size }
        }
    }

    func read(at offset: Int, count: Int) throws(SpaceError) -> [UInt8] {
        let raw = descriptor.raw
        return try system(path.quotedForPeople) { () throws(Errno) in
            try FileBytes.read(raw, at: offset, count: count)
        }
    }

    // MARK: The file's header

    /// The beginning of a backup of a namespace.
    static func header(of subject: Subject) -> [UInt8] {
        var bytes = magic
        bytes.append(little: ControlHeader.currentVersion)
        bytes += subject.header.encoded()
        bytes.append(little: UInt16(subject.name.utf8.count))
        bytes += Array(subject.name.utf8)
        bytes += [UInt8](repeating: 0, count: hashOffset - bytes.count)
        bytes.append(little: hash64(bytes))
        return bytes
    }

    /// What the file is a backup of; `nil` if it is empty, or its first backup was killed at its beginning.
    func subject() throws(SpaceError) -> Subject? {
        let bytes = try read(at: 0, count: Self.headerSize)
        if bytes.isEmpty { return nil }
        guard bytes.starts(with: Self.magic) else {
            throw .misuse("\(path.quotedForPeople) is no backup of a namespace", advice: "name another file")
        }
        guard bytes.count == Self.headerSize else { return nil }
        let version = bytes.little(Self.magic.count, UInt32.self)
        guard version == ControlHeader.currentVersion else {
            throw .incompatible(
                "\(path.quotedForPeople) was made by another version of this program: it has format \(version), "
                    + "and this version reads \(ControlHeader.currentVersion)",
                advice:
                    "read it with the version that made it, and carry the contents over by space-dump and space load"
            )
        }
        let nameSize = Int(bytes.little(Self.nameOffset, UInt16.self))
        guard hash64(Array(bytes[..<Self.hashOffset])) == bytes.little(Self.hashOffset, UInt64.self), nameSize <= 254,
            let header = try? ControlHeader(decoding: Array(bytes[Self.controlOffset..<Self.nameOffset]))
        else { throw damage("its beginning does not decode") }
        let name = bytes[(Self.nameOffset + 2)...].prefix(nameSize)
        return Subject(header: header, name: String(decoding: name, as: UTF8.self))
    }

    func damage(_ what: String, advice: String = "use a copy of the file, or another backup") -> SpaceError {
        SpaceError(.damaged, reason: "the backup \(path.quotedForPeople): \(what)", advice: advice)
    }

    // MARK: Entries

    /// The complete entries of a backup of `subject`.
    func contents(_ subject: Subject) throws(SpaceError) -> Contents {
        let size = try size
        var contents = Contents(link: subject.hash)
        var link = contents.link
        var (position, start) = (Self.headerSize, Self.headerSize)
        while position < size {
            let bytes = try read(at: position, count: BackupChunk.headerSize)
            guard bytes.count == BackupChunk.headerSize else { break }
            guard let chunk = BackupChunk(header: bytes), chunk.entry == UInt64(contents.entries.count + 1),
                chunk.link == link
            else {
                contents.damage = damage(from: position, behind: contents.entries.last)
                break
            }
            let next = position + BackupChunk.headerSize + chunk.count
            guard next <= size else { break }
            position = next
            link = chunk.ownHash
            guard chunk.isLast else { continue }
            contents.entries.append(
                Entry(
                    number: chunk.entry,
                    sequence: chunk.sequence,
                    time: chunk.time,
                    isPersistent: chunk.isPersistent,
                    bytes: start..<position
                )
            )
            (start, contents.end, contents.link) = (position, position, link)
        }
        return contents
    }

    private func damage(from position: Int, behind last: Entry?) -> SpaceError {
        let what = "its bytes from \(position) on don't decode"
        guard let last else { return damage(what) }
        return damage(
            "\(what); it is whole up to change \(last.sequence)",
            advice: "replay that with --to \(last.sequence), and begin another file"
        )
    }

    /// Calls `visit` for each change of rows in some entries, in order.
    func forEachChange(
        of entries: some Sequence<Entry>,
        _ visit: (RowChange) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        for entry in entries {
            try forEachChunk(of: entry) { (bytes) throws(SpaceError) in
                try RowChange.forEach(in: bytes, visit)
            }
        }
    }

    /// Calls `visit` with the changes of each chunk of an entry.
    func forEachChunk(
        of entry: Entry,
        _ visit: (UnsafeRawBufferPointer) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        var position = entry.bytes.lowerBound
        while position < entry.bytes.upperBound {
            guard let chunk = BackupChunk(header: try read(at: position, count: BackupChunk.headerSize)) else {
                throw damage("its bytes at \(position) don't decode")
            }
            position += BackupChunk.headerSize
            let bytes = try read(at: position, count: chunk.count)
            guard bytes.count == chunk.count, hash64(bytes) == chunk.hash else {
                throw damage("the \(chunk.count) bytes at \(position) have a wrong checksum")
            }
            position += chunk.count
            try bytes.withBytes { (bytes) throws(SpaceError) in try visit(bytes) }
        }
    }
}

/// The header of a part of an entry.
struct BackupChunk {
    static let headerSize = 64
    /// A chunk has a MiB and a row at most; no row is as large as this.
    private static let mostBytes = 1 << 27
    private static let magic = Array("CHNK".utf8)

    var entry: UInt64 = 0
    var sequence: UInt64 = 0
    var time: Int64 = 0
    var isPersistent = false
    var isLast = false
    var count = 0
    var hash: UInt64 = 0
    /// The last hash of the chunk before, or of the file's header.
    var link: UInt64 = 0

    init() {}

    init?(header bytes: [UInt8]) {
        guard bytes.count == Self.headerSize, bytes.starts(with: Self.magic),
            hash64(Array(bytes[..<56])) == bytes.little(56, UInt64.self)
        else { return nil }
        let flags = bytes.little(4, UInt32.self)
        (isLast, isPersistent) = (flags & 1 != 0, flags & 2 != 0)
        entry = bytes.little(8, UInt64.self)
        sequence = bytes.little(16, UInt64.self)
        time = bytes.little(24, Int64.self)
        count = Int(clamping: bytes.little(32, UInt64.self))
        hash = bytes.little(40, UInt64.self)
        link = bytes.little(48, UInt64.self)
        guard count <= Self.mostBytes else { return nil }
    }

    /// The hash that the next chunk refers to.
    var ownHash: UInt64 { encoded.little(56, UInt64.self) }

    var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(little: UInt32((isLast ? 1 : 0) | (isPersistent ? 2 : 0)))
        bytes.append(little: entry)
        bytes.append(little: sequence)
        bytes.append(little: time)
        bytes.append(little: UInt64(count))
        bytes.append(little: hash)
        bytes.append(little: link)
        bytes.append(little: hash64(bytes))
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(little number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate func little<I: FixedWidthInteger>(_ offset: Int, _: I.Type) -> I {
        withUnsafeBytes { $0.little(offset) }
    }
}
