package import ClusterStore
package import SpaceEngine
import SpaceMachines
import SpaceSystem
import Synchronization

/// The daemon of a root: makes the root's replicated namespaces the same as on all machines that have joined.
///
/// It serves one root, and one space of the store. It is a member of the cluster while it reaches the store; when it has
/// lost its lease, it becomes a new member, and its processes are told in between that the cluster is unavailable.
package final class ClusterDaemon: Sendable {
    private let makeStore: @Sendable () async throws -> any Store
    private let root: any ReplicaRoot
    private let machine: String
    private let keys: ClusterKeys
    /// What the root remembers once the daemon has joined.
    private let joined: JoinedSpace
    private let settings: ClusterSettings
    /// Whether it has been a member: what was right once may be right again.
    private let hasJoined = Atomic<Bool>(false)
    private let handler: RequestHandler

    /// - Parameters:
    ///   - root: The root.
    ///   - machine: The machine's name, for people; 1 to 255 bytes of UTF-8.
    ///   - prefix: What all keys in the store begin with.
    ///   - space: The space's name in the store.
    ///   - settings: The times and sizes.
    ///   - makeStore: Connects to the store; called again when a membership has ended.
    /// - Throws: `invalidArgument` if that is no name for a machine; `invalidName` if the prefix or the space's name can't be
    ///   part of a key.
    package init(
        root: any ReplicaRoot,
        machine: String,
        prefix: String,
        space: String,
        settings: ClusterSettings = ClusterSettings(),
        makeStore: @escaping @Sendable () async throws -> any Store
    ) throws(SpaceError) {
        let bytes = machine.utf8.count
        guard (1...MemberRow.mostNameBytes).contains(bytes) else {
            throw .badName("the machine's name", bytes: bytes, most: MemberRow.mostNameBytes)
        }
        self.root = root
        self.machine = machine
        keys = try ClusterKeys(prefix: prefix, space: space)
        joined = JoinedSpace(prefix: prefix, space: try NamespaceName(space))
        self.settings = settings
        self.makeStore = makeStore
        handler = RequestHandler(machine: machine, prefix: prefix, patience: settings.answerTime)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter report: Called when the daemon has become a member, each time that it is no longer a member or could
    ///   not become one, and now and then with the store's troubles.
    /// - Throws: `holderBusy` if another daemon serves the root; `invalidArgument` if `makeStore` says so before the daemon
    ///   has joined for the first time; errors of the root's folder, also if it is removed or moved away. A store that can't
    ///   be reached is tried again.
    package func run(report: @escaping @Sendable (DaemonNews) -> Void = { _ in }) async throws {
        try await withTaskExecutorPreference(TaskHome.daemon.thread) { try await serve(report) }
    }

    private func serve(_ report: @escaping @Sendable (DaemonNews) -> Void) async throws {
        let folder = try ClusterFolder.open(root: root.path)
        let server = try SocketServer(
            folder.listen(),
            owner: folder.owner,
            settings: settings,
            answering: handler
        )
        let (place, interval) = (try folder.place(), settings.lookInterval)
        try server.start()
        let refusal = await withTaskGroup(of: SpaceError?.self) { group in
            group.addTask { await self.join(report) }
            group.addTask { await place.waitUntilLost(lookingEvery: interval) }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        await server.end()
        folder.removeSocket()
        if let refusal { throw refusal }
    }

    /// Joins as a member, and as a new member whenever a membership has ended, until the task is cancelled.
    ///
    /// - Returns: Why the store's arguments are wrong, if they are.
    private func join(_ report: @escaping @Sendable (DaemonNews) -> Void) async -> SpaceError? {
        var pause = Pause(settings)
        /// Why the daemon is no member, if it was tried.
        var apart: String?
        while !Task.isCancelled {
            let began = MonotonicInstant.now
            let store = await connect()
            if case .failure(let error as SpaceError) = store, error.code == .invalidArgument,
                !hasJoined.load(ordering: .relaxed)
            {
                return error
            }
            // The reason is reported only now: if the arguments were the reason, nothing is tried again.
            if let apart { report(.apart(apart)) }
            apart = "its membership has ended"
            do {
                try await live(with: store.get()) { word in
                    if word == .joined { self.hasJoined.store(true, ordering: .relaxed) }
                    report(word)
                }
            } catch {
                let reason = Self.told(error)
                apart = reason
                handler.serve(nil, Self.reasonApart(error))
            }
            if began.advanced(by: settings.longestPause).hasPassed { pause.reset() }
            await pause.wait()
        }
        return nil
    }

    private func connect() async -> Result<any Store, any Error> {
        do { return .success(try await makeStore()) } catch { return .failure(error) }
    }

    /// Is one member.
    private func live(with store: any Store, _ report: @escaping @Sendable (DaemonNews) -> Void) async throws {
        let value = MemberValue(machine: machine, place: try Registrar.place(of: root.path))
        let registrar = Registrar(store: store, keys: keys, settings: settings, value: value)
        let membership = try await registrar.register()
        do {
            // Before a process can have heard that a name is free.
            try joined.remember(inRoot: root.path)
        } catch {
            await end(membership, store)
            throw error
        }
        let session = ClusterSession(
            store: store,
            keys: keys,
            root: root,
            settings: settings,
            registrar: registrar,
            membership: membership,
            news: handler.news
        )
        do {
            // An earlier daemon's pen must be gone before a process gets an answer.
            try await registrar.endPredecessors(of: membership)
            handler.serve(session)
            try await session.run(report)
        } catch {
            // To end the lease may take a while, if the store does not answer.
            handler.serve(nil, Self.reasonApart(error))
            await end(membership, store)
            throw error
        }
        handler.serve(nil, "the daemon joins the cluster again")
        await end(membership, store)
    }

    /// Ends the member's lease at once: the other machines need not wait for its time.
    ///
    /// The owners' lease stays until its time has passed: the daemon may only be started again.
    private func end(_ membership: Membership, _ store: any Store) async {
        // A task of its own: this one may be cancelled.
        await TaskHome.daemon.start { try? await store.end(membership.lease) }.value
    }

    /// Why processes get no answer.
    private static func reasonApart(_ error: any Error) -> String {
        "the daemon does not reach the cluster: \(told(error))"
    }

    private static func told(_ error: any Error) -> String {
        switch error {
        case let error as StoreError: error.told
        case let error as Registrar.Failure: error.told
        case let error as SpaceError: error.reason
        case let error as Registrar.LeaseLost: error.told
        default: "\(error)"
        }
    }
}
