package import LMDB
package import SpaceSystem
import Synchronization

/// One namespace's files, as this process has them open: the control file, the LMDB environment and the gate.
///
/// Guarantees: every write runs under the gate, with its disk space reserved, and wakes the processes that wait for it.
/// Every read sees one whole commit. The engine neither reads nor writes in a namespace that was deleted or left, or
/// that this process inherited over fork. The engine knows rows and slots; the targets above it know what they are for.
///
/// Unchecked Sendable: mutable state is atomic, or behind a Mutex, or touched only by the holder of the gate (`scope`,
/// `diskReserve`, `wakes`). The gate is a mutex between threads as well as between processes.
package final class Engine: @unchecked Sendable {
    package let name: NamespaceName
    package let root: SpaceRoot
    /// The folder, which distinguishes the namespace from a later one under the same name.
    package let folderID: NamespaceFolder.ID
    package let control: ControlFile
    /// The gate's words, kept here so that a free gate is taken without a detour; `control.gate` waits for a busy one.
    let gate: LockWords
    /// Which writer a waiter waits for, and whether spinning for it can help.
    package let lastWriter: LastWriter
    package let environment: Environment
    /// Keeps the environment open until the last reader has gone.
    package let use: EnvironmentUse
    package let tables: Tables
    package let clock: NamespaceClock
    /// How long an operation waits for the gate unless it gives a time-out of its own.
    package let timeout: Duration

    package let readers = ReaderPool()
    let readerWait = ReaderWait()
    package let shapeCache = ShapeCache()
    package let indexUpkeep = IndexUpkeep()
    /// The newest tuples, in mode `fast`.
    let near: NearRing?
    let absences = Absences()
    let ahead = TuplesAhead()
    let ringWait = RingWait()
    package let nearRoom = NearRoom()
    private let forkGeneration = ForkGuard.generation
    private let hasLeft = Atomic<Bool>(false)
    private let isAboutToLeave = Atomic<Bool>(false)
    package let bodyThread = BodyThread()

    /// The write transaction in progress, for the holder of the gate.
    package let scope: WriteScope
    /// The disk reserve, for the holder of the gate.
    package let diskReserve: DiskReserve
    /// The waiters that the holder of the gate has found and has to wake.
    package let wakes = WakeList()
    package let changeSignal = ChangeSignal()
    let combiner = WriteCombiner()
    var logState = NamespaceLog.State()
    /// In a namespace of several machines, the member of this process's session, plus 1; 0: the process writes for its
    /// daemon, which adds and removes members.
    private let writer = Atomic<UInt64>(1)
    package let sweepDue = SweepDue()

    /// Makes an engine with its first reader.
    package init(
        name: NamespaceName,
        root: SpaceRoot,
        folderID: NamespaceFolder.ID,
        control: ControlFile,
        use: EnvironmentUse,
        tables: Tables,
        logSource: any LogSource,
        timeout: Duration
    ) throws(SpaceError) {
        let reader = try lmdb { () throws(LMDBError) in Reader(try use.environment.beginRead()) }
        let access = reader.transaction.access
        self.name = name
        self.root = root
        self.folderID = folderID
        self.control = control
        gate = control.gate.words
        lastWriter = LastWriter(control.writer)
        self.use = use
        environment = use.environment
        self.tables = tables
        self.logSource = logSource
        self.timeout = timeout
        clock = NamespaceClock(control)
        near = control.header.mode == .fast ? control.near : nil
        diskReserve = DiskReserve(environment: use.environment, control: control)
        scope = WriteScope(
            tables: tables,
            clock: clock,
            namespace: name.text,
            byteLimit: control.header.byteLimit,
            meter: RoomMeter(tables.usualChanges, diskReserve, idle: access, pageSize: use.environment.pageSize),
            idle: access
        )
        reader.transaction.reset()
        readers.add(reader)
    }

    deinit {
        // A reader in use keeps the engine alive, so every reader is in the pool.
        guard !isInherited else { return }
        readers.removeAll()
        use.end()
    }

    package var mode: StorageMode { control.header.mode }

    /// The number of LMDB's last commit.
    @inline(__always)
    package var lastCommit: Int { environment.lastTransaction }
    /// A number that rises with each change of any process: LMDB's commits and the near end's changes.
    package var lastChange: Int { lastCommit &+ Int(truncatingIfNeeded: near?.word.load() ?? 0) }
    /// How many bytes of the data file are in use.
    package var bytesInUse: Int {
        (try? withEnvironment { (environment) throws(LMDBError) in environment.bytesInUse }) ?? 0
    }

    /// Syncs the data file.
    package func sync() throws(SpaceError) {
        try withEnvironment { (environment) throws(LMDBError) in try environment.sync(force: true) }
    }

    package var slots: WaitSlots { control.slots }

    // MARK: Usable or not

    package var isLeft: Bool { hasLeft.load(ordering: .acquiring) }

    /// Notes that this process leaves, before its holds end because of that.
    package func beginLeaving() { isAboutToLeave.store(true, ordering: .releasing) }

    /// Throws `closed` if this process leaves the namespace, or has left it.
    package func checkStays() throws(SpaceError) {
        if isAboutToLeave.load(ordering: .acquiring) { throw .leftNamespace }
    }

    /// Marks the namespace as left by this process, and returns `false` if it was left already.
    package func markLeft() -> Bool { !hasLeft.exchange(true, ordering: .acquiringAndReleasing) }

    @inline(__always)
    package func checkUsable(
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false
    ) throws(SpaceError) {
        if isInherited || (!evenAfterDeletion && control.dead.load() != 0) || control.isCut
            || (!evenAfterLeaving && hasLeft.load(ordering: .acquiring)) || bodyThread.isHere
        {
            throw unusable
        }
    }

    /// Whether this process is a child, made by fork, of the process that opened the namespace, so that nothing here is
    /// its own.
    package var isInherited: Bool { ForkGuard.generation != forkGeneration }

    private var unusable: SpaceError {
        if bodyThread.isHere { return .usedWithinTransaction }
        if isInherited {
            return .forked("this handle was opened before fork, by another process")
        }
        if control.isCut { return .damaged("its control file was cut short while it was in use") }
        if !hasLeft.load(ordering: .acquiring) {
            return SpaceError(
                .namespaceDeleted,
                reason: "the namespace was deleted",
                advice: "open it again to start afresh"
            )
        }
        return .leftNamespace
    }

    /// Checks whether the namespace's folder was removed, as logind does in /dev/shm at logout: its control file then
    /// has no name.
    ///
    /// If so, the namespace is marked dead, so that all its processes learn of it at once. A session's file that is
    /// missing says nothing about the namespace, because clean-ups by age remove single files.
    package func noticeRemoval() {
        if !control.isLinked { control.dead.store(1) }
    }

    package var isUsable: Bool { (try? checkUsable()) != nil }

    // MARK: The folder

    /// The namespace's folder, if the path still leads to it.
    package func openFolder() throws(SpaceError) -> NamespaceFolder? {
        guard let rootFolder = try root.open(create: false),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root),
            folder.id == folderID
        else { return nil }
        return folder
    }

    /// The namespace's folder; throws `namespaceDeleted` if it has gone, or another has taken its place.
    package func presentFolder() throws(SpaceError) -> NamespaceFolder {
        if let folder = try openFolder() { return folder }
        noticeRemoval()
        throw unusable
    }

    /// The control file, opened again, if the path still leads to the namespace.
    package func openControl() -> OwnedDescriptor? {
        guard let folder = try? openFolder() else { return nil }
        return try? folder.openControl()
    }

    // MARK: Several machines

    /// What reaches the log that they share.
    let logSource: any LogSource

    /// The member whose part this process's writes are; `nil` for the daemon's.
    package var sessionMember: UInt32? {
        get {
            let word = writer.load(ordering: .relaxed)
            return word == 0 ? nil : UInt32(truncatingIfNeeded: word - 1)
        }
        set { writer.store(newValue.map { UInt64($0) + 1 } ?? 0, ordering: .relaxed) }
    }
}
