import Glibc
import SpaceSystem
import SystemPackage

/// A look at everything in a namespace from outside: without a session, without reaping, and, if necessary, without
/// locks.
///
/// Guarantees: it works in whatever state the namespace's processes are, and holds no lock while its result is printed.
/// The rows are read while the caller walks through them, so memory is bounded whatever the namespace holds. Until
/// ``close()``, the snapshot keeps writers from using freed pages again, so the caller must not wait for other
/// processes. If the door and the gate are acquired within the time-out, the snapshot is one commit. If not (a holder
/// is stopped, or the locks are from before a reboot), LMDB is opened without locks, and `isLockFree` says so; then
/// changes that writers make during the inspection may be half visible. The inspection needs a process of its own: a
/// process may have LMDB open only once.
package final class Inspection {
    package let status: NamespaceStatus
    /// Why the locks could not be acquired; `nil` if they were.
    package let isLockFree: String?
    /// The findings of `IntegrityCheck`, and the damage that the control file shows.
    package let damage: [String]
    private let clock: NamespaceClock
    /// The processes of the sessions.
    let pids: [UInt64: Int32]
    /// The processes of the sessions that live, for naming the holders of claims.
    private let livingPIDs: [UInt64: Int32]
    private let control: ControlFile
    /// The data; `nil` once the inspection is closed.
    private var data: ReadOnlyData?

    /// The time at which a tuple expires, in milliseconds since 1970; `nil` if it never expires.
    package func expiry(of match: Match) -> Int64? { match.expiry == 0 ? nil : clock.realtime(match.expiry) }

    /// The process with which a tuple ends, 0 if it is not known; `nil` if the tuple ends with none.
    package func holder(of match: Match) -> Int32? { match.end.holder?.pid(pids) }

    /// The namespace to look at.
    package enum Subject: Sendable {
        case name(String, root: String?)
        /// The folder of a namespace, in any place.
        case path(String)
    }

    package static let operation = "inspect the namespace"

    /// Opens the namespace's data, and reads its status.
    ///
    /// The status has the claims and what is buried only if `listsClaims` says so; ``forEachClaim(buried:_:)`` walks
    /// through them.
    package convenience init(
        _ subject: Subject,
        checking: Bool,
        listsClaims: Bool = true,
        timeout: Duration = .seconds(1)
    ) throws(SpaceError) {
        let folder = try Self.folder(subject, for: Self.operation)
        try self.init(whole: folder, checking: checking, listsClaims: listsClaims, timeout: timeout)
    }

    /// Looks at a folder that may be deleted during the look.
    convenience init(
        whole folder: borrowing NamespaceFolder,
        checking: Bool,
        listsClaims: Bool,
        timeout: Duration
    ) throws(SpaceError) {
        do throws(SpaceError) {
            try self.init(folder, checking: checking, listsClaims: listsClaims, timeout: timeout)
            if !damage.isEmpty { try folder.checkInPlace() }
        } catch {
            throw folder.named(error, Self.operation)
        }
    }

    /// Opens the folder of the namespace to look at.
    static func folder(_ subject: Subject, for operation: String) throws(SpaceError) -> NamespaceFolder {
        let (root, name) = try SpaceError.naming(operation, on: nil) { () throws(SpaceError) in try locate(subject) }
        return try SpaceError.naming(operation, on: name.text) { () throws(SpaceError) in
            guard let rootFolder = try root.open(create: false),
                let folder = try NamespaceFolder.open(name, in: rootFolder, of: root)
            else { throw .noNamespace(in: root.path, advice: "look at the others with: space list") }
            return folder
        }
    }

    /// The names of the namespaces in a root, without reaping any.
    package static func names(root path: String?) throws(SpaceError) -> [String] {
        let root = SpaceRoot(path: path)
        return try SpaceError.naming(operation, on: nil) { () throws(SpaceError) in
            try root.check(mustExist: true)
            guard let folder = try root.open(create: false) else { return [] }
            let entries = try system(root.path.quotedForPeople) { () throws(Errno) in try Directory.list(folder.raw) }
            var names: [String] = []
            for entry in entries {
                guard let name = NamespaceName(folder: entry), NamespaceFolder.isNamespace(entry, in: folder) ?? false
                else { continue }
                names.append(name.text)
            }
            return names.sortedByBytes()
        }
    }

    private static func locate(_ subject: Subject) throws(SpaceError) -> (SpaceRoot, NamespaceName) {
        switch subject {
        case .name(let name, let root):
            return (SpaceRoot(path: root), try NamespaceName(name))
        case .path(let path):
            let path = FilePath(path).lexicallyNormalized()
            guard let last = path.lastComponent?.string else {
                throw SpaceError(.invalidName, reason: "\(path.string.quotedForPeople) names no folder")
            }
            let parent = path.removingLastComponent().string
            guard let name = NamespaceName(folder: last) else {
                throw SpaceError(
                    .invalidName,
                    reason: "\(last.quotedForPeople) is no namespace's folder name",
                    advice: "name the folder that holds data.mdb"
                )
            }
            return (SpaceRoot(path: parent.isEmpty ? "." : parent), name)
        }
    }

    private init(
        _ folder: borrowing NamespaceFolder,
        checking: Bool,
        listsClaims: Bool,
        timeout: Duration
    ) throws(SpaceError) {
        let host = try HostIdentity.current()
        let name = folder.name.text
        var lockFree: String?
        // On a read-only file system no process holds a lock, and this process writes locks and words only in a private
        // copy.
        let isReadOnly = Directory.isReadOnly(folder.descriptor.raw)
        let finding = try ControlFinding.look(
            at: folder,
            host: host,
            flags: isReadOnly ? O_RDONLY : O_RDWR
        )
        if isReadOnly {
            lockFree = "it lies on a read-only file system"
        } else if finding.standing != .current {
            lockFree = "its locks are another system's or from before a reboot, or it is a copy"
        } else {
            do throws(SpaceError) {
                let isUsable = try finding.enter(timeout: timeout)
                if !isUsable { lockFree = "another process is making it usable" }
            } catch {
                lockFree = error.reason
            }
        }
        let control = try finding.map(isPrivate: isReadOnly)
        let view = try View(folder, control, isReadOnly: isReadOnly, lockFree: lockFree, timeout: timeout)
        let sightings = try folder.sightings()
        let clock = NamespaceClock(control.header, seenFrom: host)
        let bytes = view.data.bytesInUse
        let snapshot = view.data.snapshot(clock)
        var damage: [String] = []
        if checking {
            var check = IntegrityCheck(snapshot)
            try check.run()
            damage = check.damage
            if let life = try snapshot.mainLife.getValid(.life)?.life, life != control.header.life {
                damage.append("the data file is of the life \(life), and the control file of \(control.header.life)")
            }
            // After an adoption, the first process that opens the namespace finds out how much is reserved. The word
            // may also be older than the file, for example after a full disk under a journaling file system; then the
            // next writer reserves again.
            if view.lockFree == nil, control.isAdopted.load() == 0, bytes > Int(clamping: control.reserved.load()),
                !Self.hasBlocks(view.data.descriptor, bytes, control.header.mode)
            {
                damage.append("the data file uses \(bytes) bytes, and only \(control.reserved.load()) are reserved")
            }
            for sighting in sightings where sighting.record == nil {
                damage.append("the session file \(sighting.name.quotedForPeople) does not decode")
            }
        }
        var latency: NamespaceStatus.Latency?
        do throws(SpaceError) {
            latency = try NamespaceStatus.Latency(in: folder, control)
        } catch {
            damage.append(error.reason)
        }
        status = try NamespaceStatus(
            name: name,
            control: control,
            sightings: sightings,
            snapshot: snapshot,
            bytes: bytes,
            diskBytes: folder.diskBytes,
            latency: latency,
            listsClaims: listsClaims
        )
        livingPIDs = sightings.livingPIDs
        pids = Dictionary(
            sightings.compactMap { sighting in
                guard let number = UInt64(sighting.name), let record = sighting.record else { return nil }
                return (number, record.process.pid)
            },
            uniquingKeysWith: { first, _ in first }
        )
        isLockFree = view.lockFree
        self.damage = damage
        self.clock = clock
        self.control = control
        // A damaged namespace is reported and not dumped: rows that don't decode would end the dump halfway.
        data = checking ? nil : view.data
    }

    /// Ends the snapshot: nothing more is read.
    package func close() { data = nil }

    /// The snapshot, or `nil` once the inspection is closed, or if it is a check.
    var snapshot: Snapshot? { data?.snapshot(clock) }

    /// The holders of claims as the status tells them.
    func holders(_ snapshot: Snapshot) throws(SpaceError) -> Holders {
        Holders(try snapshot.counters().followsLog ? [:] : livingPIDs, control, snapshot)
    }

    /// Whether a data file is long enough; a file that is mapped writable has its full length at once, so its blocks
    /// count.
    private static func hasBlocks(_ descriptor: CInt, _ bytes: Int, _ mode: StorageMode) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size >= bytes else { return false }
        return mode != .fast || status.st_blocks * 512 >= bytes
    }

    /// The data, read with locks if they can be acquired.
    private struct View {
        let data: ReadOnlyData
        let lockFree: String?

        init(
            _ folder: borrowing NamespaceFolder,
            _ control: ControlFile,
            isReadOnly: Bool,
            lockFree: String?,
            timeout: Duration
        ) throws(SpaceError) {
            self.lockFree = lockFree ?? Self.lock(control, timeout)
            guard self.lockFree == nil else {
                data = try ReadOnlyData(
                    folder,
                    control,
                    takesLocks: false,
                    isReadOnly: isReadOnly,
                    nil
                )
                return
            }
            defer {
                control.gate.release()
                control.door.release()
            }
            try control.checkLockFile(folder)
            data = try ReadOnlyData(folder, control, takesLocks: true, timeout)
        }

        /// Acquires the door and the gate.
        ///
        /// - Returns: Why they could not be acquired; then neither is held. `nil` if both are held.
        private static func lock(_ control: ControlFile, _ timeout: Duration) -> String? {
            do throws(ProcessLock.Failure) {
                // The inspection enrols no process, so it need not look at what a killed holder of the door left.
                _ = try control.enterDoor { () throws(ProcessLock.Failure) in
                    try control.door.acquire(timeout: timeout)
                }
                do throws(ProcessLock.Failure) {
                    if try control.gate.acquire(timeout: timeout) { control.gateNeedsRecovery.store(1) }
                } catch {
                    control.door.release()
                    throw error
                }
                return nil
            } catch {
                return SpaceError(error).reason
            }
        }
    }
}
