import Glibc
package import SpaceSystem
package import SystemPackage

/// A namespace's folder of sessions, opened for one operation.
package struct SessionFolder: ~Copyable {
    package static let name = "sessions"

    private let descriptor: OwnedDescriptor
    private let files: TrustedFolder

    /// Opens the folder; `namespace` is the namespace's folder.
    package init(in namespace: borrowing OwnedDescriptor) throws(Errno) {
        let opened = try OwnedDescriptor.directory(at: namespace.raw, Self.name)
        files = TrustedFolder(opened.raw, try FileInfo.of(opened.raw))
        descriptor = opened
    }

    /// Opens the control file to ask for its locks.
    ///
    /// It is an open file of its own, so the locks of this process's sessions show as held too.
    private func openLocks() throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor.openat(
            directory: descriptor.raw,
            "../\(NamespaceFolder.control)",
            flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        )
    }

    /// Makes the file of a new session, whose lock the caller holds.
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

    /// Writes a session's record into its file, or into a link beside it if there is no block for it.
    private func fill(_ target: CInt, with file: SessionFile) throws(Errno) {
        do throws(Errno) {
            try FileBytes.write(file.encoded(), to: target)
        } catch  where error.isOfFullDisk {
            let link = SessionFile.linkName(file.name)
            // The link may still exist from an earlier session with this number.
            try Directory.unlink(at: descriptor.raw, link)
            try Directory.link(at: descriptor.raw, link, to: file.linkText)
        }
    }

    /// Writes a session's file, which may be missing.
    ///
    /// A reader may find the file empty, or half new and half old. Until it decodes, the session counts as owning.
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

    /// Writes an enrolled process's file; if the process is already enrolled, nothing changes.
    package func enrol(_ file: SessionFile, mode: UInt32) throws(Errno) {
        // The first enrolment stays as it is: commands enrol their caller again and again.
        if contains(file.name) { return }
        // The file is written under another name and then renamed, so that no process ever reads half of it.
        let draft = ".\(file.name)"
        // The caller holds the door, so an existing draft is a killed process's, or another user put it there.
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
                // The file stays empty: its name says everything.
            }
            try Directory.rename(from: descriptor.raw, draft, to: descriptor.raw, file.name)
        } catch {
            _ = try? Directory.unlink(at: descriptor.raw, draft)
            throw error
        }
    }

    /// Removes a file, and before it the link that may hold its record.
    ///
    /// A process killed between the two steps leaves a file without a lock, which counts as dead. It never leaves a
    /// link without its file, which would never be removed.
    package func remove(_ name: String) throws(Errno) {
        if UInt64(name) != nil { try Directory.unlink(at: descriptor.raw, SessionFile.linkName(name)) }
        try Directory.unlink(at: descriptor.raw, name)
    }

    /// Reads the record of a file that is empty, as on a full disk, or damaged.
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

    /// Looks at one file: what it says, and whether its process is alive.
    ///
    /// A session is alive if its lock is held and nothing shows that its PID is dead. An enrolled process is alive if
    /// nothing shows that its PID is dead. So a forked child that inherited the descriptor keeps no dead owner alive,
    /// and exec, which drops the lock, ends a session.
    ///
    /// - Returns: `nil` if there is no such file. A session whose file does not decode counts as alive while its lock
    ///   is held.
    package func look(at name: String) throws(Errno) -> Sighting? { try look(at: name, locks: try openLocks()) }

    /// Looks at one file; if `isForOwners` is true, a session that owns nothing counts as dead without a further look.
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
            // A link, a FIFO, a folder, or a file of another folder is no session. An enrolment's name says everything.
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
        /// Whether the session's lock is held, if only by a forked child of a dead process.
        package var isLocked = false

        var keepsAlive: Bool { isAlive && record?.isOwning ?? true }
        package var isEnrolled: Bool { record?.kind == .enrolled }
    }

    /// Looks at all files of the folder.
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
    /// If each of n openers looked at all n files, there would be n² looks, one after the other under the door.
    private static let looksOfAnOpener = 16

    /// Removes the files of some dead sessions; called under the door.
    ///
    /// An opener looks at a few files only; `turn`, which differs between openers, selects them. If a forked child
    /// still holds the lock of a dead process's session, the session's file stays, because only the file shows that the
    /// session is dead. A foreign entry that can't be removed, such as a folder, owns nothing and does no harm.
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

    /// Whether a living owner exists; the search ends at the first one.
    ///
    /// Enrolled processes come first: if many commands use the namespace, one of their enrolled callers owns it, and
    /// the sessions do not.
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

    /// Whether a session's lock is held although its file has gone.
    ///
    /// Such a session is alive. Until the session has written a new file, it is not known whether it owns the
    /// namespace, so it counts as an owner.
    private func hasUnfiledSession(_ locks: borrowing OwnedDescriptor) throws(Errno) -> Bool {
        for number in try ControlFile.lockedSessions(in: locks.raw) where !contains(String(number)) { return true }
        return false
    }
}
