import SpaceSystem
import Synchronization

/// Reading the journal once for all observers, and giving each observer the changes that concern it.
extension ObservationHub {
    /// Reads a batch after a change signal, or in case one was lost, and starts the observers that it concerns.
    ///
    /// One thread at a time does this; if another thread calls it in the meantime, the first one looks again.
    package func hear(_ core: NamespaceCore) {
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
        // The job runs after the observers that were started now.
        if goesOn { EventLoop.shared.handlers.post { self.hear(core) } }
    }

    /// Reads one batch; returns whether there may be more.
    private func look(_ core: NamespaceCore) -> Bool {
        let (position, index) = state.withLock { ($0.position, $0.index) }
        let transaction = core.engine.lastChange
        // Loaded before the read: no process commits once this flag is set, so a read after it sees everything.
        let isLastLook = core.control.dead.load() != 0
        var concerned: [(sequence: UInt64, observers: [Observer])] = []
        do throws(SpaceError) {
            let (changes, reached) = try read(core, after: position) { (row) throws(TupleCodingError) in
                let observers = whom(row, in: index)
                guard !observers.isEmpty else { return nil }
                concerned.append((row.sequence, observers))
                return try row.change(withValues: observers.contains(where: \.wantsValues))
            }
            distribute(changes, concerned, reached, transaction, core)
            if isLastLook, reached == position { announceEnd(core) }
            // There is more than a batch, or a process has committed since.
            if reached != position, isLastLook || core.control.sequence.load() > reached { return true }
            return hasNews(core, since: transaction)
        } catch  where error.code == .namespaceDeleted {
            announceEnd(core)
        } catch  where error.code == .closed || error.code == .forked {
            endAll(of: core)
        } catch  where error.code == .damaged {
            for observer in all {
                observer.report(error)
                end(observer, of: core)
            }
        } catch {}
        return false
    }

    /// Whether a process has committed since a transaction; if not, the next writer with news signals the change.
    private func hasNews(_ core: NamespaceCore, since transaction: Int) -> Bool {
        if core.engine.lastChange != transaction { return true }
        core.engine.changeSignal.request(in: core.engine.control)
        return core.engine.lastChange != transaction
    }

    package func read(
        _ core: NamespaceCore,
        after position: UInt64,
        decode: (JournalRow) throws(TupleCodingError) -> Change?
    ) throws(SpaceError) -> (changes: [Change], reached: UInt64) {
        try reading.withLock { (_) throws(SpaceError) in try core.journal.readJournal(after: position, decode: decode) }
    }

    private func whom(_ row: JournalRow, in index: ObserverIndex) -> [Observer] {
        var observers: [Observer] = []
        var asked = 0
        index.forEachCandidate(of: row) { observer in
            asked += 1
            if observer.filter.includes(row) { observers.append(observer) }
        }
        noteEvaluations(asked)
        return observers
    }

    /// Gives changes to the observers that they concern, and starts those that follow; a gap concerns all observers.
    ///
    /// `concerned` is in the order of `changes`; a change without an entry there is a gap.
    private func distribute(
        _ changes: [Change],
        _ concerned: [(sequence: UInt64, observers: [Observer])],
        _ reached: UInt64,
        _ transaction: Int,
        _ core: NamespaceCore
    ) {
        let started = state.withLock { state -> [(Observer, Observer.Batch)] in
            state.position = max(state.position, reached)
            state.transaction = transaction
            var begun: [Entry] = []
            func begin(_ entry: Entry) {
                entry.isRunning = true
                begun.append(entry)
            }
            for id in state.newcomers {
                guard let entry = state.entries[id], entry.position < reached else { continue }
                // The index that was asked may not have contained this observer, so it reads these changes itself.
                entry.owed = reached
                if !entry.isRunning { begin(entry) }
            }
            state.newcomers = []
            func give(_ change: Change, to entry: Entry) {
                guard change.lastSequence > entry.position else { return }
                if entry.isRunning, entry.batch.changes.isEmpty {
                    entry.owed = max(entry.owed, change.lastSequence)
                } else {
                    if !entry.isRunning { begin(entry) }
                    entry.batch.changes.append(change)
                }
            }
            var next = concerned.startIndex
            for change in changes {
                if next < concerned.endIndex, concerned[next].sequence == change.sequence {
                    for observer in concerned[next].observers {
                        if let entry = state.entries[observer.id] { give(change, to: entry) }
                    }
                    next += 1
                } else {
                    for entry in state.entries.values { give(change, to: entry) }
                }
            }
            return begun.map { entry in
                if !entry.batch.changes.isEmpty { entry.position = reached }
                defer { entry.batch = Observer.Batch() }
                return (entry.observer, entry.batch)
            }
        }
        for (observer, batch) in started { start(observer, batch, core, isCrew: true) }
        resumeSettled()
    }

    /// Delivers the end to all, after a gap if there was no reader to read the journal to its end.
    private func announceEnd(_ core: NamespaceCore) {
        let started = state.withLock { state -> [(Observer, Observer.Batch)] in
            guard !state.isGone else { return [] }
            state.isGone = true
            state.last = max(state.position, core.control.sequence.load())
            let (position, last) = (state.position, state.last)
            return state.entries.values.compactMap { entry in
                guard !entry.isRunning else { return nil }
                entry.isRunning = true
                return (entry.observer, Self.end(after: max(position, entry.position), last))
            }
        }
        for (observer, batch) in started { start(observer, batch, core, isCrew: true) }
    }

    package static func end(after position: UInt64, _ last: UInt64) -> Observer.Batch {
        let gap = last > position ? [Change(gapFrom: position + 1, to: last)] : []
        return Observer.Batch(changes: gap + [Change(gone: last)], isLast: true)
    }
}
