import Glibc
import SharedSpace
import SpaceSystem
import Synchronization

/// A waiter at each kind of wait for what a queue and a semaphore have, for each source of news: each pair that fits wakes
/// the waiter.
///
/// A case has a queue and a semaphore of its own. The source sets the stage so that the waiter has to wait; once it waits,
/// the source acts; then the wait must end with what it waits for. No time is measured: the watchdog only ends a test that
/// hangs.
package struct QueueMatrix: Sendable {
    package enum Goods: Sendable { case item, room, permit }

    /// What makes something available.
    package enum Source: String, CaseIterable, Sendable {
        case put, putInTransaction, replace, delayEnds, release, releaseDelayEnds, timeToRunEnds, pauseEnds, resume,
            kick
        case remove, drain, complete, bury, holderDies
        case cancel, removeQueue, boundRaised
        case permitReleased, permitsRaised, permitsTakenBack, wishPassedOver

        package var goods: Set<Goods> {
            switch self {
            case .put, .putInTransaction, .replace, .delayEnds, .release, .releaseDelayEnds, .pauseEnds, .resume, .kick:
                [.item]
            case .remove, .complete, .bury, .timeToRunEnds, .cancel, .removeQueue: [.item, .room]
            case .drain, .boundRaised: [.room]
            case .holderDies: [.item, .room, .permit]
            case .permitReleased, .permitsRaised, .permitsTakenBack, .wishPassedOver: [.permit]
            }
        }
    }

    package enum Form: String, CaseIterable, Sendable {
        case take, takeWithTimeToRun, work, firstOfItem, firstOfTwo, put, putUnique, acquire, acquireTwo, withPermits

        package var goods: Goods {
            switch self {
            case .take, .takeWithTimeToRun, .work, .firstOfItem, .firstOfTwo: .item
            case .put, .putUnique: .room
            case .acquire, .acquireTwo, .withPermits: .permit
            }
        }

        /// Whether a thread can wait like this.
        package var blocks: Bool {
            switch self {
            case .work, .firstOfItem, .firstOfTwo, .withPermits: false
            default: true
            }
        }
    }

    /// A kind of wait: what for, in a task or a blocked thread, and with a limit or without.
    package struct Wait: Sendable, CustomStringConvertible {
        package let form: Form
        package let blocks: Bool
        package let isLimited: Bool

        package var description: String {
            "\(form) \(blocks ? "thread" : "task") \(isLimited ? "limited" : "unlimited")"
        }
    }

    package static let waits: [Wait] = Form.allCases.flatMap { form in
        [false, true].filter { !$0 || form.blocks }.flatMap { blocks in
            [false, true].map { Wait(form: form, blocks: blocks, isLimited: $0) }
        }
    }

    /// All pairs that fit.
    package static let cases: [(Source, Wait)] = Source.allCases.flatMap { source in
        waits.filter { source.goods.contains($0.form.goods) }.map { (source, $0) }
    }

    private let root: String
    private let space: Space
    private let namespace: Namespace

    package init(_ namespace: Namespace, of space: Space, at root: String) {
        (self.root, self.space, self.namespace) = (root, space, namespace)
    }

    /// Plays a case under a name; returns what was wrong, or `nil`.
    package func play(_ source: Source, _ wait: Wait, _ name: String) async throws -> String? {
        let stage = try Stage(source, wait.form, root, space, namespace, name)
        let waiter = Waiter(wait, stage)
        guard try await eventually({ try waiter.hasEnded || stage.hasWaiter() }) else { return "it does not wait" }
        try await stage.act()
        let isWoken = try await eventually { waiter.hasEnded }
        if !isWoken { waiter.interrupt() }
        let answer = await waiter.answer()
        stage.end()
        return isWoken && answer == "ok" ? nil : "\(source) → \(wait): \(isWoken ? answer : "it is not woken")"
    }
}

/// A process's wait, in a task or a thread of its own.
private final class Waiter: Sendable {
    private let interruption = Interruption()
    private let ended = Atomic<Bool>(false)
    private let task = Mutex<Task<String, Never>?>(nil)

    init(_ wait: QueueMatrix.Wait, _ stage: Stage) {
        task.withLock {
            $0 = Task.detached { [self] in
                defer { ended.store(true, ordering: .releasing) }
                do {
                    let isServed =
                        wait.blocks
                        ? try await onThread { [interruption] in try stage.block(wait, interruption) }
                        : try await stage.suspend(wait)
                    return isServed ? "ok" : "its time has passed"
                } catch {
                    return "\(error)"
                }
            }
        }
    }

    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    func interrupt() {
        interruption.trigger()
        task.withLock { $0 }?.cancel()
    }

    func answer() async -> String { await task.withLock { $0 }?.value ?? "" }
}

/// The queue and the semaphore of a case, as its source leaves them.
private final class Stage: Sendable {
    private let source: QueueMatrix.Source
    private let namespace: Namespace
    private let root: String
    private let space: Space
    private let name: String
    private let goods: QueueMatrix.Goods
    private let queue: WorkQueue
    private let semaphore: SharedSemaphore
    private let item = Mutex<QueueItem.Detached?>(nil)
    private let id: Mutex<UInt64> = Mutex(0)
    private let permits = Mutex<HeldPermits?>(nil)
    private let other = Mutex<Agent?>(nil)
    private let large = Mutex<Task<Void, Never>?>(nil)
    private static let soon = Duration.milliseconds(60)
    private static let never = Duration.seconds(36_000)

    init(
        _ source: QueueMatrix.Source,
        _ form: QueueMatrix.Form,
        _ root: String,
        _ space: Space,
        _ namespace: Namespace,
        _ name: String
    ) throws {
        (self.source, self.root, self.space, self.namespace, self.name) = (source, root, space, namespace, name)
        goods = form.goods
        switch goods {
        case .item: queue = namespace.queue("queue-\(name)", deliveries: 0, bound: 0)
        case .room: queue = namespace.queue("queue-\(name)", deliveries: 1, bound: 1)
        case .permit: queue = namespace.queue("queue-\(name)")
        }
        semaphore = namespace.semaphore("semaphore-\(name)", permits: 4)
        switch goods {
        case .item: try stageItem()
        case .room: try stageRoom()
        case .permit: try stagePermits()
        }
    }

    private func taken() throws -> QueueItem.Detached {
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is no item") }
        return item.detach()
    }

    /// No item is ready.
    private func stageItem() throws {
        switch source {
        case .put, .putInTransaction, .delayEnds, .pauseEnds, .timeToRunEnds: break
        case .replace: try queue.put(1, delay: Self.never, unique: "k")
        case .release, .releaseDelayEnds:
            try queue.put(1)
            let held = try taken()
            item.withLock { $0 = held }
        case .resume:
            try queue.pause()
            try queue.put(1)
        case .kick:
            try queue.put(1)
            try taken().attach().bury()
        case .remove:
            let head = try queue.put(1, delay: Self.never, group: "g").id
            id.withLock { $0 = head }
            try queue.put(2, group: "g")
        case .complete, .bury, .cancel:
            let head = try queue.put(1, group: "g").id
            id.withLock { $0 = head }
            let held = try taken()
            item.withLock { $0 = held }
            try queue.put(2, group: "g")
        case .removeQueue: try queue.put(1, delay: Self.never)
        case .holderDies:
            try queue.put(1)
            try startHolder("queue-take \(queue.name) 60000 0")
        default: throw TestFailure("\(source) makes no item ready")
        }
    }

    /// The queue is full.
    private func stageRoom() throws {
        let first = try queue.put(1, delay: source == .timeToRunEnds ? Self.never : .zero).id
        id.withLock { $0 = first }
        switch source {
        case .remove, .drain, .timeToRunEnds, .removeQueue, .boundRaised: break
        case .complete, .bury, .cancel:
            let held = try taken()
            item.withLock { $0 = held }
        case .holderDies: try startHolder("queue-take \(queue.name) 60000 1")
        default: throw TestFailure("\(source) makes no room")
        }
    }

    /// No permit is free, or another process waits for more than are free.
    private func stagePermits() throws {
        switch source {
        case .permitReleased: try hold(4)
        case .permitsRaised, .permitsTakenBack:
            try semaphore.setPermits(2)
            try hold(2)
        case .wishPassedOver:
            try hold(1)
            let semaphore = semaphore
            let waiting = Task.detached { if let hold = try? await semaphore.acquire(4) { try? hold.release() } }
            large.withLock { $0 = waiting }
            guard
                try eventually({ try namespace.status().holds.contains { $0.name == semaphore.name && !$0.isHeld } })
            else { throw TestFailure("the large wish does not wait") }
        case .holderDies: try startHolder("semaphore \(semaphore.name) 60000 4 4")
        default: throw TestFailure("\(source) makes no permit free")
        }
    }

    private func hold(_ count: Int) throws {
        guard let hold = try semaphore.tryAcquire(count) else { throw TestFailure("there are no permits") }
        let held = HeldPermits(hold)
        permits.withLock { $0 = held }
    }

    private func startHolder(_ command: String) throws {
        let agent = try Agent()
        try agent.run("open \(root) \(namespace.name) ")
        try agent.send(command)
        guard try agent.line() == "waiting", try agent.line()?.hasPrefix("ok") == true else {
            throw TestFailure("the other process does not hold")
        }
        other.withLock { $0 = agent }
    }

    /// Whether a process waits for what the stage is to have.
    func hasWaiter() throws -> Bool {
        let status = try namespace.status()
        let name = goods == .permit ? semaphore.name : queue.name
        return status.waiters.contains { $0.template.contains(name) }
            || status.holds.count { $0.name == name && !$0.isHeld } > (source == .wishPassedOver ? 1 : 0)
    }

    /// Makes available what the waiter waits for.
    func act() async throws {
        let held = item.withLock { $0 }
        switch source {
        case .put: try queue.put(1)
        case .putInTransaction:
            let queue = queue
            _ = try namespace.transaction { t in try t.queue(queue).put(1) }
        case .replace: try queue.put(2, unique: "k", ifPresent: .replace)
        case .delayEnds: try queue.put(1, delay: Self.soon)
        case .release: try held?.attach().release()
        case .releaseDelayEnds: try held?.attach().release(delay: Self.soon)
        case .timeToRunEnds:
            let id = try goods == .item ? queue.put(1, delay: Self.never).id : id.withLock { $0 }
            _ = try queue.take(id, deadline: Self.soon)?.detach()
        case .pauseEnds:
            try queue.pause(for: Self.soon)
            try queue.put(1)
        case .resume: try queue.resume()
        case .kick: try queue.kick()
        case .remove: try queue.remove(id.withLock { $0 })
        case .drain: try queue.drain()
        case .complete: try held?.attach().complete()
        case .bury: try held?.attach().bury()
        case .cancel: try queue.cancel(id.withLock { $0 })
        case .removeQueue:
            try queue.remove()
            // The next queue of the name serves those that wait.
            if goods == .item { try queue.put(2) }
        case .boundRaised: try queue.set(bound: 2)
        case .holderDies: try other.withLock { try $0?.kill() }
        case .permitReleased: try permits.withLock { try $0?.release() }
        case .permitsRaised: try semaphore.setPermits(4)
        case .permitsTakenBack: try semaphore.remove()
        case .wishPassedOver: try semaphore.setPermits(3)
        }
    }

    func end() { try? permits.withLock { try $0?.release() } }

    // MARK: Waiting

    func block(_ wait: QueueMatrix.Wait, _ interruption: Interruption) throws -> Bool {
        let timeout = wait.isLimited ? watchdog : nil
        switch wait.form {
        case .take, .takeWithTimeToRun:
            let ttr: Duration? = wait.form == .take ? nil : .seconds(600)
            guard let item = try queue.takeBlocking(timeout: timeout, deadline: ttr, interruption: interruption) else {
                return false
            }
            try item.complete()
            return true
        case .put, .putUnique:
            return try queue.putBlocking(
                2,
                priority: 0,
                delay: .zero,
                group: nil,
                unique: wait.form == .put ? nil : "k",
                ifPresent: .keep,
                .init(timeout: timeout),
                interruption: interruption
            ) != nil
        case .acquire, .acquireTwo:
            let count = wait.form == .acquire ? 1 : 2
            try semaphore.acquireOrTell(count, timeout: timeout, interruption: interruption).release()
            return true
        default: throw TestFailure("\(wait) blocks no thread")
        }
    }

    func suspend(_ wait: QueueMatrix.Wait) async throws -> Bool {
        let timeout = wait.isLimited ? watchdog : nil
        switch wait.form {
        case .take, .takeWithTimeToRun:
            let ttr: Duration? = wait.form == .take ? nil : .seconds(600)
            guard let timeout else {
                try await queue.take(deadline: ttr).complete()
                return true
            }
            guard let item = try await queue.take(timeout: timeout, deadline: ttr) else { return false }
            try item.complete()
            return true
        case .work:
            do {
                try await queue.work(timeout: timeout) { _ in
                    throw Enough()
                } onFailure: { _, _ in
                    .stop
                }
                return false
            } catch is Enough {
                return true
            }
        case .firstOfItem: return try await first(of: [.item(of: queue)], timeout) == 0
        case .firstOfTwo: return try await first(of: [.cell("no cell", in: namespace), .item(of: queue)], timeout) == 1
        case .put: return try await queue.put(2, timeout: timeout) != nil
        case .putUnique: return try await queue.put(2, unique: "k", timeout: timeout) != nil
        case .acquire, .acquireTwo:
            let count = wait.form == .acquire ? 1 : 2
            guard let timeout else {
                try await semaphore.acquire(count).release()
                return true
            }
            guard let hold = try await semaphore.acquire(count, timeout: timeout) else { return false }
            try hold.release()
            return true
        case .withPermits:
            guard let timeout else { return try await semaphore.withPermits { _ in true } }
            return try await semaphore.withPermits(timeout: timeout) { _ in true } ?? false
        }
    }

    private func first(of awaited: [Awaitable], _ timeout: Duration?) async throws -> Int? {
        if let timeout {
            try await space.first(of: awaited, timeout: timeout)
        } else {
            try await space.first(of: awaited)
        }
    }
}

private struct Enough: Error {}

/// Permits that are released by a later step.
private final class HeldPermits: Sendable {
    private let hold: Mutex<Hold?>
    init(_ hold: consuming Hold) { self.hold = Mutex(hold) }

    func release() throws {
        let hold = self.hold.withLock { $0.take() }
        try hold?.release()
    }
}
