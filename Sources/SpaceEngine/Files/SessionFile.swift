package import SpaceSystem
import SystemPackage

/// The contents of a file in `sessions/`: which process uses the namespace, and whether that keeps the namespace alive.
///
/// There are two kinds. `<number>` is a session of a process that has the namespace open; the process holds the
/// session's lock as long as it has (see `ControlFile`). `<pid>.<start>.for` is a process that another process enrolled
/// as owner: it has no lock, and its name can't be mistaken for that of a later process with the same PID. A file has
/// 64 bytes, little-endian; the last eight are a checksum.
///
/// On a full disk there is no block for the 64 bytes, and the file stays empty. An empty enrolment needs none, because
/// its name says everything. An empty session's record is the text of a symbolic link beside it, `.<number>`. That text
/// lies in the link's inode (ext4 keeps up to 59 bytes there, tmpfs 127). So any number of processes can open a full
/// namespace, and empty it.
package struct SessionFile: Equatable, Sendable {
    package static let size = 64
    private static let magic: UInt32 = 0x5353_4853  // "SHSS"

    package enum Kind: Equatable, Sendable {
        case session(UInt64)
        case enrolled
    }

    package var kind: Kind
    package var process: ProcessIdentity
    package var isOwning: Bool
    /// Whether the session has ever claimed; if it has, waiters listen for its end.
    package var isClaimant = false
    package var sinceMilliseconds: Int64

    package var name: String {
        switch kind {
        case .session(let number): String(number)
        case .enrolled: Self.enrolledName(process)
        }
    }

    static let enrolledSuffix = ".for"

    static func enrolledName(_ process: ProcessIdentity) -> String {
        "\(process.pid).\(process.startTime)\(enrolledSuffix)"
    }

    /// Whether a file of `sessions/` can have this name.
    ///
    /// It can be the name of a session, an enrolment, the link beside a session's file, or the draft of an enrolment.
    package static func isName(_ name: String) -> Bool {
        let name = name.hasPrefix(".") ? name.dropFirst() : name[...]
        if UInt64(name) != nil { return true }
        return SessionFile(enrolledName: String(name), sinceMilliseconds: 0) != nil
    }

    package func encoded() -> [UInt8] {
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
    /// The result is `nil` if the name or the contents are invalid: a process may have been killed while it wrote them.
    package init?(name: String, contents: [UInt8]) {
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

    /// The record as the text of a link: `<pid> <start time> <flags> <since>`.
    var linkText: String {
        "\(process.pid) \(process.startTime) \((isOwning ? 1 : 0) | (isClaimant ? 2 : 0)) \(sinceMilliseconds)"
    }

    /// The longest text of a link.
    static let linkTextSize = 59

    /// The name of the link that keeps a session's record on a full disk.
    static func linkName(_ name: String) -> String { ".\(name)" }

    /// Reads the record of a session whose file is empty.
    package init?(name: String, linkText: String) {
        let words = linkText.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let number = UInt64(name), let pid = Int32(words[0]), pid > 0,
            let start = UInt64(words[1]), let flags = UInt32(words[2]), let since = Int64(words[3])
        else { return nil }
        kind = .session(number)
        process = ProcessIdentity(pid: pid, startTime: start)
        isOwning = flags & 1 != 0
        isClaimant = flags & 2 != 0
        sinceMilliseconds = since
    }

    /// Reads an enrolment whose file is empty: its name names the process, and an enrolled process is an owner.
    package init?(enrolledName name: String, sinceMilliseconds since: Int64) {
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 3, let pid = Int32(words[0]), pid > 0, let start = UInt64(words[1]) else { return nil }
        process = ProcessIdentity(pid: pid, startTime: start)
        guard name == Self.enrolledName(process) else { return nil }
        kind = .enrolled
        isOwning = true
        sinceMilliseconds = since
    }

    package init(kind: Kind, process: ProcessIdentity, isOwning: Bool) {
        self.kind = kind
        self.process = process
        self.isOwning = isOwning
        sinceMilliseconds = Clock.realtimeMilliseconds()
    }
}

extension Errno {
    /// Whether there is no space for a block or an inode, either on the file system or for the user.
    package var isOfFullDisk: Bool { self == .noSpace || self == Errno(rawValue: 122) /* EDQUOT */ }
}
