import Glibc
package import SpaceSystem
package import SystemPackage
import TupleCoding

/// A namespace's folder of sessions, opened for the time of one operation.
package struct SessionFolder: ~Copyable {
    package static let name = "sessions"

    private let descriptor: OwnedDescriptor
    private let files: TrustedFolder

    /// `namespace`: The namespace's folder.
    package init(in namespace: borrowing OwnedDescriptor) throws(Errno) {
        let opened = try OwnedDescriptor.directory(at: namespace.raw, Self.name)
        files = TrustedFolder(opened.raw, try FileInfo.of(opened.raw))
        descriptor = opened
    }

    /// The control file, opened to ask for its locks: an open file of its own, so that this process's sessions show as held, too.
    private func openLocks() throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor.openat(
            directory: descriptor.raw,
            "../\(NamespaceFolder.control)",
            flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        )
    }

    /// Makes the file of a new session, whose lock is held.
    package func create(_ file: SessionFile, mode: UInt32) throws(Errno) {
        let target = try OwnedDescriptor.openat(
            directory: descriptor.raw,
            file.name,
            flags: O_RDWR | O_CREAT | O_EXCL,
            mode: mode
        )
        do throws(Errno) {
            try Directory.setMode(target.raw, mode)
            try fill(target.raw, with: file)
        } catch {
            try? remove(file.name)
            throw error
        }
    }

    /// Writes a session's record into its file, or beside it where there is no block for it.
    private func fill(_ target: CInt, with file: SessionFile) throws(Errno) {
        do throws(Errno) {
            try FileBytes.write(file.encoded(), to: target)
        } catch  where error.isOfFullDisk {
            let link = SessionFile.linkName(file.name)
            // Also what stands there of an earlier session with this number.
            try Directory.unlink(at: descriptor.raw, link)
            try Directory.link(at: descriptor.raw, link, to: file.linkText)
        }
    }

    /// Writes a session's file, which may be missing.
    ///
    /// A reader may find it empty, or half new and half old: until it decodes, the session counts as owning.
    package func write(_ file: SessionFile, mode: UInt32) throws(Errno) {
        let target: OwnedDescriptor
        do throws(TrustedFolder.Refusal) {
            target = try files.open(file.name, flags: O_RDWR)
        } catch {
            switch error {
            case .system(.noSuchFileOrDirectory): return try create(file, mode: mode)
            case .system(let error): throw error
            case .kind, .hardLink, .foreign: throw .fileExists
            }
        }
        try fill(target.raw, with: file)
    }

    /// Writes an enrolled process's file; enrolling twice is one enrolment.
    package func enrol(_ file: SessionFile, mode: UInt32) throws(Errno) {
        // One enrolment, from its first time on: commands enrol their caller again and again.
        if contains(file.name) { return }
        // Written under another name and renamed, so that nobody ever reads half of it.
        let draft = ".\(file.name)"
        // Under the door, so an old one is that of a killed process; or another user put it there.
        try remove(draft)
        let target = try OwnedDescriptor.openat(
            directory: descriptor.raw,
            draft,
            flags: O_RDWR | O_CREAT | O_EXCL,
            mode: mode
        )
        do throws(Errno) {
            try Directory.setMode(target.raw, mode)
            do throws(Errno) {
                try FileBytes.write(file.encoded(), to: target.raw)
            } catch  where error.isOfFullDisk {
                // Empty: the name says all.
            }
            try Directory.rename(from: descriptor.raw, draft, to: descriptor.raw, file.name)
        } catch {
            _ = try? Directory.unlink(at: descriptor.raw, draft)
            throw error
        }
    }

    /// Removes a file, and before it the link that may have its record.
    ///
    /// A process killed in between leaves a file without a lock, which counts as dead, and no link that is never removed.
    package func remove(_ name: String) throws(Errno) {
        if UInt64(name) != nil { try Directory.unlink(at: descriptor.raw, SessionFile.linkName(name)) }
        try Directory.unlink(at: descriptor.raw, name)
    }

    /// What a file stands for that is empty, as on a full disk, or damaged.
    private func recordBeside(_ name: String, _ file: CInt) throws(Errno) -> SessionFile? {
        if name.hasSuffix(SessionFile.enrolledSuffix) {
            return SessionFile(enrolledName: name, sinceMilliseconds: try FileInfo.modificationMilliseconds(of: file))
        }
        let text = try Directory.linkText(
            at: descriptor.raw,
            SessionFile.linkName(name),
            limit: SessionFile.linkTextSize
        )
        return text.flatMap { SessionFile(name: name, linkText: $0) }
    }

    package func contains(_ name: String) -> Bool { (try? Directory.info(at: descriptor.raw, name)) != nil }

    package func names() throws(Errno) -> [String] { try Directory.list(descriptor.raw) }

    /// Looks at one file: what it says, and whether its process lives.
    ///
    /// A session is alive when its lock is held and nothing shows its PID dead; an enrolled process when nothing shows its PID
    /// dead. So a forked child that inherited the descriptor keeps no dead owner alive, and exec, which drops the
    /// lock, ends a session.
    ///
    /// - Returns: `nil` when there is no such file. A session whose file does not decode counts as alive while its lock is held.
    package func look(at name: String) throws(Errno) -> Sighting? { try look(at: name, locks: try openLocks()) }

    /// `isForOwners`: Whether it does not matter if a session lives that owns nothing; it then counts as dead.
    private func look(
        at name: String,
        locks: borrowing OwnedDescriptor,
        isForOwners: Bool = false
    ) throws(Errno) -> Sighting? {
        let file: OwnedDescriptor
        do throws(TrustedFolder.Refusal) {
            file = try files.open(name, flags: O_RDONLY)
        } catch {
            switch error {
            case .system(.noSuchFileOrDirectory): return nil
            case .system(let error): throw error
            // A link, a FIFO, a folder, a file of another folder: no session. An enrolment says all in its name.
            case .kind, .hardLink, .foreign:
                let record = SessionFile(enrolledName: name, sinceMilliseconds: 0)
                return Sighting(name: name, record: record, isAlive: record?.process.life == .alive)
            }
        }
        let contents = try FileBytes.readPrefix(file.raw, count: SessionFile.size + 1)
        var isLocked = false
        if let number = UInt64(name) { isLocked = try ControlFile.isLocked(session: number, in: locks.raw) }
        var read = SessionFile(name: name, contents: contents)
        if read == nil { read = try recordBeside(name, file.raw) }
        guard let record = read else {
            return Sighting(name: name, record: nil, isAlive: isLocked, isLocked: isLocked)
        }
        if isForOwners, !record.isOwning {
            return Sighting(name: name, record: record, isAlive: false, isLocked: isLocked)
        }
        let mayLive = isLocked || record.kind == .enrolled
        return Sighting(
            name: name,
            record: record,
            isAlive: mayLive && record.process.life == .alive,
            isLocked: isLocked
        )
    }

    package struct Sighting: Sendable {
        package let name: String
        package let record: SessionFile?
        package let isAlive: Bool
        /// Whether the session's lock is held, be it by a child that a dead process has forked.
        package var isLocked = false

        var keepsAlive: Bool { isAlive && record?.isOwning ?? true }
        package var isEnrolled: Bool { record?.kind == .enrolled }
    }

    /// All of them.
    package func sightings() throws(Errno) -> [Sighting] {
        var all: [Sighting] = []
        let locks = try openLocks()
        for name in try names() where !name.hasPrefix(".") {
            if let sighting = try look(at: name, locks: locks) { all.append(sighting) }
        }
        return all
    }

    /// How many files an opener looks at for dead sessions.
    ///
    /// An opener that looked at all would make a crowd of n openers look n² times, one after the other under the door.
    private static let looksOfAnOpener = 16

    /// Removes the files of dead sessions, as far as an opener looks: `turn`, which each opener has its own of, says at which.
    ///
    /// Under the door.
    ///
    /// The file of a dead process whose lock a forked child still holds stays: it alone says that the session is dead.
    /// What is none of ours and can't be removed (a folder, say) owns nothing, and is in nobody's way.
    package func removeSomeDead(turn: UInt64) throws(Errno) {
        let names = try names().filter { !$0.hasPrefix(".") }
        guard !names.isEmpty else { return }
        let locks = try openLocks()
        let most = Self.looksOfAnOpener
        let start = names.count > most ? Int((turn &* UInt64(most)) % UInt64(names.count)) : 0
        for offset in 0..<min(most, names.count) {
            let name = names[(start + offset) % names.count]
            guard let sighting = try look(at: name, locks: locks) else { continue }
            if !sighting.isAlive, !sighting.isLocked { try? remove(name) }
        }
    }

    /// Whether a living owner is there; looks no further than the first.
    ///
    /// Enrolled processes first: in a crowd of commands one of them owns the namespace, and the sessions do not.
    package func hasLivingOwner() throws(Errno) -> Bool {
        let locks = try openLocks()
        let names = try names().filter { !$0.hasPrefix(".") }
        for wantsEnrolled in [true, false] {
            for name in names where name.hasSuffix(SessionFile.enrolledSuffix) == wantsEnrolled {
                guard let sighting = try look(at: name, locks: locks, isForOwners: true) else { continue }
                if sighting.keepsAlive { return true }
            }
        }
        return try hasUnfiledSession(locks)
    }

    /// Whether a session's lock is held whose file has gone: it lives, and whether it owns is not known before it has written
    /// a new one, so it does.
    private func hasUnfiledSession(_ locks: borrowing OwnedDescriptor) throws(Errno) -> Bool {
        for number in try ControlFile.lockedSessions(in: locks.raw) where !contains(String(number)) { return true }
        return false
    }
}
