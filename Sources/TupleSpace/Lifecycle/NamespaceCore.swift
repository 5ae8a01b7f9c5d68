package import LMDB
package import SpaceSystem
import Synchronization

/// A namespace as this process has it open: its engine and one session, whatever the number of handles.
///
/// What features keep for an open namespace they keep in ``parts``.
package final class NamespaceCore: ListeningNamespace {
    package let engine: Engine
    package let session: Session
    /// What the features keep for this namespace.
    package let parts: NamespaceParts

    /// The objects of this process that keep the namespace.
    package let owners = ObjectOwners()
    /// What this process has let go of and could not end then.
    let deferred = DeferredReleases()
    /// When this process last looked after the namespace, monotonic ns.
    let lastTick = Atomic<UInt64>(0)
    /// How often a wait found its tuple at a tick, unheard, or a dead claimer's tuples returned at one.
    ///
    /// A hint was lost then, which does not happen unless a process is killed.
    let lateFinds = Atomic<Int>(0)
    let spinPolicy = SpinPolicy()
    /// From when on a look that finds nothing asks again whether those who have claims live, monotonic ns.
    let nextAskForTheDead = Atomic<Int64>(0)
    /// Whether the other processes know that this session claims.
    let isClaimant = Atomic<Bool>(false)

    package init(engine: Engine, session: Session, parts: [any NamespacePart.Type]) {
        self.engine = engine
        self.session = session
        self.parts = NamespaceParts(parts)
    }

    package var name: NamespaceName { engine.name }
    package var root: SpaceRoot { engine.root }
    package var folder: FileInfo { engine.folder }
    package var control: ControlFile { engine.control }
    package var environment: Environment { engine.environment }
    package var clock: NamespaceClock { engine.clock }
    package var mode: StorageMode { engine.mode }
    package var slots: WaitSlots { engine.slots }
    package var timeout: Duration { engine.timeout }
    package var isLeft: Bool { engine.isLeft }
    var isInherited: Bool { engine.isInherited }
    package var isInTransactionHere: Bool { engine.isInTransactionHere }

    package var isUsable: Bool { engine.isUsable }

    package func hear() { for part in parts.all { part.hear(self) } }
    package func tickParts() { for part in parts.all { part.tick(self) } }

    package func forgetDeadOwners() {
        if owners.forgetTheDead() { CoreRegistry.shared.lostObjectOwners(self) }
    }

    @inline(__always)
    package func checkUsable(_ operation: String) throws(SpaceError) { try engine.checkUsable(operation) }

    /// Runs `body` on a snapshot.
    ///
    /// `body` copies out what it returns, and is short: a snapshot keeps freed pages from being used again.
    @inline(__always)
    package func read<R>(
        _ operation: String,
        evenAfterDeletion: Bool = false,
        _ body: (Snapshot) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let reader = try engine.lendReader(operation, evenAfterDeletion: evenAfterDeletion)
        defer { engine.takeBack(reader) }
        let result = try body(engine.snapshot(of: reader))
        try engine.checkUndamaged(reader, operation)
        return result
    }

    /// Runs `body` in a write transaction: ``Engine/write(_:_:timeout:_:)``.
    ///
    /// Before it, what this process has let go of is ended; after it, once in 4,096 changes, dead watchers are dropped.
    @inline(__always)
    package func write<R>(
        _ operation: String,
        _ demand: DiskReserve.Demand,
        timeout: Duration? = nil,
        _ body: (WriteScope) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        if deferred.isDue {
            try checkUsable(operation)
            carryOutDeferred()
        }
        defer { if engine.takePassedMark() { dropWatchersOfTheDead(timeout: Self.upkeepPatience) } }
        var result: R?
        try engine.write(operation, demand, timeout: timeout) { (scope) throws(SpaceError) in
            result = try body(scope)
        }
        guard let result else {
            throw SpaceError(.inputOutput, operation, namespace: name.text, reason: "the transaction ended early")
        }
        return result
    }

    /// How long upkeep waits for the gate: it is done in others' time, and what it leaves is found at the next tick.
    package static let upkeepPatience = Engine.upkeepPatience
}
