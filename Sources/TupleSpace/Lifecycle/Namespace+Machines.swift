import Glibc
import SpaceMachines
import SpaceSystem
import SystemPackage

// A namespace that several machines share, as its users see it: made so, deleted, owned, and read up to date.

extension Namespace {
    /// Whether several machines share the namespace.
    public var isReplicated: Bool { core.control.staying.isReplica }

    /// Whether several machines share another namespace of this name, so that the processes here see another one than those
    /// elsewhere: as far as this root's daemon says, and `false` without one.
    package var isApart: Bool {
        // It may have become one that they share while the daemon was asked.
        !isReplicated && DaemonSocket.knows(core.name, in: core.root) && !isReplicated
    }

    /// Makes the namespace one that several machines share: the same on every machine whose daemon (`space join`) has the
    /// same cluster and prefix.
    ///
    /// From then on, a write is one round trip to the cluster, and reads stay local. Nothing may be claimed, held or
    /// watched at that moment. Nothing happens if the namespace is replicated already.
    ///
    /// - Throws: `clusterUnavailable` if this machine's daemon can't be reached, or it can't reach the cluster;
    ///   `incompatible` if something is claimed, held or watched, or another machine has a namespace of this name.
    public func replicate() throws(SpaceError) {
        try attempt("replicate the namespace") { (core) throws(SpaceError) in
            try core.checkUsable()
            guard !isReplicated else { return }
            if try core.participation.replicate() { return }
            throw .incompatible(
                "the machines share another namespace of this name",
                advice: "choose another name, or look at the other one on another machine, and delete one of the two"
            )
        }
    }

    /// Makes sure that reads from now on see every write, on any machine, that had returned when this was called: one
    /// round trip to the cluster.
    ///
    /// Without this call, a read sees this machine's replica as far as it goes, usually milliseconds behind. In a
    /// namespace of one machine the call does nothing: each read is current.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Throws: `clusterUnavailable` if the cluster can't be asked in time.
    public func synchronize(timeout: Duration = .seconds(5)) throws(SpaceError) {
        try attempt("bring the replica up to date") { (core) throws(SpaceError) in
            try core.checkUsable()
            guard isReplicated else { return }
            let deadline = MonotonicInstant.now.advanced(by: timeout)
            let head = try core.participation.askForHead(until: deadline)
            while true {
                let entry = try core.read { (snapshot) throws(SpaceError) in try snapshot.counters().logEntry }
                guard entry < head else { return }
                guard
                    case .entries(let entries) = try core.participation.askDaemon(
                        .entries(behind: entry),
                        patience: deadline.remaining
                    ),
                    !entries.isEmpty
                else {
                    throw .clusterUnavailable("the replica here is \(head - entry) entries behind the other machines")
                }
                for bytes in entries { _ = try core.engine.log.apply(try EntryBytes(bytes)) }
            }
        }
    }
}

extension Participation {
    /// Makes the namespace one that several machines share, unless it is.
    ///
    /// The daemon is asked in any case: a replica that was just made may have lost against one of another machine.
    ///
    /// - Returns: `false` if they share another one of this name; this one stays this root's alone.
    fileprivate func replicate() throws(SpaceError) -> Bool {
        switch try askDaemon(.replicate, patience: .seconds(60)) {
        case .done: return true
        case .taken: return false
        case .refused(let why): throw .incompatible(why, advice: "look with space show, and with space machines")
        case .unknown(let why): throw .clusterUnavailable(why)
        case let answer: throw answer.error
        }
    }

    /// Whether the machines share this namespace, and not another one of its name.
    ///
    /// While the daemon makes it a shared one, it is a replica already, and may lose against one of another machine. The
    /// daemon's mark exists for all of that time, so a replica that is one before and after no mark was found stays one.
    fileprivate var isSettled: Bool { isReplica && !isMarked && isReplica }

    private var isReplica: Bool { core.control.staying.isReplica }

    private var isMarked: Bool {
        let path = "\(core.root.path)/\(DaemonSocket.folder)/\(DaemonSocket.mark(of: core.name))"
        return (try? Directory.info(at: AT_FDCWD, path)) != nil
    }

    /// Waits until it is settled whether the machines share this namespace.
    ///
    /// - Returns: `false` if it is this root's alone, or is removed because they share another one of its name. If the
    ///   daemon can't tell, the result is `true`: the namespace is a replica, and can be read.
    fileprivate func settles() -> Bool {
        if isSettled { return true }
        return isReplica && (try? askDaemon(.arrive, patience: Self.arrivalPatience)) != .gone
    }

    /// Whether no process has changed anything in the namespace yet.
    fileprivate func hasHadNoChange() throws(SpaceError) -> Bool {
        guard core.control.sequence.load() == 0 else { return false }
        return try core.read(showsNear: true) { (snapshot) throws(SpaceError) in try snapshot.counters().sequence == 0 }
    }

    /// Asks this root's daemon something about the namespace.
    func askDaemon(_ request: DaemonRequest, patience: Duration) throws(SpaceError) -> DaemonAnswer {
        try DaemonSocket.ask(
            request,
            in: core.root,
            life: core.control.header.life.number,
            name: core.name.text,
            patience: patience
        )
    }

    private static let ownerPatience = Duration.seconds(1)

    /// Tells the daemon that a process of this machine owns the replica, so that no machine deletes it.
    ///
    /// If the daemon can't be reached, the namespace is opened even so: reads go on without it. Then this machine's
    /// ownership lasts as long as its lease.
    ///
    /// - Throws: `namespaceDeleted` if the namespace was deleted on all machines.
    func announceOwner() throws(SpaceError) {
        guard let answer = try? askDaemon(.own, patience: Self.ownerPatience), case .gone = answer else { return }
        throw .deletedOnAllMachines
    }

    /// Asks how far the machines' log goes; a daemon that is about to join is asked again until it has.
    fileprivate func askForHead(until deadline: MonotonicInstant) throws(SpaceError) -> UInt64 {
        let retry = Retry(until: deadline, every: .milliseconds(20))
        while true {
            let answer = try askDaemon(.head, patience: deadline.remaining)
            if case .head(let head) = answer { return head }
            if answer == .gone { throw .deletedOnAllMachines }
            guard retry.again() else {
                throw .clusterUnavailable("the other machines can't be asked how far their log goes")
            }
        }
    }
}

extension Space {
    /// What the daemon of this root knows of its machines and of a namespace, as JSON.
    ///
    /// - Parameter name: A replicated namespace, or `nil` for the machines alone.
    /// - Returns: The report.
    /// - Throws: `clusterUnavailable` if there is no daemon.
    package func daemonReport(of name: String? = nil) throws(SpaceError) -> String {
        try SpaceError.naming("ask the daemon of this machine", on: name) { () throws(SpaceError) in
            let answer = try DaemonSocket.ask(.report, in: spaceRoot, life: 0, name: name ?? "", patience: .seconds(5))
            guard case .report(let json) = answer else { throw answer.error }
            return json
        }
    }

    /// Opens a namespace that several machines share, and makes it if it does not exist.
    ///
    /// Several processes may make it at the same time. In one root, the process that holds the lock of the name makes
    /// it, and the others wait for the lock. If several machines make it, the first in the store wins: the others
    /// remove theirs, and wait for its replica. With `contents`, only a new one is opened, which then has them from its
    /// first moment on.
    func openReplicated(
        _ name: String,
        owner: OwnerRequest,
        creates: Bool,
        options: NamespaceOptions,
        contents: InitialContents?
    ) throws(SpaceError) -> Namespace {
        var local = options
        local.isReplicated = false
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        let retry = Retry(until: deadline, every: .milliseconds(10))
        let key = try NamespaceName(name)
        var isOfAnother = false
        while true {
            if contents == nil, let found = try openExisting(name, owner: owner, options: local) {
                if isOfAnother ? found.core.participation.settles() : found.core.participation.isSettled {
                    return found
                }
                try? found.leave()
            }
            if !isOfAnother {
                let made = try whileMaking(key, until: deadline) { () throws(SpaceError) -> Namespace? in
                    try findOrMakeShared(name, owner: owner, creates: creates, options: local, contents: contents)
                }
                if let made { return made }
            }
            guard retry.again() else {
                throw .clusterUnavailable("another machine has made it at this moment, and its replica is not here yet")
            }
            // The other machine's namespace may be deleted before its replica is here.
            isOfAnother = DaemonSocket.knows(key, in: spaceRoot)
        }
    }

    /// Opens a shared namespace or makes it, while no other process of this root does.
    ///
    /// - Returns: `nil` if another machine has made or deleted it in the meantime.
    private func findOrMakeShared(
        _ name: String,
        owner: OwnerRequest,
        creates: Bool,
        options: NamespaceOptions,
        contents: InitialContents?
    ) throws(SpaceError) -> Namespace? {
        guard contents == nil, let found = try openExisting(name, owner: owner, options: options) else {
            guard creates else { return try openAsIs(name, owner: owner, creates: false, options: options) }
            return try makeShared(name, owner: owner, options: options, contents: contents)
        }
        if found.core.participation.settles() { return found }
        let isAlone = !found.isReplicated
        // A process that was killed while it made the namespace has left it so.
        if isAlone, try found.core.participation.hasHadNoChange() { return try share(found, isOwn: false) }
        try? found.leave()
        guard isAlone else { return nil }
        throw .incompatible(
            "it exists, and is this machine's alone",
            advice: "make it one of all machines with: space replicate \(name)"
        )
    }

    /// Opens a namespace; `nil` if there is none, or it has just been deleted.
    private func openExisting(
        _ name: String,
        owner: OwnerRequest,
        options: NamespaceOptions
    ) throws(SpaceError) -> Namespace? {
        do throws(SpaceError) {
            return try openAsIs(name, owner: owner, creates: false, options: options)
        } catch  where error.code == .namespaceNotFound || error.code == .namespaceDeleted {
            return nil
        }
    }

    /// Runs `body` while no other process of this root makes a shared namespace of this name.
    ///
    /// The lock is the kernel's, so it ends with a killed process; a stopped process keeps it.
    private func whileMaking<R>(
        _ name: NamespaceName,
        until deadline: MonotonicInstant,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        guard let file = try openMaking() else { return try body() }
        let (byte, raw) = (Self.makingByte(of: name), file.raw)
        let retry = Retry(until: deadline, every: Self.lockInterval)
        while try !system(DaemonSocket.making, { () throws(Errno) in try FileLock.tryExclusive(raw, byte: byte) }) {
            guard retry.again() else {
                throw SpaceError(
                    .holderBusy,
                    reason: "another process of this machine is making it, and holds the lock of its name",
                    advice: "try again; if that process is stopped, continue or end it"
                )
            }
        }
        return try body()
    }

    /// How often a process looks whether another one still makes a namespace.
    private static let lockInterval = Duration.milliseconds(5)

    /// The lock of a name under which another process of this root makes a shared namespace at this moment; `nil` if none
    /// does, as far as that can be found out.
    func making(of name: String) -> Making? {
        guard let file = (try? openMaking()) ?? nil, let key = try? NamespaceName(name) else { return nil }
        let making = Making(file: file, byte: Self.makingByte(of: key))
        let isHeld = making.isHeld
        return isHeld ? consume making : nil
    }

    /// The lock of a name, which another process may hold.
    struct Making: ~Copyable {
        fileprivate let file: OwnedDescriptor
        fileprivate let byte: Int

        fileprivate var isHeld: Bool { (try? FileLock.isHeldByAnother(file.raw, byte: byte)) ?? false }

        func waitForEnd(until deadline: MonotonicInstant) {
            let retry = Retry(until: deadline, every: Space.lockInterval)
            while isHeld, retry.again() {}
        }
    }

    /// The byte of the file of locks that stands for a name.
    private static func makingByte(of name: NamespaceName) -> Int {
        Int(hash64(Array(name.text.utf8)) & 0x3fff_ffff)
    }

    /// Opens the file of the locks; `nil` if this process can't reach a daemon in any case, and so makes nothing.
    private func openMaking() throws(SpaceError) -> OwnedDescriptor? {
        let path = "\(root)/\(DaemonSocket.folder)/\(DaemonSocket.making)"
        do throws(Errno) {
            return try OwnedDescriptor.open(path, flags: O_RDWR | O_NOFOLLOW)
        } catch {
            guard error != .noSuchFileOrDirectory, error != .permissionDenied else { return nil }
            throw SpaceError(error, subject: path.quotedForPeople)
        }
    }

    /// Makes a namespace, and makes it one that several machines share.
    ///
    /// - Returns: `nil` if the machines share another one of the name, or have deleted this one already; the one that was made
    ///   here is removed then.
    private func makeShared(
        _ name: String,
        owner: OwnerRequest,
        options: NamespaceOptions,
        contents: InitialContents?
    ) throws(SpaceError) -> Namespace? {
        // Nothing is made if there is no daemon, or it does not reach the cluster.
        let welcome = try DaemonSocket.ask(nil, in: spaceRoot, life: 0, name: "", patience: .seconds(5))
        if case .unavailable(let why) = welcome { throw .clusterUnavailable(why) }
        let made = try openAsIs(name, owner: owner, creates: true, options: options, contents: contents)
        return try share(made, isOwn: true, hasContents: contents != nil)
    }

    /// Makes a namespace that has had no change one that several machines share.
    ///
    /// - Parameters:
    ///   - namespace: The namespace.
    ///   - isOwn: Whether this process has made it, and removes it after a failure.
    ///   - hasContents: Whether it was made with contents; no other process has written to it before this is done, because
    ///     each waits for the lock of its name.
    /// - Returns: `nil` if the machines share another one of the name, or have deleted this one already; it is removed then.
    /// - Throws: What ``Namespace/replicate()`` throws.
    private func share(
        _ namespace: Namespace,
        isOwn: Bool,
        hasContents: Bool = false
    ) throws(SpaceError) -> Namespace? {
        do throws(SpaceError) {
            if try namespace.core.participation.replicate() {
                try namespace.core.participation.announceOwner()
                return namespace
            }
        } catch {
            if isOwn { try? removeUnshared(namespace, hasContents) } else { try? namespace.leave() }
            guard error.code == .namespaceDeleted else { throw error }
            return nil
        }
        try removeUnshared(namespace, hasContents)
        return nil
    }

    /// Removes a namespace that did not become a shared one.
    ///
    /// It stays if a process has written to it in the meantime. The replica of another machine's namespace, which may
    /// have taken its place, has another life, and stays, too.
    private func removeUnshared(_ namespace: Namespace, _ hasContents: Bool) throws(SpaceError) {
        let (name, life) = (namespace.core.name, namespace.life)
        let isInUse = namespace.isReplicated
        // Under the gate, this process counts what a killed writer has left uncounted.
        try? namespace.core.engine.underGate { () throws(SpaceError) in }
        try? namespace.leave()
        guard !isInUse else { return }
        let remover = NamespaceRemover(root: spaceRoot, timeout: timeout)
        _ = try remover.delete(name, of: life, onlyUnused: !hasContents, host: try .current())
    }

    /// Deletes a namespace on all machines.
    ///
    /// - Returns: `false` if this machine's namespace is no replica.
    func deleteReplicated(_ name: NamespaceName) throws(SpaceError) -> Bool {
        guard let rootFolder = try spaceRoot.open(create: false),
            let namespace = try NamespaceFolder.open(name, in: rootFolder, of: spaceRoot),
            let control = try? namespace.openControl(),
            (try? ControlFile.flags(in: control.raw).isReplica) ?? false,
            let bytes = try? FileBytes.readPrefix(control.raw, count: ControlHeader.size),
            let header = try? ControlHeader(decoding: bytes), followsMachines(name)
        else { return false }
        let answer = try DaemonSocket.ask(
            .delete,
            in: spaceRoot,
            life: header.life.number,
            name: name.text,
            patience: .seconds(10)
        )
        switch answer {
        case .done, .gone: return true
        case let answer: throw answer.error
        }
    }

    /// Whether the data of a namespace say that several machines share it: the control file alone is not enough,
    /// because its words may be damaged.
    ///
    /// If the data are damaged, only this machine's copy is deleted: the daemon gets the namespace from the other
    /// machines again.
    private func followsMachines(_ name: NamespaceName) -> Bool {
        do throws(SpaceError) {
            let namespace = try openAsIs(name.text, owner: .nobody, creates: false, options: NamespaceOptions())
            defer { try? namespace.leave() }
            return try namespace.core.read { (snapshot) throws(SpaceError) in
                try snapshot.mainLog.get(.log)?.isOfMembers ?? false
            }
        } catch {
            return error.code != .damaged
        }
    }
}
