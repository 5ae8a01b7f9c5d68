import Glibc
import SpaceEngine
import SpaceMachines
import SpaceSystem
import Synchronization

/// Answers processes: finds the namespace that a connection named, and asks it.
final class RequestHandler: RequestAnswering {
    private struct State {
        var session: ClusterSession?
        /// Why there is no session.
        var why = "the daemon has not reached the cluster yet"
    }

    private let machine: String
    private let prefix: String
    private let patience: Duration
    private let state = Mutex(State())
    /// Nudged when there is another session, or the session knows another namespace.
    let news = Nudge()

    /// - Parameters:
    ///   - machine: This machine's name, for reports.
    ///   - prefix: What all keys in the store begin with, for reports.
    ///   - patience: How long a process that wants to write waits until this machine takes part in the namespace.
    init(machine: String, prefix: String, patience: Duration) {
        self.machine = machine
        self.prefix = prefix
        self.patience = patience
    }

    /// From now on this session answers; without one, this is why.
    func serve(_ session: ClusterSession?, _ why: String = "") {
        state.withLock { $0 = State(session: session, why: why) }
        news.nudge()
    }

    func answer(_ request: DaemonRequest, of caller: Caller) async -> DaemonAnswer? {
        let (session, why) = state.withLock { ($0.session, $0.why) }
        if case .hello(let life, let name) = request {
            caller.subject.withLock { $0 = Caller.Subject(name: name, life: life) }
        }
        switch request {
        case .release:
            await ended(caller)
            return nil
        case .report: return .report(await report(to: caller, session, why).json)
        default: break
        }
        guard let subject = caller.subject.withLock({ $0 }) else { return .refused("no hello came before") }
        switch request {
        case .hello: return hello(subject, session, why)
        case .replicate:
            guard let name = try? NamespaceName(subject.name) else { return .gone }
            return await session?.replicate(name) ?? .unavailable(why)
        // These hold no lock, so they may wait.
        case .arrive: return await withNamespace(of: subject) { await $0.arrive(until: $1) }
        case .delete: return await withNamespace(of: subject) { namespace, _ in await namespace.delete() }
        default: break
        }
        switch (find(subject), request) {
        case (.namespace(let namespace), .own): return await namespace.own()
        case (.namespace(let namespace), .operate(let operation)):
            return await namespace.execute(operation, of: caller)
        case (.namespace(let namespace), _): return await namespace.appender.answer(request, of: caller.use)
        case (.gone, _): return .gone
        case (.notYet(let why), .pen), (.notYet(let why), .operate): return .joining(why)
        case (.notYet(let why), _): return .unavailable(why)
        }
    }

    /// Greets a process; what it asks for next may wait until this machine takes part.
    private func hello(_ subject: Caller.Subject, _ session: ClusterSession?, _ why: String) -> DaemonAnswer {
        if subject.name.isEmpty {
            return session.map { .welcome(member: $0.membership.number) } ?? .unavailable(why)
        }
        guard let name = try? NamespaceName(subject.name) else { return .gone }
        // The process has no namespace of this name, and is about to make one.
        if subject.life == 0 {
            guard let session else { return .unavailable(why) }
            guard let isShared = session.knows(name) else {
                return .unavailable("the daemon has not read yet which namespaces the machines share")
            }
            return isShared ? .taken : .welcome(member: session.membership.number)
        }
        guard let session else { return .welcome(member: 0) }
        return session.isGone(name, subject.life) ? .gone : .welcome(member: session.membership.number)
    }

    // MARK: The namespace of a process

    /// What this machine has of the namespace that a process means.
    private enum Finding {
        case namespace(LiveNamespace)
        case gone
        case notYet(String)
    }

    private func find(_ subject: Caller.Subject) -> Finding {
        let (session, why) = state.withLock { ($0.session, $0.why) }
        guard let name = try? NamespaceName(subject.name) else { return .gone }
        guard let session else { return .notYet(why) }
        if let namespace = session.namespace(name), namespace.keys.life.number == subject.life {
            return .namespace(namespace)
        }
        if session.isGone(name, subject.life) { return .gone }
        return .notYet("the daemon has not joined the namespace yet")
    }

    /// Waits until this machine has a process's namespace, and asks it.
    ///
    /// - Parameters:
    ///   - subject: What the process means.
    ///   - body: Asks the namespace, until a moment; `nil` if the machine has left it meanwhile.
    /// - Returns: The answer.
    private func withNamespace(
        of subject: Caller.Subject,
        _ body: (LiveNamespace, MonotonicInstant) async -> DaemonAnswer?
    ) async -> DaemonAnswer {
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while true {
            let seen = news.count
            let finding = find(subject)
            if case .gone = finding { return .gone }
            if case .namespace(let namespace) = finding, let answer = await body(namespace, deadline) { return answer }
            guard !deadline.hasPassed, !Task.isCancelled else {
                if case .notYet(let why) = finding { return .unavailable(why) }
                return .unavailable("the daemon has not joined the namespace yet")
            }
            await news.wait(after: seen, until: deadline)
        }
    }

    private func report(to caller: Caller, _ session: ClusterSession?, _ why: String) async -> ClusterReport {
        let name = caller.subject.withLock { $0?.name } ?? ""
        async let store = session?.storeState()
        async let members = session?.members()
        async let aside = session?.copiesAside()
        async let namespaces = session?.reports(of: name.isEmpty ? nil : try? NamespaceName(name))
        return ClusterReport(
            machine: machine,
            member: session?.membership.number,
            pid: getpid(),
            prefix: prefix,
            since: session?.registrar.contact.since,
            trouble: session == nil ? why : nil,
            store: await store,
            members: await members,
            aside: await aside,
            namespaces: await namespaces ?? []
        )
    }

    func ended(_ caller: Caller) async {
        guard let subject = caller.subject.withLock({ $0 }), case .namespace(let namespace) = find(subject) else {
            return
        }
        await namespace.appender.endUse(caller.use)
    }
}
