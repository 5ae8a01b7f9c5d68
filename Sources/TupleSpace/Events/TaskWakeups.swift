package import SpaceSystem
import Synchronization

/// The thread that wakes this process's waiting tasks of one root.
///
/// The thread sleeps on the process's wake-up word, because a thread can't sleep on the words of many tasks at once,
/// and a futex can't be in an epoll set. When the word is rung, the thread wakes the tasks whose words were raised.
/// Deadlines and ticks are the event loop's.
package final class TaskWakeups: Sendable {
    private static let all = Mutex<[Name: TaskWakeups]>([:])

    /// The object for a root; the first wait makes it and starts its thread.
    package static func of(_ root: SpaceRoot) -> TaskWakeups {
        all.withLock { all in
            // After a fork this process does not have the thread.
            if let known = all[Name(root.path)], known.forkGeneration == ForkGuard.generation,
                known.file?.isShared ?? true
            {
                return known
            }
            let new = TaskWakeups(root)
            all[Name(root.path)] = new
            return new
        }
    }

    /// The index of the process's wake-up word; `nil` if it got none, or no thread for it.
    ///
    /// Then no process can wake this one's tasks, and they look at every tick.
    let taskWord: UInt32?

    private let file: TaskWakeupFile?
    private let forkGeneration = ForkGuard.generation

    private init(_ root: SpaceRoot) {
        let file = try? root.makeWakeupFile()
        let taskWord = (try? file?.acquire()) ?? nil
        self.file = file
        guard let file, let taskWord else {
            self.taskWord = nil
            return
        }
        let isStarted = (try? DetachedThread.start { Self.run(file, taskWord) }) != nil
        self.taskWord = isStarted ? taskWord : nil
    }

    private static func run(_ file: TaskWakeupFile, _ taskWord: UInt32) {
        let (word, isSleeping) = (file.word(taskWord), file.isSleeping(taskWord))
        while true {
            let heard = word.loadSequential()
            EventLoop.shared.sleepers.wakeRung()
            isSleeping.storeSequential(1)
            _ = try? Futex(at: word.address).wait(while: heard, for: nil)
            isSleeping.storeSequential(0)
        }
    }

    /// Whether tasks of this process have waited in a root.
    package static func isUsed(in root: SpaceRoot) -> Bool {
        all.withLock { $0[Name(root.path)] }?.forkGeneration == ForkGuard.generation
    }

    /// Whether no other process can ring this one's tasks for a root: the file of the words was removed, replaced or cut.
    package static func isDeaf(in root: SpaceRoot) -> Bool {
        let known = all.withLock { $0[Name(root.path)] }
        guard let known, known.forkGeneration == ForkGuard.generation, let file = known.file else { return false }
        return !file.isShared
    }

    /// Suspends the task until the wake word is raised, the deadline has passed, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - wakeWord: What is raised when there may be news.
    ///   - heard: The wake word's value at the last look.
    ///   - transaction: The namespace's last transaction at the last look.
    ///   - core: The namespace in which the task waits.
    ///   - deadline: The deadline, or `nil` to wait indefinitely.
    package static func sleep(
        on wakeWord: WakeWord,
        heard: UInt32,
        transaction: Int,
        in core: any ListeningNamespace,
        until deadline: MonotonicInstant?
    ) async {
        let loop = EventLoop.shared
        await loop.sleepers.suspend(
            at: ObjectIdentifier(core),
            for: .wakeWord(wakeWord, heard: heard, transaction: transaction),
            until: deadline
        ) { isFirst in
            if isFirst { loop.handlers.wake() }
            return !wakeWord.isRaised(since: heard)
        }
    }
}
