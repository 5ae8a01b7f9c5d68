import Glibc
import SpaceMachines
import SpaceSystem
import SystemPackage

/// Opens and creates namespaces.
///
/// Guarantees, against any number of openers, leavers and reapers that are killed or stopped at any step: when an
/// opener returns, it has enrolled before any reaper could find the namespace without owners, or it has made a
/// namespace of its own.
///
/// Order: header (before any lock) → door → the path still leads here → not dead, and owned → session → LMDB → gate
/// for the first reader. `mdb_env_open` runs under the door, because it waits without bound for an opener that is
/// stopped in LMDB's exclusive phase. A process that waits for the door gets an error that names that opener's PID.
package struct Opening {
    package let root: SpaceRoot
    package let name: NamespaceName
    package let options: NamespaceOptions
    /// The owner from the first moment on.
    package let owner: OwnerRequest
    package let creates: Bool
    package let timeout: Duration
    /// The features that keep state for the namespace.
    package let parts: [any NamespacePart.Type]
    /// What a new namespace has from the start; with it, a namespace that exists is refused.
    var contents: InitialContents?

    package static let operation = OpenEnvironment.operation
    fileprivate static let takenReason = "there is a namespace of this name already"

    /// The result of an attempt.
    package enum Outcome {
        case opened(CoreRegistry.Entry, NamespaceCore, isNew: Bool = false)
        /// The namespace changed during the attempt: try again.
        case again
    }

    package func run() throws(SpaceError) -> (CoreRegistry.Entry, NamespaceCore, isNew: Bool) {
        try LibraryUse.begin()
        let host = try HostIdentity.current()
        // Each turn is caused by another process's progress; a thousand in a row are a fault, not a race.
        for _ in 0..<1000 {
            // A daemon has its root; if that is gone, it ends.
            let makesRoot = creates && contents?.isReplica != true
            guard let rootFolder = try root.open(create: makesRoot) else { throw root.missing }
            let outcome: Outcome
            if let folder = try NamespaceFolder.open(name, in: rootFolder, of: root) {
                guard contents == nil else { throw taken }
                outcome = try join(folder, rootFolder, host)
            } else {
                guard creates else { throw notFound }
                if contents?.isReplica != true, try waitForReplica(in: rootFolder) { continue }
                outcome = try create(in: rootFolder, host)
            }
            if case .opened(let entry, let core, let isNew) = outcome { return (entry, core, isNew) }
        }
        let reason = "it was deleted and made again a thousand times meanwhile"
        throw SpaceError(.holderBusy, reason: reason, advice: "look who does that")
    }

    /// Waits until it is known whether several machines share a namespace of this name, and for its replica if they do.
    ///
    /// Otherwise a namespace of this root alone would take the name, and the replica would never come. In a root that
    /// has joined, only the daemon's answer counts (``JoinedSpace``). In another root, a daemon that is about to join
    /// for the first time is asked too.
    ///
    /// - Returns: Whether there may be a namespace of this name now; `false` if the name is free, or the namespace is to be
    ///   this root's alone in any case.
    /// - Throws: `clusterUnavailable` if that does not get known in time, or no daemon runs, or the replica does not come.
    private func waitForReplica(in rootFolder: borrowing OwnedDescriptor) throws(SpaceError) -> Bool {
        if options.isLocal { return false }
        let hasJoined = try JoinedSpace.isRemembered(in: rootFolder)
        let retry = Retry(for: timeout, every: .milliseconds(10))
        while true {
            let refusal: SpaceError
            switch DaemonSocket.word(of: name, in: root) {
            case .free: return false
            case .shared:
                refusal = .clusterUnavailable("several machines share it, and its replica is not here yet")
            case .none(let error, let mayPass):
                guard hasJoined else { return false }
                guard mayPass else { throw error }
                refusal = error
            }
            if try NamespaceFolder.open(name, in: rootFolder, of: root) != nil { return true }
            guard retry.again() else { throw refusal }
        }
    }

    private var notFound: SpaceError {
        .noNamespace(in: root.path, advice: "write to it first, or look at the others with: space list")
    }

    private var taken: SpaceError {
        .incompatible(
            Self.takenReason,
            advice: "choose another name or root, or delete it first: space delete \(name.text)"
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
                try ControlFinding.look(at: folder, host: host)
            )
        } catch  where error.code == .damaged || error.code == .inputOutput {
            // A reaper may have removed the namespace between the two looks; then the folder is a removed one, not a
            // damaged one.
            if !folder.isInPlace(in: rootFolder) { return .again }
            throw error
        }
    }

    private func join(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ host: HostIdentity,
        _ finding: borrowing ControlFinding
    ) throws(SpaceError) -> Outcome {
        if case .foreign(let difference) = finding.standing {
            try DataFile.checkFileSizeLimit(finding.header)
            try Adoption(root: root, timeout: timeout, host: host).run(folder, rootFolder, finding, difference)
            return .again
        }
        guard try finding.enter(timeout: timeout) else { return .again }
        let entry = CoreRegistry.shared.entry(folder.id)
        return try entry.withState { (state) throws(SpaceError) in
            // A folder's inode number can be used again; that of a file that is held open or mapped cannot.
            if let core = state.core, core.control.dead.load() == 0, core.control.identity.inode == finding.info.inode {
                try options.check(core.control, name.text)
                // Done under the door: otherwise a reaper could have seen this process's session without ownership,
                // and be deleting.
                guard try core.join(owner) else { return .again }
                state.handles += 1
                if owner.isOwningSession { state.owningHandles += 1 }
                return .opened(entry, core)
            }
            guard let core = try enter(folder, rootFolder, finding) else { return .again }
            state = CoreRegistry.Entry.State(core: core, owningHandles: owner.isOwningSession ? 1 : 0, handles: 1)
            return .opened(entry, core)
        }
    }

    private func enter(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ finding: borrowing ControlFinding
    ) throws(SpaceError) -> NamespaceCore? {
        try DataFile.checkFileSizeLimit(finding.header)
        let control = try finding.map(endsUse: true)
        let door = try control.takeDoor(timeout: timeout, of: folder)
        CrashPoint.reach(.doorTaken)
        guard folder.isInPlace(in: rootFolder) else { return nil }
        let sessions = try folder.sessions(makingAnew: true)
        let hasLivingOwner = try system("its sessions") { () throws(Errno) in
            try sessions.hasLivingOwner()
        }
        let hasOwner = control.staying.stays || hasLivingOwner
        if control.dead.load() != 0 || !hasOwner {
            let removed = try Reaping.moveAway(folder, control, in: rootFolder, of: root, timeout: timeout)
            door.release()
            removed.delete()
            return nil
        }
        // Checked only now, because a namespace without an owner must not prevent an opening.
        try options.check(control, name.text)
        try system("its sessions") { () throws(Errno) in
            try sessions.removeSomeDead(turn: control.nextSession.load())
        }
        let session = try owner.makeSession(in: sessions, control, mode: folder.fileMode)
        CrashPoint.reach(.joined)
        do throws(SpaceError) {
            let isUsed = try control.checkLockFile(folder)
            if !isUsed { try reserveAgain(control, folder) }
            let use = try OpenEnvironment.use(
                of: folder,
                control.header,
                creates: false,
                reservesAgain: !isUsed,
                timeout: timeout
            )
            control.lockFile.store(use.lockFile.inode)
            CrashPoint.reach(.dataOpened)
            return try start(folder, control, session, use)
        } catch {
            try? session.end(in: sessions)
            throw error
        }
    }

    private func reserveAgain(
        _ control: ControlFile,
        _ folder: borrowing NamespaceFolder
    ) throws(SpaceError) {
        let directory = folder.descriptor.raw
        try system("the control file") { () throws(Errno) in
            try control.reserveAgain(data: try? Directory.info(at: directory, NamespaceFolder.data))
        }
    }

    /// Opens the tables and makes the first reader, under the door.
    private func start(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ session: Session,
        _ use: EnvironmentUse
    ) throws(SpaceError) -> NamespaceCore {
        // This thread may hold the gate itself, if it runs the body of a transaction.
        let isWithinTransaction = BodyThread.isInAnyNamespace
        let patience = isWithinTransaction ? min(timeout, Limits.tick) : timeout
        let isAbandoned: Bool
        do throws(ProcessLock.Failure) {
            isAbandoned = try control.gate.acquire(timeout: patience, of: folder)
        } catch {
            if isWithinTransaction { throw .waitingWithinTransaction }
            throw SpaceError(error)
        }
        if isAbandoned { control.gateNeedsRecovery.store(1) }
        if control.gateNeedsRecovery.load() != 0 { use.abandonOrphans() }
        let core: NamespaceCore
        do {
            defer { control.gate.release() }
            // Frees the slots of killed readers; it may be long before another process looks for them.
            try use.forgetDeadReaders()
            let tables = try use.openTables()
            core = try makeCore(folder, control, session, use, tables)
            try core.engine.diskReserve.cutFile()
            CrashPoint.reach(.firstReader)
        }
        if control.gateNeedsRecovery.load() != 0 { GateRecovery(core.engine).lookForAbandonedGate() }
        let adopted = control.isAdopted.load()
        // What the dead have left in a replica, its daemon ends by entries of the log. An opener that did it would wait for
        // the daemon, and the daemon, which opens its replicas before it answers, for itself.
        let isReplica = control.staying.isReplica
        if adopted != 0, !isReplica {
            // This is the first opener after an adoption, under the door: no process can have claimed anything since.
            // No session in a claim lives any more, and session numbers start again.
            try core.endedHolders.endSessionsOfBefore { $0.life == .dead || adopted != ControlFile.adoptedHere }
            // This write finds out how far the blocks are reserved. If there is no disk space, the next writer gets
            // the error.
            try? core.write(.removing, timeout: timeout) { (_) throws(SpaceError) in }
        }
        if adopted != 0 { control.isAdopted.store(0) }
        if !isReplica {
            core.endedHolders.returnClaimsOfTheDead(timeout: min(timeout, .milliseconds(200)))
            core.dropRegistrations(of: .theDead, timeout: Engine.upkeepPatience)
        }
        return core
    }

    /// The open namespace, with its first reader.
    func makeCore(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ session: Session,
        _ use: EnvironmentUse,
        _ tables: Tables
    ) throws(SpaceError) -> NamespaceCore {
        let daemon = DaemonClient(root: root, name: name.text, life: control.header.life)
        let engine = try Engine(
            name: name,
            root: root,
            folderID: folder.id,
            control: control,
            use: use,
            tables: tables,
            logSource: daemon,
            timeout: timeout
        )
        return NamespaceCore(
            engine: engine,
            session: session,
            daemon: daemon,
            parts: parts,
            folderLock: FolderLock(folder)
        )
    }

    // MARK: Creating

    private func create(in rootFolder: borrowing OwnedDescriptor, _ host: HostIdentity) throws(SpaceError) -> Outcome {
        guard let (entry, core) = try Creation(opening: self, host: host).run(in: rootFolder) else { return .again }
        return .opened(entry, core, isNew: true)
    }
}

extension SpaceError {
    /// Whether a namespace was to be created with contents, and there is one of this name.
    package var isOfTakenName: Bool { code == .incompatible && reason == Opening.takenReason }
}
