import Glibc
import SpaceSystem
import Synchronization

/// Who in this process waits for namespaces to come and go: rung by the thread that hears the namespaces' bells, for every
/// event in a root folder, and at every tick.
final class RootBells: Sendable {
    /// By inotify's watch, one for each folder; those without one are served by ticks alone.
    private let bells = Mutex<[Int32: [RootBell]]>([:])

    static let mask: INotify.Mask = [.movedTo, .movedFrom, .created, .deleted, .deletedItself, .movedItself]
    private static let unheard: Int32 = -1

    func begin(_ bell: RootBell, watch: Int32?) {
        bells.withLock { $0[watch ?? Self.unheard, default: []].append(bell) }
    }

    /// Returns: The watch, if nobody needs it any longer.
    func end(_ bell: RootBell, watch: Int32?) -> Int32? {
        bells.withLock { bells in
            // One whose folder went is among the unheard, whatever its watch was.
            for key in Set([watch ?? Self.unheard, Self.unheard]) {
                guard let index = bells[key]?.firstIndex(where: { $0 === bell }) else { continue }
                bells[key]?.remove(at: index)
                guard bells[key]?.isEmpty ?? false else { return nil }
                bells[key] = nil
                return key == Self.unheard ? nil : key
            }
            return nil
        }
    }

    /// Whether a watch still is one: the folder may have gone with it.
    func isHeard(_ bell: RootBell, watch: Int32) -> Bool {
        bells.withLock { $0[watch]?.contains { $0 === bell } ?? false }
    }

    func hear(_ event: INotify.Event) {
        let rung = bells.withLock { bells in
            // inotify(7): after this the watch's number stands for nothing.
            if event.mask.contains(.ignored), let deaf = bells.removeValue(forKey: event.watch) {
                bells[Self.unheard, default: []] += deaf
                return deaf
            }
            return event.isOverflow ? bells.values.flatMap { $0 } : bells[event.watch] ?? []
        }
        for bell in rung { bell.ring() }
    }

    func tick() {
        for bell in bells.withLock({ $0.values.flatMap { $0 } }) { bell.ring() }
    }
}

/// A word that rises when there may be news, for one watcher of a root folder.
///
/// Unchecked: the word's address stays, and it is reached by atomic operations alone.
final class RootBell: @unchecked Sendable {
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private let tasks = Mutex<[UInt64: CheckedContinuation<Void, Never>]>([:])
    private let nextTask = Atomic<UInt64>(0)

    init() { word.initialize(to: 0) }
    deinit { word.deallocate() }

    /// How often it has rung.
    var count: UInt32 { SharedWord32(at: word).load() }

    func ring() {
        let tasks = tasks.withLock { tasks in
            // Under the lock, in which a task looks before it waits.
            SharedWord32(at: word).storeSequential(SharedWord32(at: word).load() &+ 1)
            defer { tasks = [:] }
            return tasks
        }
        _ = Futex(at: word).wake()
        for task in tasks.values { task.resume() }
    }

    /// Suspends the task until it has rung more often, or the task is cancelled.
    func wait(since count: UInt32) async {
        let id = nextTask.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = tasks.withLock { tasks in
                    guard self.count == count, !Task.isCancelled else { return false }
                    tasks[id] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            tasks.withLock { $0.removeValue(forKey: id) }?.resume()
        }
    }

    /// Blocks the thread until it has rung more often, a signal came, or the time is over.
    func block(since count: UInt32, atMost limit: Duration) {
        _ = try? Futex(at: word).wait(while: count, for: limit)
    }
}
