import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// The observations of this process in one namespace: one reader of the journal for all of them.
///
/// Guarantees: each observer is told of every change later than its registration, once, in order, or of a gap; one call of it at
/// a time. A change is read and decoded once for all whom it concerns. Nothing is queued: an observer either *follows*, and
/// stands where the hub stands, or is *running*, with a batch of changes and a position of its own. What comes meanwhile it
/// reads from the journal itself when its handler has returned, if the hub has seen that it concerns it, and follows again. So a handler that
/// is slow, or never returns, costs one batch of memory and nobody's time; behind the journal's bound it gets a gap.
///
/// Everything that can go wrong on the way (no reader to be had, a stopped holder of the gate) leaves the positions as they
/// are, and is tried again at the next tick.
///
/// No lock is held while a handler runs, or anything that a user gave is released.
final class ObservationHub: Sendable {
    private let state = Mutex(State())
    /// Held while the journal is read: one of LMDB's readers serves all observers, and is there still when the namespace has
    /// been deleted and no other can be had.
    private let reading = Mutex<Void>(())
    /// How often a filter was asked about a change.
    private let evaluations = Atomic<Int>(0)

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var index = ObserverIndex()
        /// The last change that the hub has read.
        var position: UInt64 = 0
        /// LMDB's last transaction at the last look.
        var transaction = -1
        var isReading = false
        var mustReadAgain = false
        /// Entered while the hub was reading, so that what it read then may have been for them.
        var newcomers: [UInt64] = []
        /// Running ones that could not read on.
        var stalled: [UInt64] = []
        /// Rows in `watchers` of those that have ended, whose removal is still to be tried again.
        var rows: [UInt64] = []
        /// The namespace's end has been read.
        var isGone = false
        /// Then: the namespace's last change, of which the hub may have read less.
        var last: UInt64 = 0
    }

    private struct Entry {
        let observer: Observer
        /// The last change that it has been given, or must not be given; while it follows, the hub's position may be later.
        var position: UInt64
        /// The last change that it is to be given and, because it was running, has not been.
        var owed: UInt64 = 0
        var isRunning = false
    }

    var filterEvaluations: Int { evaluations.load(ordering: .relaxed) }

    /// Those there are, in the order in which they were made.
    var all: [Observer] { state.withLock { $0.entries.values.map(\.observer) }.sorted { $0.id < $1.id } }

    // MARK: Coming and going

    /// Registers an observer, which is told of what is later than its registration.
    func add(_ request: ObservationRequest, handle: Namespace) throws(SpaceError) -> Observer {
        let core = handle.core
        let isFirst = state.withLock { $0.entries.isEmpty }
        // Before the registration: what is written from then on rings.
        BellRoom.shared.begin(core)
        let registration: NamespaceCore.Registration
        do throws(SpaceError) {
            registration = try core.registerWatcher(request.filter, start: .now, subscription: "")
        } catch {
            BellRoom.shared.end(core)
            throw error
        }
        let observer = Observer(row: registration.number, handle: handle, request)
        var first = Observer.Batch()
        var position = registration.present
        if request.options.contains(.initial) {
            do throws(SpaceError) {
                (first.changes, position) = try core.present(request.filter)
            } catch {
                removeRows([registration.number], of: core)
                throw error
            }
        }
        let mustRun = state.withLock { state in
            if state.entries.isEmpty, !state.isReading {
                state.position = position
                state.transaction = -1
            }
            var entry = Entry(observer: observer, position: position)
            // What it would have to be told of has been read already, without it.
            if state.position > position { entry.owed = state.position }
            entry.isRunning = !first.changes.isEmpty || entry.owed > 0
            state.entries[observer.id] = entry
            state.index.insert(observer)
            if state.isReading { state.newcomers.append(observer.id) }
            return entry.isRunning
        }
        if mustRun { start(observer, first, core, isCrew: false) }
        core.awaitBell()
        // What was written since the registration may have rung before there was somebody to look; and left, or deleted, in
        // between, nobody else looks.
        if core.control.sequence.load() > position || !core.isUsable { BellRoom.shared.crew.submit { self.hear(core) } }
        // The ticks do it from now on.
        if isFirst { core.dropWatchersOfTheDead() }
        return observer
    }

    /// Ends an observation: no call begins after this returns, but one that has begun, on another thread, may still run.
    ///
    /// May be called anywhere, in the handler too.
    func end(_ observer: Observer, of core: NamespaceCore) {
        if observer.end() { forget([observer], core) }
    }

    /// Ends the observations that a condition holds for.
    func end(_ core: NamespaceCore, where condition: (Observer) -> Bool) {
        forget(all.filter { condition($0) && $0.end() }, core)
    }

    /// Ends them all, without a word: the process leaves, and takes its rows along.
    func endAll(_ core: NamespaceCore) {
        let ended = all.filter { $0.end() }
        take(ended)
        if !ended.isEmpty { BellRoom.shared.end(core, users: ended.count) }
    }

    private func forget(_ observers: [Observer], _ core: NamespaceCore) {
        guard !observers.isEmpty else { return }
        take(observers)
        removeRows(observers.map(\.row), of: core)
    }

    private func take(_ observers: [Observer]) {
        // Returned, so that they are released outside the lock.
        _ = state.withLock { state in
            observers.map { observer in
                state.index.remove(observer)
                return state.entries.removeValue(forKey: observer.id)
            }
        }
    }

    /// Takes rows out of `watchers`, and hears the bell for them no longer.
    ///
    /// The gate is not waited for: this may be a deinit, or a handler on the thread that listens for all. What can't be removed
    /// now is tried again at the ticks, for which the namespace stays listened to.
    private func removeRows(_ rows: [UInt64], of core: NamespaceCore) {
        do throws(SpaceError) {
            try core.removeWatchers(rows)
        } catch {
            // Dead, left, or a parent's: there is nothing to remove.
            if core.isUsable { return state.withLock { $0.rows += rows } }
        }
        BellRoom.shared.end(core, users: rows.count)
    }

    // MARK: Reading

    /// The bell rang, or may have: reads a batch, and starts those whom it concerns.
    ///
    /// One thread at a time does it; another that comes meanwhile has it look again.
    func hear(_ core: NamespaceCore) {
        let mayRead = state.withLock { state in
            if state.isReading {
                state.mustReadAgain = true
                return false
            }
            state.isReading = !state.entries.isEmpty
            return state.isReading
        }
        guard mayRead else { return }
        var goesOn = false
        repeat {
            goesOn = look(core)
        } while state.withLock { state in
            defer { state.mustReadAgain = false }
            state.isReading = state.mustReadAgain
            return state.isReading
        }
        // After those who were started now.
        if goesOn { BellRoom.shared.crew.post { self.hear(core) } }
    }

    /// Returns: Whether there may be more.
    private func look(_ core: NamespaceCore) -> Bool {
        let (position, index) = state.withLock { ($0.position, $0.index) }
        let transaction = core.environment.lastTransaction
        // Before the look: nothing is committed once this is set, so a look after it sees all that there will be.
        let isLastLook = core.control.dead.load() != 0
        var concerned: [UInt64: [Observer]] = [:]
        do throws(SpaceError) {
            let (changes, reached) = try read(core, after: position) { (row) throws(TupleCodingError) in
                let observers = whom(row, in: index)
                guard !observers.isEmpty else { return nil }
                concerned[row.sequence] = observers
                return try row.change(withValues: observers.contains(where: \.wantsValues))
            }
            distribute(changes, concerned, reached, transaction, core)
            if isLastLook, reached == position { announceEnd(core) }
            // More than a batch; or else what was committed since.
            if reached != position, isLastLook || core.control.sequence.load() > reached { return true }
            return hasNews(core, since: transaction)
        } catch  where error.code == .namespaceDeleted {
            announceEnd(core)
        } catch  where error.code == .closed || error.code == .forked {
            endAll(core)
        } catch  where error.code == .damaged {
            for observer in all {
                observer.report(error)
                end(observer, of: core)
            }
        } catch {}
        return false
    }

    /// Whether anything was committed since a transaction; if not, the next writer with news rings.
    private func hasNews(_ core: NamespaceCore, since transaction: Int) -> Bool {
        if core.environment.lastTransaction != transaction { return true }
        core.awaitBell()
        return core.environment.lastTransaction != transaction
    }

    private func read(
        _ core: NamespaceCore,
        after position: UInt64,
        decode: (JournalRow) throws(TupleCodingError) -> Change?
    ) throws(SpaceError) -> (changes: [Change], reached: UInt64) {
        try reading.withLock { (_) throws(SpaceError) in try core.readJournal(after: position, decode: decode) }
    }

    private func whom(_ row: JournalRow, in index: ObserverIndex) -> [Observer] {
        var observers: [Observer] = []
        var asked = 0
        index.forEachCandidate(of: row) { observer in
            asked += 1
            if observer.filter.includes(row) { observers.append(observer) }
        }
        evaluations.add(asked, ordering: .relaxed)
        return observers
    }

    private func distribute(
        _ changes: [Change],
        _ concerned: [UInt64: [Observer]],
        _ reached: UInt64,
        _ transaction: Int,
        _ core: NamespaceCore
    ) {
        let started = state.withLock { state -> [(Observer, Observer.Batch)] in
            var batches: [UInt64: Observer.Batch] = [:]
            func give(_ change: Change, to id: UInt64) {
                guard let entry = state.entries[id], change.lastSequence > entry.position else { return }
                if entry.isRunning {
                    state.entries[id]?.owed = change.lastSequence
                } else {
                    batches[id, default: Observer.Batch()].changes.append(change)
                }
            }
            for change in changes {
                if change.kind == .gap {
                    for id in state.entries.keys { give(change, to: id) }
                } else {
                    for observer in concerned[change.sequence] ?? [] { give(change, to: observer.id) }
                }
            }
            state.position = max(state.position, reached)
            state.transaction = transaction
            for id in state.newcomers {
                guard let entry = state.entries[id], entry.position < reached else { continue }
                // The index that was asked may not have had it: it reads for itself.
                state.entries[id]?.owed = reached
                if !entry.isRunning { batches[id] = Observer.Batch() }
            }
            let newcomers = Set(state.newcomers)
            state.newcomers = []
            return batches.compactMap { (id, batch) in
                guard let observer = state.entries[id]?.observer else { return nil }
                state.entries[id]?.isRunning = true
                if !newcomers.contains(id) { state.entries[id]?.position = reached }
                return (observer, batch)
            }
        }
        for (observer, batch) in started { start(observer, batch, core, isCrew: true) }
    }

    /// The last of all; a gap before it where the journal could not be read to its end, for want of a reader.
    private func announceEnd(_ core: NamespaceCore) {
        let started = state.withLock { state -> [(Observer, Observer.Batch)] in
            guard !state.isGone else { return [] }
            state.isGone = true
            state.last = max(state.position, core.control.sequence.load())
            let (position, last) = (state.position, state.last)
            return state.entries.compactMap { (id, entry) in
                guard !entry.isRunning else { return nil }
                state.entries[id]?.isRunning = true
                return (entry.observer, Self.end(after: max(position, entry.position), last))
            }
        }
        for (observer, batch) in started { start(observer, batch, core, isCrew: true) }
    }

    private static func end(after position: UInt64, _ last: UInt64) -> Observer.Batch {
        let gap = last > position ? [Change(gapFrom: position + 1, to: last)] : []
        return Observer.Batch(changes: gap + [Change(gone: last)], isLast: true)
    }

    // MARK: Running

    /// Has a batch delivered, and then what has come meanwhile.
    private func start(_ observer: Observer, _ batch: Observer.Batch, _ core: NamespaceCore, isCrew: Bool) {
        observer.deliver(batch, by: BellRoom.shared.crew, isCrew: isCrew) { [self] in
            if batch.isLast || observer.isGone { return end(observer, of: core) }
            // On a task's thread, or a queue's, the next batch is submitted; on the crew's it comes after what waits there.
            if let next = next(observer, core) { start(observer, next, core, isCrew: false) }
        }
    }

    /// What a running observer has to be told next; `nil`: it follows again, or has ended.
    private func next(_ observer: Observer, _ core: NamespaceCore) -> Observer.Batch? {
        while observer.isActive {
            let turn = state.withLock { state -> Turn in
                guard let entry = state.entries[observer.id] else { return .none }
                if entry.owed > entry.position { return .read(after: entry.position) }
                if state.isGone { return .end(Self.end(after: max(entry.position, state.position), state.last)) }
                state.entries[observer.id]?.isRunning = false
                return .none
            }
            let position: UInt64
            switch turn {
            case .none: return nil
            case .end(let batch): return batch
            case .read(let after): position = after
            }
            do throws(SpaceError) {
                let (changes, reached) = try read(core, after: position) { (row) throws(TupleCodingError) in
                    evaluations.add(1, ordering: .relaxed)
                    guard observer.filter.includes(row) else { return nil }
                    return try row.change(withValues: observer.wantsValues)
                }
                state.withLock { $0.entries[observer.id]?.position = reached }
                if !changes.isEmpty { return Observer.Batch(changes: changes) }
                if reached == position {
                    // The hub saw more than this look: its reader is behind by a commit. The tick looks again.
                    return stall(observer)
                }
            } catch  where error.code == .namespaceDeleted {
                return Self.end(after: position, max(position, core.control.sequence.load()))
            } catch  where error.code == .closed || error.code == .forked {
                return nil
            } catch  where error.code == .damaged {
                observer.report(error)
                end(observer, of: core)
                return nil
            } catch {
                return stall(observer)
            }
        }
        return nil
    }

    private enum Turn {
        case none
        case read(after: UInt64)
        case end(Observer.Batch)
    }

    private func stall(_ observer: Observer) -> Observer.Batch? {
        state.withLock { $0.stalled.append(observer.id) }
        return nil
    }

    // MARK: The tick

    /// Looks for what no bell told, for objects that have gone, and for what could not be done before.
    func tick(_ core: NamespaceCore) {
        // A job, since the handle may go with the last observation, and with it the namespace.
        if all.contains(where: \.isGone) { BellRoom.shared.crew.post { self.end(core) { $0.isGone } } }
        let (rows, stalled, mustLook) = state.withLock { state in
            defer { (state.rows, state.stalled) = ([], []) }
            return (
                state.rows, state.stalled.compactMap { state.entries[$0]?.observer },
                state.transaction != core.environment.lastTransaction || !core.isUsable
            )
        }
        if !rows.isEmpty { removeRows(rows, of: core) }
        for observer in stalled { start(observer, Observer.Batch(), core, isCrew: true) }
        if mustLook { hear(core) }
    }
}

extension NamespaceCore {
    /// Removes registrations of this process, all in one transaction.
    func removeWatchers(_ numbers: [UInt64]) throws(SpaceError) {
        try write(
            "stop observing",
            .removing(numbers.count, bytes: 1024 * numbers.count),
            timeout: Self.upkeepPatience
        ) { (scope) throws(SpaceError) in
            for number in numbers { try scope.remove(watcher: number) }
        }
    }
}
