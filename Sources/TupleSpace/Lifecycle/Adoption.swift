import Glibc
import SpaceSystem
import SystemPackage

/// The adoption of a namespace whose header names another boot, PID or time namespace, C library or file than ours.
///
/// Such a namespace is from before a reboot, from a container that has ended, on a disk that was mounted again, or a
/// copy. Or it is in use, and an identifier is misleading: containers replace the boot id, and a file can have
/// several device numbers.
///
/// Guarantees: if any process uses the namespace, it is refused and nothing changes. If no process uses it, it is made
/// current, or discarded if it is neither persistent nor owned by a living process. If there are several openers, one
/// of them does this, and the others wait for it with a time-out. After a kill at any step, the next opener continues.
///
/// The kernel's locks decide: a lock ends with its process and with a reboot, and each process that uses a namespace,
/// or is about to, holds a lock on `control` (see `ControlFile`). A mutex in the file could not be used, because its
/// holder may be a thread that no longer exists.
///
/// The order: an exclusive lock on the whole file → the header is still the one found → LMDB's lock file is free → the
/// header is made foreign to all systems, so that after a kill no process trusts the half-made rest → the sessions and
/// LMDB's lock file are removed, and all volatile parts are initialised again → the new header.
struct Adoption {
    let root: SpaceRoot
    let timeout: Duration
    let host: HostIdentity

    /// A boot id that no system has.
    private static let noBoot = [UInt8](repeating: 0, count: 16)

    func run(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ finding: borrowing ControlFinding,
        _ difference: ControlFinding.Difference
    ) throws(SpaceError) {
        try SpaceError.naming(Opening.operation, on: folder.name.text) { () throws(SpaceError) in
            try obtainAndAdopt(folder, rootFolder, finding, difference)
        }
    }

    private func obtainAndAdopt(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ finding: borrowing ControlFinding,
        _ difference: ControlFinding.Difference
    ) throws(SpaceError) {
        let name = folder.name.text
        let control = finding.descriptor.raw
        guard try obtainRight(finding, difference, name) else { return }
        // The lock ends with the descriptor at the latest, when the owner of `finding` closes it.
        defer { try? FileLock.unlock(control) }
        guard folder.isInPlace(in: rootFolder), try Self.isUnchanged(finding, name) else { return }
        guard try !isOpenInLMDB(folder) else { throw refusal(finding, difference, name) }
        let marks = try system("the control file") { () throws(Errno) in
            try ControlFile.announceReinitialiser(pid: getpid(), in: control)
            return try ControlFile.flags(in: control)
        }
        let enrolments = try Enrolments(of: folder, finding.header, host)
        // A persistent namespace is never discarded, whatever its mode.
        if marks.isDead || !marks.stays && enrolments.living.isEmpty {
            guard marks.isDead || enrolments.unknown.isEmpty else { throw unknownOwners(enrolments, name) }
            let removed = try Reaping.rename(folder, in: rootFolder, of: root)
            removed.delete()
            return
        }
        try adopt(folder, control, finding.header, finding.info, keeping: enrolments)
    }

    // MARK: Asking the locks

    /// Locks the whole file.
    ///
    /// - Returns: `false` if another process has made the namespace usable in the meantime.
    /// - Throws: `incompatible` when a process uses it.
    private func obtainRight(
        _ finding: borrowing ControlFinding,
        _ difference: ControlFinding.Difference,
        _ name: String
    ) throws(SpaceError) -> Bool {
        let control = finding.descriptor.raw
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        while true {
            let (hasRight, isAdopted, isUsed) = try system("the control file") {
                () throws(Errno) in
                if try FileLock.tryExclusive(control) { return (true, false, false) }
                return (
                    false, try FileLock.isHeldExclusivelyByAnother(control, byte: ControlFile.useByte),
                    try FileLock.isHeldByAnother(control)
                )
            }
            if hasRight { return true }
            if !isAdopted {
                // Checked in this order, because an adopter writes the new header before its processes take their
                // locks.
                guard try Self.isUnchanged(finding, name) else { return false }
                if isUsed { throw refusal(finding, difference, name) }
            }
            guard !deadline.hasPassed else { throw ControlFinding.adopterError(control) }
            // This polling is rare and bounded: a file lock has no time-out, and a mutex does not survive a reboot.
            usleep(10_000)
        }
    }

    private static func isUnchanged(_ finding: borrowing ControlFinding, _ name: String) throws(SpaceError) -> Bool {
        try ControlFinding.header(in: finding.descriptor.raw).0 == finding.header
    }

    private func refusal(
        _ finding: borrowing ControlFinding,
        _ difference: ControlFinding.Difference,
        _ name: String
    ) -> SpaceError {
        let (reason, advice) = difference.explained(finding.header, host)
        return .incompatible(reason, advice: advice)
    }

    /// Whether a process, such as one of LMDB's own tools, has the data file open in LMDB but not the namespace.
    ///
    /// fcntl(2): closing any descriptor of a file drops all POSIX locks that the process has on it. So the file is
    /// not opened if this process has its environment open; the answer is then yes.
    private func isOpenInLMDB(_ folder: borrowing NamespaceFolder) throws(SpaceError) -> Bool {
        let directory = folder.descriptor.raw
        guard let info = try? Directory.info(at: directory, NamespaceFolder.lock) else { return false }
        let isHeld = try OpenEnvironment.unlessOpen(info) { () throws(SpaceError) in
            try system("LMDB's lock file") { () throws(Errno) in
                do throws(Errno) {
                    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
                    let file = try OwnedDescriptor.openat(directory: directory, NamespaceFolder.lock, flags: flags)
                    return try FileLock.isHeldByAnother(file.raw)
                } catch .noSuchFileOrDirectory {
                    return false
                }
            }
        }
        return isHeld ?? true
    }

    private func unknownOwners(_ enrolments: Enrolments, _ name: String) -> SpaceError {
        let pids = enrolments.unknown.map { "\($0)" }.joined(separator: ", ")
        return .incompatible(
            "it is owned by process \(pids) of another PID or time namespace, and whether that lives can't be seen from here",
            advice: "use it in that namespace; if its owners have ended: space delete \(name)"
        )
    }

    // MARK: Making it current

    private func adopt(
        _ folder: borrowing NamespaceFolder,
        _ control: CInt,
        _ old: ControlHeader,
        _ info: FileInfo,
        keeping enrolments: Enrolments
    ) throws(SpaceError) {
        let directory = folder.descriptor.raw
        let mode = folder.fileMode
        let host = host
        let sessions = try folder.sessions(makingAnew: true)
        try folder.reserving("making it usable here") { () throws(Errno) in
            var header = old
            header.bootID = Self.noBoot
            try FileBytes.write(header.encoded(), to: control)
            for name in try sessions.names() where !enrolments.living.contains(name) { try? sessions.remove(name) }
            _ = try Directory.unlink(at: directory, NamespaceFolder.lock)
            let lock = try OwnedDescriptor.openat(
                directory: directory,
                NamespaceFolder.lock,
                flags: O_RDWR | O_CREAT | O_EXCL,
                mode: mode
            )
            try Directory.setMode(lock.raw, mode)
            try Blocks.reserve(lock.raw, from: 0, to: DataFile.lockFileSize, keepSize: false)
            try ControlFile.reserve(control)
            // Within a boot the clock continues, even if the machine's clock was set.
            if !old.countsTime(as: host) { header.setClock() }
            header.bootID = host.bootID
            header.pidNamespace = host.pidNamespace
            header.timeNamespace = host.timeNamespace
            header.mutexABI = SharedMutex.abi
            header.device = info.device
            header.inode = info.inode
            let file = try ControlFile(descriptor: control, header: header, identity: info)
            try file.reserveSegments()
            try file.initialiseVolatilePart()
            file.isAdopted.store(enrolments.isOurs ? ControlFile.adoptedHere : ControlFile.adoptedElsewhere)
            // The header comes last: after a kill before it, the namespace is still foreign, and the next opener
            // starts again.
            try FileBytes.write(header.encoded(), to: control)
            try Directory.sync(control)
        }
    }
}

/// The processes that are enrolled in a namespace with a foreign header.
///
/// They hold no lock. A process that was enrolled in our PID and time namespace is looked up. Among the others, a
/// process from before the boot is dead; whether any other process lives is unknown.
private struct Enrolments {
    /// The names of the files of living processes.
    var living: Set<String> = []
    /// The PIDs, in their own namespace, of processes that may or may not be alive.
    var unknown: [Int32] = []
    /// Whether the namespace belongs to our boot, PID namespace and time namespace, so that the PIDs in its rows are
    /// valid here.
    let isOurs: Bool

    init(of folder: borrowing NamespaceFolder, _ header: ControlHeader, _ host: HostIdentity) throws(SpaceError) {
        // The folder of the sessions may be gone.
        let sightings = try folder.sessions(makingAnew: true).allSightings()
        let kind = try? FileSystemKind.of(folder.descriptor.raw)
        // The contents of a memory file system belong to this boot. On a disk the time of the enrolment decides,
        // because a different boot id may only be a container's.
        let isOfThisBoot = header.bootID == host.bootID || kind == .tmpfs
        // In a time namespace of its own, the time since the boot is shifted: then no enrolment can be shown to
        // precede it.
        let boot =
            SystemIdentity.isFirstTimeNamespace
            ? NamespaceClock.realtimeAtBoot : Int64.min
        let isSeen = header.pidNamespace == host.pidNamespace && header.timeNamespace == host.timeNamespace
        isOurs = isOfThisBoot && isSeen
        for sighting in sightings {
            guard let record = sighting.record, record.kind == .enrolled else { continue }
            let mayBeOfThisBoot = isOfThisBoot || record.sinceMilliseconds >= boot
            if !isSeen {
                if mayBeOfThisBoot { unknown.append(record.process.pid) }
            } else if sighting.isAlive, mayBeOfThisBoot || record.process.pid != 1 {
                // An earlier time alone proves nothing: the clock may have been behind when the process enrolled.
                // Two boots hardly ever give two processes the same PID and start time, except for PID 1.
                living.insert(sighting.name)
            }
        }
    }
}
