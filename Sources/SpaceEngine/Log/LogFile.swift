import Glibc
package import SpaceSystem
package import SystemPackage
import TupleCoding

/// A file with what a namespace was: entries, each with the changes of rows since the entry before; the first has all
/// rows.
///
/// It is a backup, to which `space backup` adds an entry when it is called, or a log, to which each commit adds one.
///
/// Guarantees: an entry counts once its last chunk is in the file, so a process that is killed leaves the file as it
/// was before, apart from bytes after the last entry, which the next process removes. Every byte is under a checksum. A
/// process that adds an entry holds the kernel's lock on the file's first byte, so two don't mix.
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
///            56   time, milliseconds of the namespace's clock; 0 if the commits behind it are not logged: in a backup of one
///                 moment, and at a log's end
///            64   hash64 of the chunk's header before this
///            72   changes of rows (`RowChange`)
package struct LogFile: ~Copyable {
    package static let magic = Array("SpaceBackup\0".utf8)
    private static let controlOffset = 16
    private static let nameOffset = controlOffset + ControlHeader.size
    fileprivate static let hashOffset = nameOffset + 256
    package static let headerSize = hashOffset + 8

    package let path: String
    package let descriptor: OwnedDescriptor
    /// Whether this opening made the file, which is removed again if nothing is written.
    private var isNew = false

    /// What the file says it is a backup of.
    package struct Subject {
        package let header: ControlHeader
        package let name: String

        package init(header: ControlHeader, name: String) {
            self.header = header
            self.name = name
        }

        /// The hash at the end of the file's header.
        package var hash: UInt64 { LogFile.header(of: self).little(LogFile.hashOffset, UInt64.self) }

        /// The position before the first entry.
        package var beginning: LogPosition { LogPosition(entry: 0, end: UInt64(LogFile.headerSize), link: hash) }
    }

    /// The chunks of one entry.
    package struct Entry {
        package let number: UInt64
        package let moment: LogMoment
        package let bytes: Range<Int>
        /// The hash that the entry refers to, and the one that the next refers to.
        package let linkBefore: UInt64
        fileprivate let link: UInt64

        /// The end of the file with this entry.
        package var position: LogPosition { LogPosition(entry: number, end: UInt64(bytes.upperBound), link: link) }
    }

    /// The result of a walk through a file's entries.
    package struct Walk {
        /// The last entry that was visited.
        package var last: Entry?
        /// The position of the next entry; bytes after it are a part of an entry that was never completed.
        package var position: LogPosition
        /// What is wrong after the last readable entry, if something is.
        package var damage: SpaceError?

        package init(at position: LogPosition) { self.position = position }
    }

    // MARK: Opening

    private init(path: String, _ descriptor: consuming OwnedDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        if isNew { removeIfEmpty() }
        unlock()
    }

    /// Opens a backup to read it.
    package static func reading(_ path: String) throws(SpaceError) -> LogFile { try opened(path, flags: O_RDONLY) }

    /// Opens a backup to add to it, or makes an empty file; no other process adds to it at the same time.
    ///
    /// A file that is made here and is still empty at the end, because the disk is full, is removed again.
    package static func adding(to path: String) throws(SpaceError) -> LogFile {
        while true {
            let isThere = access(path, F_OK) == 0
            var file = try opened(path, flags: O_RDWR | O_CREAT)
            guard try file.tryLock() else {
                throw SpaceError(
                    .holderBusy,
                    reason: "another process is adding to \(path.quotedForPeople)",
                    advice: "wait until it has ended, or name another file"
                )
            }
            // Another process may have removed its empty file between the opening and the lock.
            guard try file.info.linkCount > 0 else { continue }
            file.isNew = !isThere
            return file
        }
    }

    /// Removes the file if it is empty; the process has its lock.
    private func removeIfEmpty() {
        guard let own = try? info, own.size == 0, let there = try? Directory.info(at: AT_FDCWD, path),
            there.device == own.device, there.inode == own.inode
        else { return }
        _ = unlink(path)
    }

    /// Opens a log to add to it; it exists.
    static func goingOn(_ path: String) throws(SpaceError) -> LogFile { try opened(path, flags: O_RDWR) }

    /// The path of an existing file from the root on, without links.
    package static func wholePath(of path: String) throws(SpaceError) -> String {
        try onFile(path) { () throws(Errno) in
            guard let whole = realpath(path, nil) else { throw Errno(rawValue: errno) }
            defer { free(whole) }
            // A path is kept as text, and must lead to the file again.
            guard let text = String(validatingCString: whole) else { throw .illegalByteSequence }
            return text
        }
    }

    private static func opened(_ path: String, flags: CInt) throws(SpaceError) -> LogFile {
        let descriptor = try onFile(path) { () throws(Errno) in
            // O_NONBLOCK: open(2) of a FIFO would wait for a writer.
            try OwnedDescriptor.open(path, flags: flags | O_NONBLOCK, mode: 0o600)
        }
        let file = LogFile(path: path, descriptor)
        try file.checkKind()
        return file
    }

    /// Runs system calls on a file that the user has named.
    package static func onFile<R: ~Copyable>(
        _ path: String,
        _ body: () throws(Errno) -> R
    ) throws(SpaceError) -> R {
        do throws(Errno) { return try body() } catch { throw failure(error, on: path) }
    }

    /// The error for a file that the user has named; the usual advice would be about the root folder.
    package static func failure(_ errno: Errno, on path: String) -> SpaceError {
        let plain = SpaceError(errno, subject: path.quotedForPeople)
        let advice =
            switch errno {
            case .permissionDenied, .notPermitted:
                "name a file that you may read and write, or change the permissions of this one and its folders"
            case .readOnlyFileSystem: "name a file on a file system that can be written to"
            case .tooManySymbolicLinkLevels: "its symbolic links lead round in a circle; name the file itself"
            case .noSuchFileOrDirectory, .notDirectory: "check the path: the file's folder must exist"
            case .isDirectory: "name a file, not a folder"
            default: plain.advice
            }
        return SpaceError(plain.code, reason: plain.reason, advice: advice)
    }

    // MARK: Locking

    /// Locks the file for a process that adds to it; `false` if another process has it.
    func tryLock() throws(SpaceError) -> Bool {
        let raw = descriptor.raw
        return try Self.onFile(path) { () throws(Errno) in try FileLock.tryExclusive(raw, byte: 0) }
    }

    /// Unlocks it.
    ///
    /// Closing the file would not do: a child that this process is starting has the open file too until it calls exec.
    func unlock() { try? FileLock.unlock(descriptor.raw, byte: 0) }

    // MARK: Bytes

    private func checkKind() throws(SpaceError) {
        if try info.kind != .regular {
            throw .misuse("\(path.quotedForPeople) is no regular file", advice: "name a file")
        }
    }

    package var size: Int { get throws(SpaceError) { try info.size } }

    private var info: FileInfo {
        get throws(SpaceError) {
            let raw = descriptor.raw
            return try Self.onFile(path) { () throws(Errno) in try FileInfo.of(raw) }
        }
    }

    func read(at offset: Int, count: Int) throws(SpaceError) -> [UInt8] {
        let raw = descriptor.raw
        return try Self.onFile(path) { () throws(Errno) in
            try FileBytes.read(raw, at: offset, count: count)
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int) throws(SpaceError) {
        let raw = descriptor.raw
        try Self.onFile(path) { () throws(Errno) in try FileBytes.write(bytes, to: raw, at: offset) }
    }

    /// Removes what lies from a position on.
    package func cut(at offset: Int) throws(SpaceError) {
        let raw = descriptor.raw
        try Self.onFile(path) { () throws(Errno) in try FileBytes.truncate(raw, to: offset) }
    }

    package func sync() throws(SpaceError) {
        let raw = descriptor.raw
        try Self.onFile(path) { () throws(Errno) in try Directory.sync(raw) }
    }

    // MARK: The file's header

    /// The beginning of a backup of a namespace.
    package static func header(of subject: Subject) -> [UInt8] {
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
    package func subject() throws(SpaceError) -> Subject? {
        let bytes = try read(at: 0, count: Self.headerSize)
        if bytes.isEmpty { return nil }
        guard bytes.starts(with: Self.magic) else {
            throw SpaceError(
                .badData,
                reason: "\(path.quotedForPeople) is no backup of a namespace",
                advice: "name another file"
            )
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

    package func damage(_ what: String, advice: String = "use a copy of the file, or another backup") -> SpaceError {
        SpaceError(.damaged, reason: "the file \(path.quotedForPeople): \(what)", advice: advice)
    }

    // MARK: Entries

    /// Calls `visit` for each complete entry after a position, in order, until it returns `false`.
    package func walk(
        behind position: LogPosition,
        _ visit: (Entry) throws(SpaceError) -> Bool = { _ in true }
    ) throws(SpaceError) -> Walk {
        let size = try size
        var walk = Walk(at: position)
        var (next, link) = (Int(clamping: position.end), position.link)
        var start = next
        while next < size {
            let bytes = try read(at: next, count: LogChunk.headerSize)
            guard bytes.count == LogChunk.headerSize else { break }
            guard let chunk = LogChunk(header: bytes), chunk.entry == walk.position.entry + 1, chunk.link == link else {
                walk.damage = damage(from: next, behind: walk.last)
                break
            }
            next += LogChunk.headerSize + chunk.count
            guard next <= size else { break }
            link = chunk.ownHash
            guard chunk.isLast else { continue }
            let entry = Entry(
                number: chunk.entry,
                moment: chunk.moment,
                bytes: start..<next,
                linkBefore: walk.position.link,
                link: link
            )
            guard try visit(entry) else { break }
            (start, walk.last, walk.position) = (next, entry, entry.position)
        }
        return walk
    }

    private func damage(from position: Int, behind last: Entry?) -> SpaceError {
        let what = "its bytes from \(position) on don't decode"
        guard let last else { return damage(what) }
        return damage(
            "\(what); it is whole up to change \(last.moment.sequence)",
            advice: "replay that with --to \(last.moment.sequence), and begin another file"
        )
    }

    /// Calls `visit` for each change of rows in an entry, in order.
    package func forEachChange(
        of entry: Entry,
        _ visit: (RowChange) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try forEachChunk(of: entry) { (bytes) throws(SpaceError) in
            try RowChange.forEach(in: bytes, visit)
        }
    }

    /// Calls `visit` with the changes of each chunk of an entry.
    package func forEachChunk(
        of entry: Entry,
        _ visit: (UnsafeRawBufferPointer) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        var position = entry.bytes.lowerBound
        while position < entry.bytes.upperBound {
            guard let chunk = LogChunk(header: try read(at: position, count: LogChunk.headerSize)) else {
                throw damage("its bytes at \(position) don't decode")
            }
            position += LogChunk.headerSize
            let bytes = try read(at: position, count: chunk.count)
            guard bytes.count == chunk.count, hash64(bytes) == chunk.hash else {
                throw damage("the \(chunk.count) bytes at \(position) have a wrong checksum")
            }
            position += chunk.count
            try bytes.withBytes { (bytes) throws(SpaceError) in try visit(bytes) }
        }
    }
}
