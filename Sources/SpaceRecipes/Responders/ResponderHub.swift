import Synchronization

/// The responders of this process in one namespace: their waiting requests, their running ones, and the task that
/// listens.
///
/// Guarantees: a responder begins requests in the order in which it was asked, runs at most as many at the same time as
/// its `concurrency` allows, and begins each once. If a request is taken back, its handler is cancelled. If a responder
/// leaves before it has begun a request, that request is passed on. One task listens for all responders, as long as
/// there are any.
///
/// The rows in the database decide whether a responder may begin or answer a request (`NamespaceCore.begin`, `answer`).
/// The state kept here only says what this process does with a request that a responder of it has:
///
///     none → WAITING → BEGINNING → RUNNING → none
///
///     event                                moved by                from → to
///     a look finds the request             the listener            none → WAITING
///     fewer run than may                   the listener, a task    WAITING → BEGINNING: a task begins it
///     begin fails                          the request's task      BEGINNING → none, and looks again
///     begin succeeds                       the request's task      BEGINNING → RUNNING: the task runs the handler
///     a look finds it taken back           the listener            RUNNING stays, and its task is cancelled
///     the handler returns                  the request's task      RUNNING → none
///     the responder leaves the stack       the caller of `end`     WAITING → none: the request is passed on
///
/// Until a request is begun, it may go to a responder that registers in between, and come back when that one leaves. So
/// if a look does not find the request here, that does not show that the caller took it back; if the caller did, the
/// request can't be begun. A task that could not begin its request looks again, because a look in the meantime took the
/// request for known.
///
/// A responder that leaves is removed once none of its requests runs. A responder whose row has gone because this machine
/// has become another member of several is enrolled again, under a new position.
package final class ResponderHub: NamespacePart {
    private let state = Mutex(State())

    package init() {}

    private struct State {
        var entries: [ResponderPosition: Entry] = [:]
        /// The positions of responders that were enrolled again, by those that they had before.
        var successors: [ResponderPosition: ResponderPosition] = [:]
        var isListening = false

        /// The position that a responder has now.
        func present(_ position: ResponderPosition) -> ResponderPosition {
            var position = position
            while let next = successors[position] { position = next }
            return position
        }
    }

    private struct Entry {
        let responder: LocalResponder
        /// The session's number when it was enrolled.
        let session: UInt64
        var waiting: [Asking] = []
        /// By work number.
        var running: [UInt64: Running] = [:]
        /// Whether the responder has left the stack: then it begins nothing more.
        var isEnding = false

        /// Whether a work number waits or runs here, for its own request or for a request that has taken it over.
        func has(_ work: UInt64) -> Bool { running[work] != nil || waiting.contains { $0.work == work } }
    }

    private struct Running {
        let asking: Asking
        let task: Task<Void, Never>
        /// Whether the request is with this responder until it is answered or taken back.
        var hasBegun = false
        var isCancelled = false
    }

    // MARK: Coming and going

    package func add(_ responder: LocalResponder, to core: NamespaceCore) {
        let mustListen = state.withLock { state in
            state.entries[responder.position] = Entry(responder: responder, session: core.session.number)
            defer { state.isListening = true }
            return !state.isListening
        }
        guard !mustListen else {
            Task.detached { await self.listen(core) }
            return
        }
        // A request put between the commit of the responder's row and this entry has alerted no listener here.
        lookAgain(in: core)
    }

    package func isActive(_ position: ResponderPosition) -> Bool {
        state.withLock { $0.entries[$0.present(position)].map { !$0.isEnding } ?? false }
    }

    /// Takes a responder off the stack: at once if the responder is idle, or else when it has answered the requests
    /// that it has begun.
    package func end(_ position: ResponderPosition, of core: NamespaceCore) {
        let leaving = state.withLock {
            state -> (position: ResponderPosition, name: String, isIdle: Bool, waiting: [Asking])? in
            let position = state.present(position)
            guard var entry = state.entries[position], !entry.isEnding else { return nil }
            entry.isEnding = true
            let waiting = entry.waiting
            entry.waiting = []
            state.entries[position] = entry
            return (position, entry.responder.name, entry.running.isEmpty, waiting)
        }
        guard let leaving else { return }
        let position = leaving.position
        if leaving.isIdle { return remove(position, leaving.name, of: core) }
        core.letGo { core, patience throws(SpaceError) in
            _ = try core.responders.retire(to: leaving.name, timeout: patience) { $0.position == position }
            for asking in leaving.waiting { try core.requests.pass(asking, from: position, timeout: patience) }
        }
    }

    /// Takes the responders that were registered with a handle off their stacks.
    package func end(handle: ObjectIdentifier, of core: NamespaceCore) {
        let positions = state.withLock { state in
            state.entries.values.filter { $0.responder.isMade(with: handle) }.map(\.responder.position)
        }
        for position in positions { end(position, of: core) }
    }

    // MARK: The tick

    /// Takes the responders whose objects are gone off their stacks.
    package func tick(_ core: NamespaceCore) {
        let gone = state.withLock { $0.entries.values.filter { !$0.isEnding }.map(\.responder) }.filter(\.isGone)
        guard !gone.isEmpty else { return }
        // In a task: the last handle may be released with the last responder, and the namespace with it.
        Task.detached { for responder in gone { self.end(responder.position, of: core) } }
    }

    /// Swift on Linux reports no object's end, so responders for an object need ticks.
    package var needsTicks: Bool {
        state.withLock { $0.entries.values.contains { $0.responder.subject != nil && !$0.isEnding } }
    }

    private func remove(_ position: ResponderPosition, _ name: String, of core: NamespaceCore) {
        core.letGo { core, patience throws(SpaceError) in
            try core.responders.remove(position, of: name, timeout: patience)
            // The entry is released outside the lock, because the handler's captures and the handle may end with it. In
            // a deferred release, another task releases it, so that the thread that runs deferred releases is not held
            // up.
            let entry = self.state.withLock { $0.entries.removeValue(forKey: position) }
            if patience == nil { extendLifetime(entry) } else { Task.detached { extendLifetime(entry) } }
        }
    }

    // MARK: Listening

    private func listen(_ core: NamespaceCore) async {
        while true {
            do throws(SpaceError) {
                let news = try await core.waits.suspend(
                    Awaited.requests(of: core.session.number).interest,
                    text: { "requests" },
                    until: nil
                ) { (_) throws(SpaceError) in
                    try self.look(core).map { Found(result: $0, removed: nil) }
                }
                if let news {
                    act(on: news, in: core)
                    for position in news.ended { await enrolAgain(position, in: core) }
                }
            } catch {
                guard error.mayPass else { return forgetAll() }
                try? await Task.sleep(for: Limits.tick)
            }
            let isDone = state.withLock { state in
                state.isListening = !Self.isNobodyLeft(state.entries)
                return !state.isListening
            }
            if isDone { return }
        }
    }

    /// Whether no responder is left that answers or still has requests to answer.
    private static func isNobodyLeft(_ entries: [ResponderPosition: Entry]) -> Bool {
        entries.values.allSatisfy { $0.isEnding && $0.running.isEmpty }
    }

    /// Drops all entries: the namespace was left or deleted, so no request can come.
    private func forgetAll() {
        let entries = state.withLock { state in
            defer { state.entries = [:] }
            state.isListening = false
            return state.entries
        }
        for entry in entries.values { for running in entry.running.values { running.task.cancel() } }
    }

    /// What the rows show and the entries here don't know yet.
    struct News {
        var asked: [(ResponderPosition, Asking)] = []
        /// Requests put to a responder that begins nothing more.
        var unwanted: [(ResponderPosition, Asking)] = []
        var takenBack: [(ResponderPosition, work: UInt64)] = []
        /// Responders taken off the stack by another process, or replaced.
        var removed: [ResponderPosition] = []
        /// Responders whose rows have gone with the member of this machine.
        var ended: [ResponderPosition] = []
        var isNobodyLeft = false

        var isEmpty: Bool {
            asked.isEmpty && unwanted.isEmpty && takenBack.isEmpty && removed.isEmpty && ended.isEmpty && !isNobodyLeft
        }
    }

    /// Looks through the requests for news.
    ///
    /// The entries are copied before the rows are read, so a request that is answered during the look is not taken for
    /// a new one.
    func look(_ core: NamespaceCore) throws(SpaceError) -> News? {
        let entries = state.withLock { $0.entries }
        var news = News()
        news.isNobodyLeft = Self.isNobodyLeft(entries)
        try core.read { snapshot throws(SpaceError) in
            var stacks: [Name: ResponderStack] = [:]
            for name in Set(entries.values.map { Name($0.responder.name) }) {
                stacks[name] = try snapshot.responders(to: name.text)
            }
            for (position, entry) in entries where !entry.isEnding {
                let row = stacks[Name(entry.responder.name)]?.rows.first { $0.position == position }
                if row?.isRetired ?? true { news.removed.append(position) }
            }
            var present: [ResponderPosition: Set<UInt64>] = [:]
            try snapshot.forEachRequest { request throws(SpaceError) in
                guard request.isPending, let position = stacks[Name(request.name)]?.addressee(of: request)?.position,
                    let entry = entries[position]
                else { return }
                present[position, default: []].insert(request.work)
                guard !entry.has(request.work) else { return }
                let asking = Asking(ticket: request.ticket, work: request.work)
                if entry.isEnding {
                    news.unwanted.append((position, asking))
                } else {
                    news.asked.append((position, asking))
                }
            }
            for (position, entry) in entries {
                for (work, running) in entry.running
                where running.hasBegun && !running.isCancelled && !(present[position]?.contains(work) ?? false) {
                    news.takenBack.append((position, work))
                }
            }
        }
        news.ended = news.removed.filter { entries[$0].map { core.liveness.hasEnded(memberOf: $0.session) } ?? false }
        news.removed.removeAll { news.ended.contains($0) }
        return news.isEmpty ? nil : news
    }

    /// Enrols a responder again.
    private func enrolAgain(_ position: ResponderPosition, in core: NamespaceCore) async {
        guard let responder = state.withLock({ $0.entries[position]?.responder }) else { return }
        let enrolled = await persist { () throws(SpaceError) in
            try core.responders.enrol(responder.name, key: responder.key, isBase: responder.isBase)
        }
        guard let present = enrolled else { return end(position, of: core) }
        let (old, isLeaving) = state.withLock { state in
            let old = state.entries.removeValue(forKey: position)
            let isLeaving = old?.isEnding ?? true
            if !isLeaving {
                state.successors[position] = present
                state.entries[present] = Entry(responder: responder.moved(to: present), session: core.session.number)
            }
            return (old, isLeaving)
        }
        // Their requests were taken back with the row.
        for running in (old?.running ?? [:]).values { running.task.cancel() }
        guard isLeaving else { return }
        core.letGo { core, patience throws(SpaceError) in
            try core.responders.remove(present, of: responder.name, timeout: patience)
        }
    }

    /// Does what the listener does when it is woken, for news that came before it could be.
    private func lookAgain(in core: NamespaceCore) {
        if let news = (try? look(core)) ?? nil { act(on: news, in: core) }
    }

    func act(on news: News, in core: NamespaceCore) {
        var cancelled: [Task<Void, Never>] = []
        var unwanted = news.unwanted
        state.withLock { state in
            for (position, asking) in news.asked {
                // Two threads may have looked at the same time.
                guard let entry = state.entries[position], !entry.has(asking.work) else { continue }
                // The responder may have begun to end since the look: then it has passed on its waiting requests, and
                // this comes after that.
                if entry.isEnding {
                    unwanted.append((position, asking))
                } else {
                    state.entries[position]?.waiting.append(asking)
                }
            }
            for (position, work) in news.takenBack {
                guard let running = state.entries[position]?.running[work] else { continue }
                state.entries[position]?.running[work]?.isCancelled = true
                cancelled.append(running.task)
            }
        }
        for task in cancelled { task.cancel() }
        for position in news.removed { end(position, of: core) }
        for (position, asking) in unwanted {
            core.letGo { core, patience throws(SpaceError) in
                try core.requests.pass(asking, from: position, timeout: patience)
            }
        }
        for position in Set(news.asked.map(\.0)) { startWaiting(position, in: core) }
    }

    // MARK: Answering

    /// Begins waiting requests of a responder, up to its `concurrency`.
    private func startWaiting(_ position: ResponderPosition, in core: NamespaceCore) {
        state.withLock { state in
            guard var entry = state.entries[position], !entry.isEnding else { return }
            while entry.running.count < entry.responder.concurrency, !entry.waiting.isEmpty {
                let asking = entry.waiting.removeFirst()
                let responder = entry.responder
                let task = Task.detached { await self.answer(asking, by: responder, in: core) }
                entry.running[asking.work] = Running(asking: asking, task: task)
            }
            state.entries[position] = entry
        }
    }

    private func answer(_ asking: Asking, by responder: LocalResponder, in core: NamespaceCore) async {
        let request = await begin(asking, by: responder, in: core)
        if let request {
            let reply = await responder.reply(to: request)
            await persist { () throws(SpaceError) in
                // If the handle was left in the meantime, or the object is gone, the failure may be due to that: the
                // request goes to the next responder.
                if case .failure = reply, responder.hasLeft {
                    try core.requests.pass(asking, from: responder.position)
                } else {
                    try core.requests.answer(request, reply)
                }
            }
        }
        finish(asking, by: responder, in: core)
        if request == nil { lookAgain(in: core) }
    }

    private func begin(
        _ asking: Asking,
        by responder: LocalResponder,
        in core: NamespaceCore
    ) async -> IncomingRequest? {
        let position = responder.position
        let begun = await persist { () throws(SpaceError) in try core.requests.begin(asking, at: position) }
        guard let request = begun ?? nil else { return nil }
        state.withLock { $0.entries[position]?.running[asking.work]?.hasBegun = true }
        // A look from now on tells if it is taken back; this tells if it was taken back before.
        let isLeft = await persist { () throws(SpaceError) in try core.requests.isLeft(asking, with: position) }
        return isLeft ?? true ? request : nil
    }

    /// Tries until `body` succeeds, or fails for a reason that will not pass; `body` may be done twice.
    @discardableResult
    private func persist<R>(_ body: () throws(SpaceError) -> R) async -> R? {
        while true {
            do throws(SpaceError) {
                return try body()
            } catch {
                guard error.mayPassIfRepeated else { return nil }
                // This sleep must not be cancelled with the request: without an answer the asking process would wait
                // on.
                await Task.detached { try? await Task.sleep(for: Limits.tick) }.value
            }
        }
    }

    private func finish(_ asking: Asking, by responder: LocalResponder, in core: NamespaceCore) {
        let position = responder.position
        if responder.isGone { end(position, of: core) }
        let isDone = state.withLock { state in
            state.entries[position]?.running[asking.work] = nil
            return state.entries[position].map { $0.isEnding && $0.running.isEmpty } ?? false
        }
        if isDone { remove(position, responder.name, of: core) } else { startWaiting(position, in: core) }
    }
}

extension NamespaceCore {
    /// The responders of this process.
    package var responderHub: ResponderHub { parts[ResponderHub.self] }
}
