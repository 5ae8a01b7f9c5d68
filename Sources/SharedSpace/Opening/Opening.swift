import Glibc
import LMDB
import SpaceSystem
import Synchronization
import SystemPackage

/// Opening and creating namespaces.
///
/// Guarantees, against any number of openers, leavers and reapers, killed or stopped at any step: an opener that returns has
/// enrolled before any reaper can have found the namespace without owners, or has made a namespace of its own. Order:
/// header (before any lock) → door → the path still leads here → not dead, and somebody owns it → session → LMDB → gate
/// for the first reader. `mdb_env_open` runs under the door, because it waits without bound behind an opener that is
/// stopped in LMDB's exclusive phase; behind the door that is an error which names the PID.
struct Opening {
    let root: SpaceRoot
    let name: NamespaceName
    let options: NamespaceOptions
    /// Who owns it from the first moment on.
    let owner: OwnerRequest
    let creates: Bool
    let timeout: Duration

    static let operation = "open the namespace"

    /// What an attempt comes to.
    enum Outcome {
        case opened(CoreRegistry.Entry, NamespaceCore)
        /// The namespace changed under us: look again.
        case again
    }

    func run() throws(SpaceError) -> (CoreRegistry.Entry, NamespaceCore) {
        let host = try HostIdentity.current()
        // Each turn is caused by another process's progress; a thousand in a row is a fault, not a race.
        for _ in 0..<1000 {
            guard let rootFolder = try root.open(create: creates, for: Self.operation) else { throw notFound }
            let outcome: Outcome
            if let folder = try NamespaceFolder.open(name, in: rootFolder, of: root, for: Self.operation) {
                outcome = try join(folder, rootFolder, host)
            } else {
                guard creates else { throw notFound }
                outcome = try create(in: rootFolder, host)
            }
            if case .opened(let entry, let core) = outcome { return (entry, core) }
        }
        throw SpaceError(
            .holderBusy,
            Self.operation,
            namespace: name.text,
            reason: "it was deleted and made anew a thousand times meanwhile",
            advice: "look who does that"
        )
    }

    private var notFound: SpaceError {
        SpaceError(
            .namespaceNotFound,
            Self.operation,
            namespace: name.text,
            reason: "there is no such namespace in \(root.path.quotedForPeople)",
            advice: "write to it first, or look at the others with: space list"
        )
    }

    // MARK: Joining one that exists

    private func join(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ host: HostIdentity
    ) throws(SpaceError) -> Outcome {
        do throws(SpaceError) {
            return try join(
                folder,
                rootFolder,
                host,
                try ControlFinding.look(at: folder, host: host, for: Self.operation)
            )
        } catch  where error.code == .damaged || error.code == .inputOutput {
            // Between our two looks it may have been reaped: then what was found is a corpse, not damage.
            if !folder.isInPlace(in: rootFolder) { return .again }
            throw error
        } catch {
            throw error
        }
    }

    private func join(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ host: HostIdentity,
        _ finding: borrowing ControlFinding
    ) throws(SpaceError) -> Outcome {
        if finding.standing == .stale {
            try Adoption(root: root, folderName: name, timeout: timeout, host: host).run(folder, rootFolder, finding)
            return .again
        }
        let entry = CoreRegistry.shared.entry(folder.id)
        return try entry.state.withLock { (state) throws(SpaceError) in
            // The inode of a folder can come again; that of a file that is held open or mapped can't.
            if let core = state.core, core.control.dead.load() == 0, core.control.identity.inode == finding.info.inode {
                try ControlFinding.check(finding.header, suits: options, name.text, Self.operation)
                // Under the door, or a reaper could have found this process's session not owning and be at work.
                guard try core.join(owner) else { return .again }
                state.handles += 1
                if owner.isOwningSession { state.owningHandles += 1 }
                return .opened(entry, core)
            }
            let old = try state.environment.flatMap { (old) throws(SpaceError) in
                try isData(of: folder, old) ? old : nil
            }
            guard let core = try enter(folder, rootFolder, finding, reusing: old, state.tables) else { return .again }
            state = CoreRegistry.Entry.State(
                core: core,
                owningHandles: owner.isOwningSession ? 1 : 0,
                handles: 1,
                environment: core.environment,
                tables: core.tables
            )
            return .opened(entry, core)
        }
    }

    private func enter(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ finding: borrowing ControlFinding,
        reusing environment: Environment?,
        _ tables: Tables?
    ) throws(SpaceError) -> NamespaceCore? {
        let control = try map(finding)
        _ = try acquireDoor(control)
        CrashPoint.reach(.doorTaken)
        var isDoorOpen = true
        defer { if isDoorOpen { control.door.release() } }
        guard folder.isInPlace(in: rootFolder) else { return nil }
        let sessions = try folder.sessions(Self.operation)
        let hasLivingOwner = try system(Self.operation, "its sessions", namespace: name.text) { () throws(Errno) in
            try sessions.hasLivingOwner()
        }
        let hasOwner = control.persistent.load() != 0 || hasLivingOwner
        if control.dead.load() != 0 || !hasOwner {
            let corpse = try Reaping.bury(folder, control, in: rootFolder, of: root, timeout: timeout)
            control.door.release()
            isDoorOpen = false
            corpse.delete()
            return nil
        }
        // Only now: one that nobody owns any more is no obstacle.
        try ControlFinding.check(finding.header, suits: options, name.text, Self.operation)
        try system(Self.operation, "its sessions", namespace: name.text) { () throws(Errno) in
            try sessions.removeDead()
        }
        let session = try owner.makeSession(in: sessions, control, mode: folder.fileMode, name.text)
        CrashPoint.reach(.joined)
        do throws(SpaceError) {
            return try start(folder, control, session, reusing: environment, tables)
        } catch {
            try? sessions.remove(session.name)
            throw error
        }
    }

    /// Whether an environment is the one in a folder.
    private func isData(of folder: borrowing NamespaceFolder, _ environment: Environment) throws(SpaceError) -> Bool {
        let directory = folder.descriptor.raw
        return try system(Self.operation, "the data file", namespace: name.text) { () throws(Errno) in
            let (open, named) = (
                try FileInfo.of(environment.descriptor), try Directory.info(at: directory, NamespaceFolder.data)
            )
            return open.inode == named.inode && open.device == named.device
        }
    }

    private func map(_ finding: borrowing ControlFinding) throws(SpaceError) -> ControlFile {
        let (descriptor, header, info) = (finding.descriptor.raw, finding.header, finding.info)
        return try system(Self.operation, "the control file", namespace: name.text) { () throws(Errno) in
            try ControlFile(descriptor: descriptor, header: header, identity: info)
        }
    }

    private func acquireDoor(_ control: ControlFile) throws(SpaceError) -> Bool {
        do throws(ProcessLock.Failure) {
            // What an owner of the door killed at any step left is what every holder looks at anyway.
            return try control.door.acquire(timeout: timeout)
        } catch {
            throw SpaceError(error, Self.operation, namespace: name.text)
        }
    }

    /// Opens LMDB and takes the first reader, under the door.
    private func start(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ session: Session,
        reusing old: Environment?,
        _ oldTables: Tables?
    ) throws(SpaceError) -> NamespaceCore {
        let environment: Environment
        if let old { environment = old } else { environment = try DataFile.open(folder, control.header) }
        CrashPoint.reach(.dataOpened)
        let isAbandoned: Bool
        do throws(ProcessLock.Failure) {
            isAbandoned = try control.gate.acquire(timeout: timeout)
        } catch {
            throw SpaceError(error, Self.operation, namespace: name.text)
        }
        if isAbandoned { control.gateNeedsRecovery.store(1) }
        let core: NamespaceCore
        do throws(LMDBError) {
            defer { control.gate.release() }
            // The slots of readers that were killed; nobody else may look for them soon.
            try environment.forgetDeadReaders()
            let tables: Tables
            if let oldTables, old != nil {
                tables = oldTables
            } else {
                let transaction = try environment.beginRead()
                tables = try Tables(transaction.access, create: false)
                try transaction.commit()
            }
            let reader = Reader(try environment.beginRead(), namespace: name.text)
            core = NamespaceCore(
                name: name,
                root: root,
                folder: folder.info,
                control: control,
                environment: environment,
                tables: tables,
                session: session,
                idle: reader.transaction.access,
                timeout: timeout
            )
            reader.transaction.reset()
            core.readers.put(reader)
            CrashPoint.reach(.firstReader)
        } catch .notFound {
            throw .damaged(Self.operation, namespace: name.text, "the data file lacks a table")
        } catch {
            throw SpaceError(error, Self.operation, namespace: name.text)
        }
        if control.gateNeedsRecovery.load() != 0 { core.lookForAbandonedGate() }
        if control.isAdopted.load() != 0 {
            // Under the door, and nobody can have claimed anything since: the first opener after a reboot. No holder lives
            // whose number stands in a claim, and numbers begin anew.
            try core.returnClaims { _ in true }
            core.dropAllWatchers()
            control.isAdopted.store(0)
        }
        core.returnClaimsOfTheDead(timeout: min(timeout, .milliseconds(200)))
        core.dropWatchersOfTheDead(timeout: NamespaceCore.upkeepPatience)
        return core
    }

    // MARK: Creating

    private func create(in rootFolder: borrowing OwnedDescriptor, _ host: HostIdentity) throws(SpaceError) -> Outcome {
        try owner.checkMayCreate(persistent: options.isPersistent, name.text)
        guard let (entry, core) = try Creation(opening: self, host: host).run(in: rootFolder) else { return .again }
        return .opened(entry, core)
    }
}
