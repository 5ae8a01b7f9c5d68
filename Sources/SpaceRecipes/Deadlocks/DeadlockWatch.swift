import SpaceSystem
import Synchronization

/// Tells watchers, and the history, of deadlocks.
///
/// The process that ticks for a namespace looks for circles once a second, if a process has waited for an object for a
/// second, if something was committed since the last look, and if changes are journaled at all. So neither shorter
/// waits, nor writes and takes, cost anything.
///
/// Guarantees: a circle all of whose waits have lasted for a second is reported once, as one change
/// (`ChangeKind.deadlock`). In one write transaction, the reporting process searches again, notes the change and marks
/// the waits of the circle; a circle of marked waits is not reported again. Each wait has a new row, so a circle with
/// another wait in it is another circle.
///
///     the teller is killed before the commit      nothing is marked: the next process that ticks tells
///     it is killed after the commit               the change and the marks are there together
///     it is stopped before the transaction        another process ticks, and tells; once it goes on, the teller finds
///                                                 the marks, or no circle. What it knew of processes is too old then,
///                                                 and it doesn't use it
///     two processes tell at once                  the gate lets one be first; the other finds the marks
///     the disk is full                            the transaction is undone with its marks, and tried again
///     a process of the circle is stopped          it waits all the same: the circle is told
///     a process of the circle has ended           its rows don't count, though they may still be there
///
/// A circle that may end by itself is not reported (`Deadlock.doubt`).
package final class DeadlockWatch: NamespacePart {
    /// How long each wait of a circle must have lasted.
    static let patience = Duration.seconds(1)
    /// Looks may take one part of the time in this many.
    private static let share = 20

    private struct State {
        var lastLook: Int?
        /// Whether the last look may find something else although nothing was committed since.
        var isUnfinished = false
        var next = MonotonicInstant.now
    }

    private let state = Mutex(State())

    package init() {}

    package func tickForAll(_ core: NamespaceCore) {
        let transaction = core.engine.lastChange
        let isDue = state.withLock {
            $0.next.hasPassed && ($0.lastLook != transaction || $0.isUnfinished)
        }
        guard isDue, Self.isWaitedInLong(core) else { return }
        let began = MonotonicInstant.now
        // If it fails, for example because the disk is full, a later look does it.
        let isUnfinished = (try? Self.look(core)) ?? true
        let pause = max(Self.patience, MonotonicInstant.now.duration(since: began) * Self.share)
        state.withLock { $0 = State(lastLook: transaction, isUnfinished: isUnfinished, next: .now.advanced(by: pause)) }
    }

    /// Whether a process has waited for an object for long.
    private static func isWaitedInLong(_ core: NamespaceCore) -> Bool {
        let slots = core.slots
        guard slots.inUse.load() != 0 else { return false }
        let now = Clock.realtimeMilliseconds()
        return slots.range.contains { index in
            let slot = slots.slot(index)
            return slot.current.state == .active && slot.interest.form == .hold
                && hasLasted(since: Int64(clamping: slot.sinceMilliseconds.load()), now)
        }
    }

    /// Whether a wait has lasted for long; one that begins in the future does, because the clock was set back.
    static func hasLasted(since: Int64, _ now: Int64 = Clock.realtimeMilliseconds()) -> Bool {
        since > now || now - since >= Int64(patience / .milliseconds(1))
    }

    /// Looks for circles, and tells them.
    ///
    /// - Returns: Whether a circle was found that may be reported later, although nothing is committed until then.
    private static func look(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        let search = DeadlockSearch(core)
        let found = try core.read { (snapshot) throws(SpaceError) -> WaitGraph? in
            guard try snapshot.counters().isJournaling else { return nil }
            return try search.graph(snapshot)
        }
        guard let found else { return false }
        guard !tellable(found.deadlocks).isEmpty else {
            return !found.doubtful.isEmpty || found.deadlocks.contains { !$0.isTold }
        }
        CrashPoint.reach(.deadlockFound)
        try core.write(.removing, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
            guard scope.isJournaling, !search.isStale else { return }
            for deadlock in tellable(try search.graph(scope.snapshot).deadlocks) { try deadlock.tell(in: scope) }
        }
        return true
    }

    /// The circles to report now: all their waits have lasted, and at least one of the waits was not reported.
    package static func tellable(
        _ deadlocks: [Deadlock],
        now: Int64 = Clock.realtimeMilliseconds()
    ) -> [Deadlock] {
        deadlocks.filter { deadlock in
            !deadlock.isTold && deadlock.steps.allSatisfy { $0.since.map { hasLasted(since: $0, now) } ?? true }
        }
    }
}

/// What a look knows of sessions and processes, so that it asks for each once.
private final class DeadlockSearch {
    private let core: NamespaceCore
    private let processes = ProcessSight()
    private var isAlive: [ClaimHolder: Bool] = [:]
    private let began = MonotonicInstant.now

    init(_ core: NamespaceCore) { self.core = core }

    /// Whether the process was held up since it began: processes may have changed.
    var isStale: Bool { MonotonicInstant.now.duration(since: began) > DeadlockWatch.patience }

    func graph(_ snapshot: Snapshot) throws(SpaceError) -> WaitGraph {
        let waits = try snapshot.objectWaits { row in
            let lives = isAlive[row.holder] ?? core.liveness.isAlive(row.holder)
            isAlive[row.holder] = lives
            return lives ? row.pid : nil
        }
        return WaitGraph(waits, among: processes)
    }
}

extension Deadlock {
    /// Whether watchers were told of the circle: each of its waits is marked.
    fileprivate var isTold: Bool { steps.allSatisfy { $0.place?.isTold ?? true } }

    /// Notes the circle for watchers, and marks its waits.
    fileprivate func tell(in scope: WriteScope) throws(SpaceError) {
        for place in steps.compactMap(\.place) {
            let keys = PlaceKeys(place.name.text)
            guard var row = try scope.snapshot.place(keys, place.ticket) else { continue }
            row.isTold = true
            try scope.places.put(row, keys)
        }
        try scope.objects.note(.deadlock, object: "", old: nil, new: told)
    }
}
