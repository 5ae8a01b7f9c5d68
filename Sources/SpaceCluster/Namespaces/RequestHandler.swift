import ClusterStore
import Glibc
import SpaceEngine
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

    var session: ClusterSession? { state.withLock { $0.session } }

    func answer(_ request: DaemonRequest, of caller: Caller) async -> DaemonAnswer? {
        let (session, why) = state.withLock { ($0.session, $0.why) }
        if case .hello(let life, let name) = request {
            caller.subject.withLock { $0 = Caller.Subject(name: name, life: life) }
        }
        if request == .release || request == .waiting {
            if let session, let namespace = namespace(of: caller, session) {
                if request == .waiting { namespace.waits.nudge() } else { await namespace.appender.endUse(caller.use) }
            }
            return nil
        }
        if request == .report { return .report(await report(to: caller, session, why).json) }
        guard let subject = caller.subject.withLock({ $0 }) else { return .refused("no hello came before") }
        if case .hello = request, !subject.name.isEmpty { return hello(subject, session) }
        if request == .arrive { return await arrive(subject) }
        guard let session else {
            switch request {
            case .pen, .operate: return .joining(why)
            default: return .unavailable(why)
            }
        }
        return await answer(request, of: caller, subject, session)
    }

    /// Greets a process; what it asks for next may wait until this machine takes part.
    private func hello(_ subject: Caller.Subject, _ session: ClusterSession?) -> DaemonAnswer {
        guard let name = try? NamespaceName(subject.name) else { return .gone }
        guard let session else { return .welcome(member: 0) }
        // The process has no namespace of this name, and is about to make one.
        if subject.life == 0 { return session.knows(name) ? .taken : .welcome(member: session.membership.number) }
        return session.isGone(name, subject.life) ? .gone : .welcome(member: session.membership.number)
    }

    /// Waits until this machine takes part in a namespace, and can write.
    private func arrive(_ subject: Caller.Subject) async -> DaemonAnswer {
        guard let name = try? NamespaceName(subject.name) else { return .gone }
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while true {
            let seen = news.count
            let (session, why) = state.withLock { ($0.session, $0.why) }
            if let session {
                if let namespace = session.namespace(name), namespace.keys.life.number == subject.life {
                    if let answer = await namespace.arrive(until: deadline) { return answer }
                } else if session.isGone(name, subject.life) {
                    return .gone
                }
            }
            guard !deadline.hasPassed, !Task.isCancelled else {
                return .unavailable(session == nil ? why : "the daemon has not joined the namespace yet")
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

    private func answer(
        _ request: DaemonRequest,
        of caller: Caller,
        _ subject: Caller.Subject,
        _ session: ClusterSession
    ) async -> DaemonAnswer? {
        if subject.name.isEmpty, case .hello = request { return .welcome(member: session.membership.number) }
        guard let name = try? NamespaceName(subject.name) else { return .gone }
        if request == .replicate { return await session.replicate(name) }
        guard let namespace = session.namespace(name), namespace.keys.life.number == subject.life else {
            if session.isGone(name, subject.life) { return .gone }
            let why = "the daemon has not joined the namespace yet"
            switch request {
            case .pen, .operate: return .joining(why)
            default: return .unavailable(why)
            }
        }
        switch request {
        case .pen, .entries, .append, .head: return await namespace.appender.answer(request, of: caller.use)
        case .release, .waiting: return .refused("the request has no answer")
        case .operate(let operation): return await namespace.execute(operation, of: caller)
        case .own: return await namespace.own()
        case .delete: return await namespace.delete()
        case .hello, .arrive, .replicate, .report: return .refused("the request has been answered before")
        }
    }

    func ended(_ caller: Caller) async {
        guard let session, let namespace = namespace(of: caller, session) else { return }
        await namespace.appender.endUse(caller.use)
    }

    private func namespace(of caller: Caller, _ session: ClusterSession) -> LiveNamespace? {
        guard let subject = caller.subject.withLock({ $0 }), let name = try? NamespaceName(subject.name) else {
            return nil
        }
        return session.namespace(name)
    }
}
