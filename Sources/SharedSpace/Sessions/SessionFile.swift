import Glibc
import SpaceSystem
import SystemPackage
import TupleCoding

/// What a file in `sessions/` says: who uses the namespace, and whether that keeps it alive.
///
/// Two kinds. `<number>`: a session of a process that has the namespace open, under an OFD write lock for as long as it does.
/// `<pid>.<start>.for`: a process that somebody enrolled as owner; no lock, and a name that can't be mistaken for a later
/// process with the same PID. 64 bytes, little-endian, the last eight a checksum.
struct SessionFile: Equatable, Sendable {
    static let size = 64
    private static let magic: UInt32 = 0x5353_4853  // "SHSS"

    enum Kind: Equatable, Sendable {
        case session(UInt64)
        case enrolled
    }

    var kind: Kind
    var process: ProcessIdentity
    var isOwning: Bool
    /// Whether the session has ever claimed: who waits listens for its end.
    var isClaimant = false
    var sinceMilliseconds: Int64

    var name: String {
        switch kind {
        case .session(let number): String(number)
        case .enrolled: Self.enrolledName(process)
        }
    }

    static func enrolledName(_ process: ProcessIdentity) -> String { "\(process.pid).\(process.startTime).for" }

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(Self.magic)
        append((isOwning ? 1 : 0) | (isClaimant ? 2 : 0) as UInt32)
        append(process.startTime)
        append(sinceMilliseconds)
        append(process.pid)
        bytes.append(contentsOf: repeatElement(0, count: Self.size - 8 - bytes.count))
        append(hash64(bytes))
        return bytes
    }

    /// Reads a file of `sessions/`.
    ///
    /// - Returns: `nil` for a name that is none, or contents that are none: a process was killed while writing them.
    init?(name: String, contents: [UInt8]) {
        guard contents.count == Self.size else { return nil }
        let fields = contents.withUnsafeBytes { bytes in
            (
                magic: bytes.little(0, UInt32.self), flags: bytes.little(4, UInt32.self),
                start: bytes.little(8, UInt64.self),
                since: bytes.little(16, Int64.self), pid: bytes.little(24, Int32.self),
                checksum: bytes.little(Self.size - 8, UInt64.self)
            )
        }
        guard fields.magic == Self.magic, fields.checksum == hash64(Array(contents[..<(Self.size - 8)])), fields.pid > 0
        else { return nil }
        process = ProcessIdentity(pid: fields.pid, startTime: fields.start)
        isOwning = fields.flags & 1 != 0
        isClaimant = fields.flags & 2 != 0
        sinceMilliseconds = fields.since
        if let number = UInt64(name) {
            kind = .session(number)
        } else if name == Self.enrolledName(process) {
            kind = .enrolled
        } else {
            return nil
        }
    }

    init(kind: Kind, process: ProcessIdentity, isOwning: Bool) {
        self.kind = kind
        self.process = process
        self.isOwning = isOwning
        sinceMilliseconds = Clock.realtimeMilliseconds()
    }
}

/// A namespace's folder of sessions, opened for the time of one operation.
struct SessionFolder: ~Copyable {
    static let name = "sessions"

    private let descriptor: OwnedDescriptor

    /// `namespace`: The namespace's folder.
    init(in namespace: borrowing OwnedDescriptor) throws(Errno) {
        descriptor = try OwnedDescriptor.directory(at: namespace.raw, Self.name)
    }

    /// Makes a session's file and locks it.
    func create(_ file: SessionFile, mode: UInt32) throws(Errno) -> OwnedDescriptor {
        let lock = try OwnedDescriptor.openat(
            directory: descriptor.raw,
            file.name,
            flags: O_RDWR | O_CREAT | O_EXCL,
            mode: mode
        )
        do throws(Errno) {
            try Directory.setMode(lock.raw, mode)
            guard try FileLock.tryExclusive(lock.raw) else { throw .resourceBusy }
            try FileBytes.write(file.encoded(), to: lock.raw)
        } catch {
            try? remove(file.name)
            throw error
        }
        return lock
    }

    /// Writes an enrolled process's file; enrolling twice is one enrolment.
    func enrol(_ file: SessionFile, mode: UInt32) throws(Errno) {
        // One enrolment, from its first time on: commands enrol their caller again and again.
        if contains(file.name) { return }
        // Written under another name and renamed, so that nobody ever reads half of it.
        let draft = ".\(file.name)"
        let target = try OwnedDescriptor.openat(
            directory: descriptor.raw,
            draft,
            flags: O_RDWR | O_CREAT | O_TRUNC,
            mode: mode
        )
        try Directory.setMode(target.raw, mode)
        try FileBytes.write(file.encoded(), to: target.raw)
        try Directory.rename(from: descriptor.raw, draft, to: descriptor.raw, file.name)
    }

    func remove(_ name: String) throws(Errno) {
        _ = try Directory.unlink(at: descriptor.raw, name)
    }

    func contains(_ name: String) -> Bool { (try? Directory.info(at: descriptor.raw, name)) != nil }

    func names() throws(Errno) -> [String] { try Directory.list(descriptor.raw) }

    /// Looks at one file: what it says, and whether its process lives.
    ///
    /// A session is alive when its lock is held and nothing shows its PID dead; an enrolled process when nothing shows its PID
    /// dead. So a forked child that inherited the descriptor keeps no dead owner alive, and exec, which drops the
    /// lock, ends a session.
    ///
    /// - Returns: `nil` when the file has gone meanwhile. A file that can't be read is `unreadable`; it counts as alive
    ///   while its lock is held.
    func look(at name: String) throws(Errno) -> Sighting? {
        let file: OwnedDescriptor
        do throws(Errno) {
            // O_NONBLOCK: the open(2) of a FIFO that somebody put there would wait for a writer, under the door.
            file = try OwnedDescriptor.openat(
                directory: descriptor.raw,
                name,
                flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK
            )
        } catch .noSuchFileOrDirectory {
            return nil
        } catch  where error == .tooManySymbolicLinkLevels || error == .noSuchAddressOrDevice {
            // A link, or a socket: nobody's session.
            return Sighting(name: name, record: nil, isAlive: false)
        }
        guard try FileInfo.of(file.raw).kind == .regular else {
            return Sighting(name: name, record: nil, isAlive: false)
        }
        let contents = try FileBytes.readPrefix(file.raw, count: SessionFile.size + 1)
        guard let record = SessionFile(name: name, contents: contents) else {
            return Sighting(name: name, record: nil, isAlive: try FileLock.isHeldByAnother(file.raw))
        }
        if case .session = record.kind, try !FileLock.isHeldByAnother(file.raw) {
            return Sighting(name: name, record: record, isAlive: false)
        }
        return Sighting(name: name, record: record, isAlive: record.process.life == .alive)
    }

    struct Sighting: Sendable {
        let name: String
        let record: SessionFile?
        let isAlive: Bool

        var keepsAlive: Bool { isAlive && record?.isOwning ?? true }
        var isEnrolled: Bool { record?.kind == .enrolled }
    }

    /// All of them.
    func sightings() throws(Errno) -> [Sighting] {
        var all: [Sighting] = []
        for name in try names() where !name.hasPrefix(".") {
            if let sighting = try look(at: name) { all.append(sighting) }
        }
        return all
    }

    /// Removes the files of the dead.
    ///
    /// Under the door.
    ///
    /// What is none of ours and can't be removed (a folder, say) owns nothing, and is in nobody's way.
    func removeDead() throws(Errno) {
        for sighting in try sightings() where !sighting.isAlive { try? remove(sighting.name) }
    }

    /// Whether a living owner is there; looks no further than the first.
    func hasLivingOwner() throws(Errno) -> Bool {
        for name in try names() where !name.hasPrefix(".") {
            if let sighting = try look(at: name), sighting.keepsAlive { return true }
        }
        return false
    }
}
