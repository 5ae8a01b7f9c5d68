package import SpaceMachines
import SpaceSystem
import Synchronization

/// An open namespace of this process: its engine and one session, however many handles there are.
///
/// The features keep their state for the namespace in ``parts``.
package final class NamespaceCore: Sendable {
    package let engine: Engine
    package let session: Session
    /// The features' state for this namespace.
    package let parts: NamespaceParts

    /// Keeps programs that clean folders by age from the namespace, until the process leaves it.
    let folderLock: FolderLock?
    /// The objects of this process that keep the namespace alive.
    package let owners = ObjectOwners()
    /// What this process has released and could not end at once.
    let deferred = DeferredReleases()
    /// The waits of this process, as the event loop sees them.
    package let attendance = Attendance()
    /// What this process knows of the upkeep.
    let upkeepState = UpkeepState()
    let spinPolicy = SpinPolicy()
    let keptCells = KeptCells()
    /// What this process counts in, if latencies are measured.
    let latencyMeter = LatencyMeter()
    /// How many matches a take names, if it is sent.
    let takeWidth = TakeWidth()
    /// How this process reaches the daemon, in a namespace that several machines share.
    package let daemon: DaemonClient
    /// How often the session has got another number.
    let renewals = Atomic<Int>(0)
    /// When this process first saw that sessions' members have ended, for the registrations of their watchers.
    let departures = Mutex<[UInt64: MonotonicInstant]>([:])

    package init(
        engine: Engine,
        session: Session,
        daemon: DaemonClient,
        parts: [any NamespacePart.Type],
        folderLock: FolderLock? = nil
    ) {
        self.engine = engine
        self.session = session
        self.daemon = daemon
        self.parts = NamespaceParts(parts)
        self.folderLock = folderLock
        engine.sessionMember = session.member
    }

    package var name: NamespaceName { engine.name }
    package var root: SpaceRoot { engine.root }
    package var folderID: NamespaceFolder.ID { engine.folderID }
    package var control: ControlFile { engine.control }
    package var clock: NamespaceClock { engine.clock }
    package var mode: StorageMode { engine.mode }
    package var slots: WaitSlots { engine.slots }
    package var timeout: Duration { engine.timeout }
    package var isLeft: Bool { engine.isLeft }
    package var isInherited: Bool { engine.isInherited }
    package var isInTransactionHere: Bool { engine.bodyThread.isHere }

    package var isUsable: Bool { engine.isUsable }

    /// Whether only a log's entries write in the namespace.
    package var isStandby: Bool {
        get throws(SpaceError) {
            try read { (snapshot) throws(SpaceError) in try snapshot.counters().followsLog }
        }
    }

    package func forgetDeadOwners() {
        if owners.forgetTheDead() { CoreRegistry.shared.lostObjectOwners(self) }
    }

    /// Runs `body`, and gives its error the operation and the namespace, which the code below does not know.
    ///
    /// A call through a handle goes through `Namespace.attempt`, which also refuses a handle that was left.
    @inline(__always)
    package func naming<R: ~Copyable>(
        _ operation: @autoclosure () -> String,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        do throws(SpaceError) { return try body() } catch { throw error.named(operation(), name.text) }
    }

    @inline(__always)
    package func checkUsable() throws(SpaceError) { try engine.checkUsable() }

    /// Refuses a call that would wait within a transaction's body of any namespace.
    package func checkMayWait() throws(SpaceError) {
        if BodyThread.isInAnyNamespace { throw .waitingWithinTransaction }
    }

    /// Runs `body` on a snapshot.
    ///
    /// `body` copies out what it returns, and is short: a snapshot keeps freed pages from being used again. With
    /// `showsNear`, the snapshot has the near end too; with `showsMarks`, what was taken of the tables' tuples.
    @inline(__always)
    package func read<R>(
        showsNear: Bool = false,
        showsMarks: Bool = false,
        evenAfterDeletion: Bool = false,
        _ body: (Snapshot) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let reader = try engine.lendReader(
            showsNear: showsNear,
            showsMarks: showsMarks,
            evenAfterDeletion: evenAfterDeletion
        )
        defer { engine.takeBack(reader) }
        let result = try body(engine.snapshot(of: reader))
        try reader.checkUndamaged()
        return result
    }

    /// Runs `body` in a write transaction: ``Engine/write(_:_:timeout:_:)``.
    ///
    /// Before it, deferred releases are carried out; after it, once in 4,096 changes, registrations of dead watchers
    /// are dropped. If the outcome is unknown, what the transaction has made for this process is released, unless the
    /// caller finds out (`findsOut`) whether it exists.
    ///
    /// `timeout` is for the gate; `nil` means the time-out of the space. `patience` is the longest wait, on several
    /// machines, until this machine takes part again: a caller whose own wait has an end gives the time that is left.
    /// It is `timeout` unless given, and never more than `Participation.arrivalPatience`.
    @inline(__always)
    package func write<R>(
        _ purpose: WritePurpose,
        timeout: Duration? = nil,
        patience: Duration? = nil,
        keeps: NearKept = [],
        findsOut: Bool = false,
        _ body: (WriteScope) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        try checkUsable()
        if deferred.isDue { carryOutDeferred() }
        defer { if engine.sweepDue.take() { dropRegistrations(of: .theDead, timeout: Engine.upkeepPatience) } }
        var result: R?
        var numbers: Range<UInt64> = 0..<0
        do throws(SpaceError) {
            try participation.renewingSession(patience: patience ?? timeout) { () throws(SpaceError) in
                try engine.write(purpose, timeout: timeout, keeps: keeps) { (scope) throws(SpaceError) in
                    let first = scope.counters.nextNumber
                    result = try body(scope)
                    try scope.unsettled.settleAll(in: scope)
                    numbers = scope.numbers(since: first)
                }
            }
        } catch {
            if !findsOut { letGo(after: error, of: numbers, session: session.number) }
            throw error
        }
        guard let result else { throw SpaceError(.inputOutput, reason: "the transaction ended early") }
        return result
    }
}
