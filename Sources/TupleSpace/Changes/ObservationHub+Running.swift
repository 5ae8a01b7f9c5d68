import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// Running observers: one batch after the other, each read when the handler has returned from the one before.
extension ObservationHub {
    /// Has a batch delivered, and then what has come meanwhile.
    package func start(_ observer: Observer, _ batch: Observer.Batch, _ core: NamespaceCore, isCrew: Bool) {
        observer.deliver(batch, by: EventLoop.shared.crew, isCrew: isCrew) { [self, isLast = batch.isLast] in
            if isLast || observer.isGone { return end(observer, of: core) }
            // On a task's thread, or a queue's, the next batch is submitted; on the crew's it comes after what waits there.
            if let next = next(observer, core) { start(observer, next, core, isCrew: false) }
        }
    }

    /// What a running observer has to be told next; `nil`: it follows again, or has ended.
    package func next(_ observer: Observer, _ core: NamespaceCore) -> Observer.Batch? {
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
                    // The hub saw more than this look: its reader is behind by a commit. The tick looks again.
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
        /// What was there when it registered.
        case present(PresentState)
        /// What came after a change while it was running.
        case read(after: UInt64)
        case end(Observer.Batch)
    }

    private func turn(of observer: Observer) -> Turn {
        state.withLock { state in
            guard let entry = state.entries[observer.id] else { return .none }
            if let present = entry.present { return .present(present) }
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

    /// Reads a slice of what was there.
    ///
    /// With the reader that serves all, so that none is missing should the namespace be deleted meanwhile: the others are held up
    /// for a slice at most.
    private func read(_ part: PresentState, for observer: Observer, _ core: NamespaceCore) throws(SpaceError)
        -> [Change]
    {
        var part = part
        var changes = try reading.withLock { (_) throws(SpaceError) in
            try core.read("observe", evenAfterDeletion: true) { (snapshot) throws(SpaceError) in
                try part.read(snapshot)
            }
        }
        if part.isDone, let key = observer.filter.wantedUnsetKey, !changes.contains(where: { $0.kind == .set }) {
            changes.append(Change(presentUnset: key, at: part.sequence))
        }
        state.withLock { state in
            guard let entry = state.entries[observer.id] else { return }
            entry.present = part.isDone ? nil : part
            // Looked through also where nothing has concerned it: what the journal has dropped meanwhile may be missing from
            // what it was told, and is to be said.
            if part.isDone { entry.owed = max(entry.owed, state.position) }
        }
        return changes
    }

    private func stall(_ observer: Observer) -> Observer.Batch? {
        state.withLock { $0.stalled.append(observer.id) }
        return nil
    }

    // MARK: The tick

    /// Looks for what no bell told, for objects that have gone, and for what could not be done before.
    package func tick(_ core: NamespaceCore) {
        // A job, since the handle may go with the last observation, and with it the namespace.
        if all.contains(where: \.isGone) { EventLoop.shared.crew.post { self.end(core) { $0.isGone } } }
        let (stalled, mustLook) = state.withLock { state in
            defer { state.stalled = [] }
            return (
                state.stalled.compactMap { state.entries[$0]?.observer },
                state.transaction != core.environment.lastTransaction || !core.isUsable
            )
        }
        for observer in stalled { start(observer, Observer.Batch(), core, isCrew: true) }
        if mustLook { hear(core) }
    }
}
