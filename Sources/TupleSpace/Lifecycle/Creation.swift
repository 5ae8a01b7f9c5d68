import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// The contents with which a namespace is created.
package struct InitialContents {
    /// The header of the namespace that the contents come from, whose clock the new one continues; `nil`: a new clock.
    let header: ControlHeader?
    /// Writes the contents, before any other process sees the namespace.
    let fill: (NamespaceCore) throws(SpaceError) -> Void

    /// Whether what was held in the other namespace ends here.
    let isNewLife: Bool
    /// Whether the new namespace is the same life as the other one: a replica of it.
    let isReplica: Bool

    package init(
        from header: ControlHeader,
        isNewLife: Bool,
        isReplica: Bool = false,
        _ fill: @escaping (NamespaceCore) throws(SpaceError) -> Void
    ) {
        self.header = header
        self.isNewLife = isNewLife
        self.isReplica = isReplica
        self.fill = fill
    }

    /// Contents that come from no other life of the namespace.
    package init(_ fill: @escaping (NamespaceCore) throws(SpaceError) -> Void) {
        (header, isNewLife, isReplica) = (nil, false, false)
        self.fill = fill
    }
}

/// Creates a namespace: it is completed in the nursery, then renamed into place in one step.
///
/// Guarantees: no process ever sees half a namespace. If there are two creators, one wins (`renameat2(2)`,
/// RENAME_NOREPLACE), and the other opens the winner's namespace. If a creator is killed before the rename, it leaves a
/// folder in the nursery whose name contains its process; any process that visits the nursery after that death removes
/// the folder. Blocks are reserved before anything is mapped, because sparse files raise SIGBUS on a full disk; in
/// every mode this includes LMDB's lock file.
struct Creation {
    let opening: Opening
    let host: HostIdentity

    private struct Made {
        let id: NamespaceFolder.ID
        let core: NamespaceCore
    }

    /// - Returns: `nil` if another creator was quicker.
    func run(in rootFolder: borrowing OwnedDescriptor) throws(SpaceError) -> (CoreRegistry.Entry, NamespaceCore)? {
        try SpaceError.naming("create the namespace", on: opening.name.text) { () throws(SpaceError) in
            try opening.owner.checkMayCreate(persistent: opening.options.isPersistent)
            return try create(in: rootFolder)
        }
    }

    private func create(
        in rootFolder: borrowing OwnedDescriptor
    ) throws(SpaceError) -> (CoreRegistry.Entry, NamespaceCore)? {
        let nursery = try opening.root.ownFolder(SpaceRoot.nursery, in: rootFolder)
        // Made now, while there is disk space: on a full disk, namespaces must still be movable to the graveyard.
        _ = try opening.root.ownFolder(SpaceRoot.graveyard, in: rootFolder)
        Nursery.clean(nursery, host: host)
        let cradle = try Nursery.newName(host)
        do throws(SpaceError) {
            let made = try build(cradle, nursery)
            CrashPoint.reach(.beforePublishing)
            guard let entry = try publish(made, cradle, nursery, rootFolder) else {
                try? Directory.removeTree(at: nursery.raw, cradle)
                return nil
            }
            CrashPoint.reach(.published)
            return (entry, made.core)
        } catch {
            try? Directory.removeTree(at: nursery.raw, cradle)
            throw error
        }
    }

    /// Renames the folder into place, and registers it under the same lock.
    ///
    /// Another thread that finds the folder must also find that this process has it open already.
    ///
    /// - Returns: `nil` when the name is taken.
    private func publish(
        _ made: Made,
        _ cradle: String,
        _ nursery: borrowing OwnedDescriptor,
        _ rootFolder: borrowing OwnedDescriptor
    ) throws(SpaceError) -> CoreRegistry.Entry? {
        let entry = CoreRegistry.shared.entry(made.id)
        let isOwning = opening.owner.isOwningSession
        let isPublished = try entry.state.withLock { (state) throws(SpaceError) in
            do throws(Errno) {
                try Directory.renameNoReplace(from: nursery.raw, cradle, to: rootFolder.raw, opening.name.encoded)
            } catch .fileExists {
                return false
            } catch {
                throw SpaceError(error, subject: "renaming it into place")
            }
            state = CoreRegistry.Entry.State(core: made.core, owningHandles: isOwning ? 1 : 0, handles: 1)
            return true
        }
        guard isPublished else { return nil }
        if made.core.mode == .durable {
            try system("syncing the root") { () throws(Errno) in
                try Directory.sync(rootFolder.raw)
            }
        }
        return entry
    }

    private func build(_ cradle: String, _ nursery: borrowing OwnedDescriptor) throws(SpaceError) -> Made {
        let group = opening.options.group
        if let group { try SpaceRoot.check(group: group) }
        let folder = try system("its folder") { () throws(Errno) in
            let descriptor = try Directory.makeDirectory(at: nursery.raw, cradle, mode: 0o700)
            if let group {
                try Directory.setGroup(descriptor.raw, group)
                // The setgid bit: files and folders made in this folder belong to the group too.
                try Directory.setMode(descriptor.raw, 0o2770)
            }
            let info = try FileInfo.of(descriptor.raw)
            return NamespaceFolder(name: opening.name, root: opening.root, descriptor: descriptor, info: info)
        }
        CrashPoint.reach(.cradleMade)
        let control = try makeControl(folder)
        CrashPoint.reach(.controlMade)
        let session = try system("its session") { () throws(Errno) in
            let sessions = try Directory.makeDirectory(at: folder.descriptor.raw, SessionFolder.name, mode: 0o700)
            if group != nil { try Directory.setMode(sessions.raw, 0o2770) }
            return try SessionFolder(in: folder.descriptor)
        }
        let owner = try opening.owner.makeSession(in: session, control, mode: folder.fileMode)
        CrashPoint.reach(.sessionMade)
        let use = try OpenEnvironment.use(of: folder, control.header, creates: true, timeout: opening.timeout)
        control.lockFile.store(use.lockFile.inode)
        let core = try makeData(folder, control, owner, use)
        CrashPoint.reach(.dataMade)
        if core.mode == .durable { try sync(folder, core) }
        return Made(id: folder.id, core: core)
    }

    private func makeControl(_ folder: borrowing NamespaceFolder) throws(SpaceError) -> ControlFile {
        let options = opening.options
        let mode = options.mode ?? .fast
        let limit = try byteLimit(folder)
        try DataFile.checkFileSizeLimit(
            mode: mode,
            mapSize: UInt64(Limits.mapBytes),
            byteLimit: UInt64(limit)
        )
        let directory = folder.descriptor.raw
        let fileMode = folder.fileMode
        let file = try folder.reserving("the control file") { () throws(Errno) in
            func make(_ name: String) throws(Errno) -> OwnedDescriptor {
                let file = try OwnedDescriptor.openat(
                    directory: directory,
                    name,
                    flags: O_RDWR | O_CREAT | O_EXCL,
                    mode: 0o600
                )
                // The mode is set explicitly because of the umask: a group's namespace must stay accessible to its
                // group.
                try Directory.setMode(file.raw, fileMode)
                return file
            }
            for (name, size) in [(NamespaceFolder.changeSignal, 64), (NamespaceFolder.lock, DataFile.lockFileSize)] {
                let file = try make(name)
                try Blocks.reserve(file.raw, from: 0, to: size, keepSize: false)
            }
            let control = try make(NamespaceFolder.control)
            try ControlFile.reserve(control.raw)
            return control
        }
        let kind = try system("its file system") { () throws(Errno) in
            try FileSystemKind.of(directory)
        }
        if mode == .fast, case .other(let number) = kind {
            throw .misuse(
                "the mode fast needs tmpfs, ext4 or xfs, and the root lies on another file system "
                    + "(type 0x\(String(number, radix: 16)))",
                advice: "use the mode guarded (--guarded), or another root"
            )
        }
        return try system("the control file") { () throws(Errno) in
            let info = try FileInfo.of(file.raw)
            // Each user of the file holds this lock. No other process knows the new file yet.
            guard try FileLock.tryShared(file.raw, byte: ControlFile.useByte) else { throw .resourceBusy }
            var header = ControlHeader(
                mode: mode,
                mapSize: Limits.mapBytes,
                byteLimit: limit,
                host: host,
                file: info,
                group: options.group,
                createdMilliseconds: Clock.realtimeMilliseconds(),
                firstClaim: Counters.firstClaimOfLife
            )
            if let contents = opening.contents, let source = contents.header {
                header.continueClock(of: source, on: host)
                if contents.isReplica {
                    header.life = source.life
                    header.firstClaim = source.firstClaim
                    header.createdMilliseconds = source.createdMilliseconds
                }
            }
            try FileBytes.write(header.encoded(), to: file.raw)
            let control = try ControlFile(descriptor: file.raw, header: header, identity: info, endsUse: true)
            try control.initialiseVolatilePart()
            control.staying.set(isPersistent: options.isPersistent)
            return control
        }
    }

    private func byteLimit(_ folder: borrowing NamespaceFolder) throws(SpaceError) -> Int {
        if let limit = opening.options.byteLimit {
            guard (Limits.smallestByteLimit...Limits.mapBytes).contains(limit) else {
                throw .misuse(
                    "a byte limit of \(limit) is out of range",
                    advice: "choose \(Limits.smallestByteLimit) (16 MiB) to \(Limits.mapBytes) (64 GiB)"
                )
            }
            return limit
        }
        let room = try system("its file system") { () throws(Errno) in
            try FileSystemRoom.of(folder.descriptor.raw)
        }
        guard let total = room.total else { return Limits.mapBytes }
        return min(max(Int(clamping: total / 2), Limits.smallestByteLimit), Limits.mapBytes)
    }

    private func makeData(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ session: Session,
        _ use: EnvironmentUse
    ) throws(SpaceError) -> NamespaceCore {
        try system("the data file") { () throws(Errno) in
            try Directory.setMode(use.descriptor, folder.fileMode)
        }
        try DiskReserve(environment: use.environment, control: control).reserveFirst()
        var counters = Counters()
        counters.nextNumber = control.header.firstClaim
        if let history = opening.options.history {
            let limit = Int(clamping: control.header.byteLimit)
            (counters.historyRows, counters.historyBytes) = try history.words(limit: limit)
        }
        let tables = try use.makeTables(counters, control.header.life)
        let core = try opening.makeCore(folder, control, session, use, tables)
        if let contents = opening.contents {
            try contents.fill(core)
            if contents.isNewLife { try core.endedHolders.endSessionsOfElsewhere() }
        }
        try GateRecovery(core.engine).makeNewUsable()
        return core
    }

    /// Syncs what the rename is about to publish, in mode `.durable`.
    private func sync(_ folder: borrowing NamespaceFolder, _ core: NamespaceCore) throws(SpaceError) {
        let control = try folder.openControl()
        try system("syncing it") { () throws(Errno) in
            try Directory.sync(control.raw)
            try Directory.sync(folder.descriptor.raw)
        }
        try core.engine.sync()
    }
}
