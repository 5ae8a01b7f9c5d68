import SpaceSystem
import Synchronization

/// Running observers: an observer reads its next batch after its handler has returned from the one before.
extension ObservationHub {
    /// Has a batch delivered, and after it the changes that have arrived in the meantime.
    package func start(_ observer: Observer, _ batch: Observer.Batch, _ core: NamespaceCore, isCrew: Bool) {
        observer.deliver(batch, by: EventLoop.shared.handlers, isCrew: isCrew) { [self, isLast = batch.isLast] in
            if isLast || observer.isGone { return end(observer, of: core) }
            // On a task's thread or a queue's, the next batch is submitted to the handler threads; on one of those,
            // it comes after the jobs that wait there.
            if let next = next(observer, core) { start(observer, next, core, isCrew: false) }
        }
    }

    /// The next batch of a running observer; `nil` if it follows again or has ended.
    package func next(_ observer: Observer, _ core: NamespaceCore) -> Observer.Batch? {
        defer { resumeSettled() }
        while observer.isActive {
            do throws(SpaceError) {
                let changes: [Change]
                switch turn(of: observer) {
                case .none: return nil
                case .end(let batch): return batch
                case .present(let part): changes = try read(part, for: observer, core)
                case .read(let position):
                    let reached: UInt64
                    (changes, reached) = try read(after: position, for: observer, core)
                    // The hub has read further than this read saw: the reader is behind by a commit. The tick looks
                    // again.
                    if changes.isEmpty, reached == position { return stall(observer) }
                }
                if !changes.isEmpty { return Observer.Batch(changes: changes) }
            } catch  where error.code == .namespaceDeleted {
                let last = core.control.sequence.load()
                let position = state.withLock { $0.entries[observer.id]?.position } ?? last
                return Self.end(after: position, max(position, last))
            } catch  where error.code == .closed || error.code == .forked {
                return nil
            } catch  where error.code == .damaged {
                observer.report(error.named("observe", core.name.text))
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
        /// A slice of the initial contents.
        case present(PresentState)
        /// The changes after a position, which came while the observer was running.
        case read(after: UInt64)
        case end(Observer.Batch)
    }

    private func turn(of observer: Observer) -> Turn {
        state.withLock { state in
            guard let entry = state.entries[observer.id] else { return .none }
            if let present = entry.present { return .present(present) }
            // The batch before has been handled.
            entry.handled = entry.position
            if entry.owed > entry.position { return .read(after: entry.position) }
            if state.isGone { return .end(Self.end(after: max(entry.position, state.position), state.last)) }
            state.entries[observer.id]?.isRunning = false
            return .none
        }
    }

    private func read(
        after position: UInt64,
        for observer: Observer,
        _ core: NamespaceCore
    ) throws(SpaceError) -> (changes: [Change], reached: UInt64) {
        let batch = try read(core, after: position) { (row) throws(TupleCodingError) in
            noteEvaluations(1)
            guard observer.filter.includes(row) else { return nil }
            return try row.change(withValues: observer.wantsValues)
        }
        state.withLock { $0.entries[observer.id]?.position = batch.reached }
        return batch
    }

    /// Reads a slice of the initial contents.
    ///
    /// It uses the reader that serves all observers, so that nothing is missing if the namespace is deleted in the
    /// meantime. The other observers wait for one slice at most.
    private func read(_ part: PresentState, for observer: Observer, _ core: NamespaceCore) throws(SpaceError)
        -> [Change]
    {
        var part = part
        var changes = try reading.withLock { (_) throws(SpaceError) in
            try core.read(evenAfterDeletion: true) { (snapshot) throws(SpaceError) in
                try part.read(snapshot)
            }
        }
        if part.isDone, let key = observer.filter.wantedUnsetKey, !changes.contains(where: { $0.kind == .set }) {
            changes.append(Change(presentUnset: key, at: part.sequence))
        }
        state.withLock { state in
            guard let entry = state.entries[observer.id] else { return }
            entry.present = part.isDone ? nil : part
            // The journal is also read if none of its changes concerned the observer: rows that it has dropped in the
            // meantime may be missing from what the observer received, and a gap must say so.
            if part.isDone { entry.owed = max(entry.owed, state.position) }
        }
        return changes
    }

    private func stall(_ observer: Observer) -> Observer.Batch? {
        state.withLock { $0.stalled.append(observer.id) }
        return nil
    }

    // MARK: The tick

    /// Looks for changes without a signal, for objects that are gone, and for work that failed before.
    package func tick(_ core: NamespaceCore) {
        // The end runs in a job: the handle may be released with the last observation, and the namespace with it.
        if all.contains(where: \.isGone) { EventLoop.shared.handlers.post { self.end(core) { $0.isGone } } }
        let (stalled, mustLook) = state.withLock { state in
            defer { state.stalled = [] }
            return (
                state.stalled.compactMap { state.entries[$0]?.observer },
                state.transaction != core.engine.lastChange || !core.isUsable
            )
        }
        for observer in stalled { start(observer, Observer.Batch(), core, isCrew: true) }
        if mustLook { hear(core) }
    }

    /// Swift on Linux reports no object's end, so observations for an object need ticks.
    package var needsTicks: Bool {
        state.withLock {
            !$0.stalled.isEmpty || !$0.settling.isEmpty || $0.entries.values.contains { $0.observer.subject != nil }
        }
    }
}
