import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// Reading the journal for all observers at once, and giving them what concerns them.
extension ObservationHub {
    /// The bell rang, or may have: reads a batch, and starts those whom it concerns.
    ///
    /// One thread at a time does it; another that comes meanwhile has it look again.
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
        // After those who were started now.
        if goesOn { EventLoop.shared.crew.post { self.hear(core) } }
    }

    /// Returns: Whether there may be more.
    private func look(_ core: NamespaceCore) -> Bool {
        let (position, index) = state.withLock { ($0.position, $0.index) }
        let transaction = core.environment.lastTransaction
        // Before the look: nothing is committed once this is set, so a look after it sees all that there will be.
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
            // More than a batch; or else what was committed since.
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

    /// Whether anything was committed since a transaction; if not, the next writer with news rings.
    private func hasNews(_ core: NamespaceCore, since transaction: Int) -> Bool {
        if core.environment.lastTransaction != transaction { return true }
        core.engine.awaitSignal()
        return core.environment.lastTransaction != transaction
    }

    package func read(
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
        noteEvaluations(asked)
        return observers
    }

    /// Gives changes to those whom they concern, and starts those who follow; a gap concerns all.
    ///
    /// `concerned`: In the order of the changes, which are theirs and, in between, gaps.
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
                // The index that was asked may not have had it: it reads for itself.
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
    }

    /// The last of all; a gap before it where the journal could not be read to its end, for want of a reader.
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
