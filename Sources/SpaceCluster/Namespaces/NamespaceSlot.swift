import ClusterStore
import SpaceEngine
import SpaceSystem

/// One name on this machine: which life of a namespace has it now, one after the other.
actor NamespaceSlot {
    let name: NamespaceName
    private let make: @Sendable (NamespaceLife) -> LiveNamespace
    private let removeEarlier: @Sendable () async throws -> Void
    private let change: @Sendable (LiveNamespace?) -> Void
    private let news = Nudge()
    private static let patience = Duration.seconds(1)
    /// The life that the store says; `nil` if there is none.
    private var life: NamespaceLife?

    /// - Parameters:
    ///   - name: The name.
    ///   - make: Makes the namespace of a life.
    ///   - removeEarlier: Removes the replica of a life that has ended; called again after a while if it fails.
    ///   - change: Told which namespace has the name now.
    init(
        _ name: NamespaceName,
        make: @escaping @Sendable (NamespaceLife) -> LiveNamespace,
        removeEarlier: @escaping @Sendable () async throws -> Void,
        change: @escaping @Sendable (LiveNamespace?) -> Void
    ) {
        self.name = name
        self.make = make
        self.removeEarlier = removeEarlier
        self.change = change
    }

    func set(_ life: NamespaceLife?) {
        self.life = life
        news.nudge()
    }

    /// Takes part in each life until it ends, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let seen = news.count
            guard let life else {
                var end = MonotonicInstant.distantFuture
                do { try await removeEarlier() } catch { end = .now.advanced(by: Self.patience) }
                if self.life == nil, !Task.isCancelled { await news.wait(after: seen, until: end) }
                continue
            }
            let namespace = make(life)
            change(namespace)
            let running = TaskHome.daemon.start { await namespace.run() }
            await withTaskCancellationHandler {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { [self] in await waitForAnother(than: life) }
                    group.addTask { _ = await running.value }
                    await group.next()
                    // Before the namespace itself says that the machine leaves it.
                    if self.life != life { await namespace.appender.end(.gone) }
                    running.cancel()
                    group.cancelAll()
                }
            } onCancel: {
                running.cancel()
            }
            let isGone = await running.value
            change(nil)
            // The namespace itself has seen its end first; the watch will say so.
            if isGone, self.life == life { self.life = nil }
        }
    }

    private func waitForAnother(than life: NamespaceLife) async {
        while self.life == life, !Task.isCancelled { await news.wait(after: news.count) }
    }
}
