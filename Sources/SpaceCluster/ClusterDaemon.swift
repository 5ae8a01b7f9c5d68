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
    private let store: any Store
    private let root: any ReplicaRoot
    private let machine: String
    private let keys: ClusterKeys
    /// What the root remembers once the daemon has joined.
    private let joined: JoinedSpace
    private let settings: ClusterSettings
    private let handler: RequestHandler

    /// - Parameters:
    ///   - root: The root.
    ///   - machine: The machine's name, for people; 1 to 255 bytes of UTF-8.
    ///   - prefix: What all keys in the store begin with.
    ///   - space: The space's name in the store.
    ///   - settings: The times and sizes.
    ///   - store: The store that the machines share.
    /// - Throws: `invalidArgument` if that is no name for a machine; `invalidName` if the prefix or the space's name can't be
    ///   part of a key.
    package init(
        root: any ReplicaRoot,
        machine: String,
        prefix: String,
        space: String,
        settings: ClusterSettings = ClusterSettings(),
        store: any Store
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
        self.store = store
        handler = RequestHandler(machine: machine, prefix: prefix, patience: settings.answerTime)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter report: Called when the daemon has become a member, each time that it is no longer a member or could
    ///   not become one, and now and then with the store's troubles.
    /// - Throws: `holderBusy` if another daemon serves the root; errors of the root's folder, also if it is removed or moved
    ///   away. A store that can't be reached is tried again.
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
        let loss = await withTaskGroup(of: SpaceError?.self) { group in
            group.addTask {
                await self.join(report)
                return nil
            }
            group.addTask { await place.waitUntilLost(lookingEvery: interval) }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        await server.end()
        folder.removeSocket()
        if let loss { throw loss }
    }

    /// Joins as a member, and as a new member whenever a membership has ended, until the task is cancelled.
    private func join(_ report: @escaping @Sendable (DaemonNews) -> Void) async {
        var pause = Pause(settings)
        while !Task.isCancelled {
            let began = MonotonicInstant.now
            var reason = "its membership has ended"
            do { try await live(report) } catch {
                reason = Self.told(error)
                handler.serve(nil, Self.reasonApart(error))
            }
            if !Task.isCancelled { report(.apart(reason)) }
            if began.advanced(by: settings.longestPause).hasPassed { pause.reset() }
            await pause.wait()
        }
    }

    /// Is one member.
    private func live(_ report: @escaping @Sendable (DaemonNews) -> Void) async throws {
        let value = MemberValue(machine: machine, place: try Registrar.place(of: root.path))
        let registrar = Registrar(store: store, keys: keys, settings: settings, value: value)
        let membership = try await registrar.register()
        do {
            // Before a process can have heard that a name is free.
            try joined.remember(inRoot: root.path)
        } catch {
            await end(membership)
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
            await end(membership)
            throw error
        }
        handler.serve(nil, "the daemon joins the cluster again")
        await end(membership)
    }

    /// Ends the member's lease at once: the other machines need not wait for its time.
    ///
    /// The owners' lease stays until its time has passed: the daemon may only be started again.
    private func end(_ membership: Membership) async {
        // A task of its own: this one may be cancelled.
        await TaskHome.daemon.start { [store] in try? await store.end(membership.lease) }.value
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
