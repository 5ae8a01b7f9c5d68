import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Counters, latches, barriers, rate limits, work queues and evaluation within one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RecipeFormTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("recipes")
    }

    @Test func aCounterCounts() async throws {
        let counter = namespace.counter("n")
        #expect(try counter.value() == 0)
        let waiting = Task { try await counter.wait(forAtLeast: 5) }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        #expect(try counter.add(3) == 3)
        #expect(try counter.add(2) == 5)
        #expect(try await waiting.value == 5)
        #expect(try !counter.set(1, ifEquals: 4))
        #expect(try counter.set(.max, ifEquals: 5))
        let error = #expect(throws: SpaceError.self) { try counter.add() }
        #expect(error?.code == .badData)
        #expect(try await counter.wait(forAtLeast: .max, timeout: .zero) == .max)
        try counter.remove()
        #expect(try await counter.wait(forAtLeast: 1, timeout: .milliseconds(1)) == nil)
    }

    @Test func aLatchOpensForGood() async throws {
        let latch = namespace.latch("ready", count: 2)
        let waiting = Task { try await latch.wait() }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        #expect(try latch.countDown() == 1)
        #expect(try latch.countDown(by: 5) == 0)
        try await waiting.value
        #expect(try await latch.wait(timeout: .zero))
        let other = #expect(throws: SpaceError.self) { try namespace.latch("ready", count: 3).countDown() }
        #expect(other?.code == .typeMismatch)
        try latch.remove()
        #expect(try latch.remaining() == 2)
    }

    /// A wait whose own process leaves the namespace is not told that its place was taken away.
    @Test func aWaitEndsAsClosedWhenItsProcessLeaves() async throws {
        for number in rounds(200) {
            let options = NamespaceOptions(isPersistent: true)
            let namespace = try root.space.namespace("left \(number)", options: options)
            let barrier = namespace.barrier("b", parties: 2)
            let waiting = Task { try await onThread { try barrier.wait(timeout: watchdog) } }
            #expect(
                try await eventually {
                    try namespace.core.read { (snapshot) throws(SpaceError) in try snapshot.counters().holds > 0 }
                }
            )
            try namespace.leave()
            let error = await #expect(throws: SpaceError.self) { try await waiting.value }
            #expect(error?.code == .closed)
        }
    }

    @Test func aBarrierOpensForAllAtOnceAndAgain() async throws {
        let barrier = namespace.barrier("step", parties: 3)
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { try await barrier.wait() } }
                try await group.waitForAll()
            }
        }
        #expect(try await !barrier.wait(timeout: .milliseconds(1)))
        #expect(try namespace.status().holds == [])
    }

    @Test func anObjectAndAHoldCantHaveOneName() throws {
        try namespace.counter("a").add()
        for body: () throws -> Void in [
            { _ = try namespace.lock("a").tryAcquire() },
            { _ = try namespace.latch("a", count: 1).remaining() },
            { _ = try namespace.rateLimit("a", limit: 1, per: .seconds(1)).tryAcquire() },
            { _ = try namespace.queue("a").put(1) },
            { _ = try namespace.queue("a").takeIfReady() },
            { _ = try namespace.barrier("a", parties: 2).wait(timeout: .zero) },
        ] {
            let error = #expect(throws: SpaceError.self) { try body() }
            #expect(error?.code == .typeMismatch)
        }
        let hold = try namespace.lock("b").acquire(timeout: .zero).inTime()
        let error = #expect(throws: SpaceError.self) { try namespace.counter("b").add() }
        #expect(error?.code == .typeMismatch)
        try hold.release()
        try namespace.counter("b").add()
    }

    @Test func aRateLimitLetsItsLimitThrough() async throws {
        let rate = namespace.rateLimit("api", limit: 3, per: .seconds(3600))
        for _ in 0..<3 { #expect(try rate.tryAcquire()) }
        #expect(try !rate.tryAcquire())
        #expect(try await !rate.acquire(timeout: .seconds(60)))
        // A cancelled wait gives its permit back.
        let waiting = Task { try await rate.acquire() }
        waiting.cancel()
        let error = await #expect(throws: SpaceError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        #expect(throws: SpaceError.self) { try rate.tryAcquire(4) }
        #expect(throws: SpaceError.self) { try namespace.rateLimit("api", limit: 4, per: .seconds(1)).tryAcquire() }
        for limit in [0, .min, .max, .max / 2, 1 << 55] {
            let error = #expect(throws: SpaceError.self) {
                try namespace.rateLimit("none", limit: limit, per: .seconds(1)).tryAcquire(limit)
            }
            #expect(error?.code == .invalidArgument)
        }
        let quick = namespace.rateLimit("quick", limit: 1, per: .milliseconds(5))
        for _ in 0..<4 { try await quick.acquire() }
    }

    // MARK: Queues

    @Test func priorityThenAgeDecides() throws {
        let queue = namespace.queue("work")
        try queue.put(1)
        try queue.put(2, priority: -1)
        try queue.put(3, priority: 7)
        try queue.put(4, priority: 7)
        var order: [Value] = []
        while let item = try queue.takeIfReady() {
            order.append(item.value)
            try item.complete()
        }
        #expect(order == [3, 4, 1, 2])
        #expect(try queue.counts() == QueueCounts())
    }

    @Test func whatComesBackTooOftenIsBuried() throws {
        let queue = namespace.queue("work", deliveries: 2)
        try queue.put("a")
        for delivery in 0..<2 {
            guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
            #expect(item.deliveries == delivery)
            #expect(try namespace.verify() == [])
            if delivery == 0 { try item.release() }
        }
        #expect(try queue.takeIfReady() == nil)
        #expect(try queue.items(in: .buried).map(\.value) == ["a"])
        #expect(try queue.kick() == 1)
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        #expect(item.deliveries == 0)
        try item.bury()
        #expect(try queue.counts()[.buried] == 1)
        let error = #expect(throws: SpaceError.self) { try namespace.queue("work", deliveries: 0).put(1) }
        #expect(error?.code == .typeMismatch)
    }

    @Test func ofAGroupOneAtATime() throws {
        let queue = namespace.queue("work")
        for (value, group) in [(1, "g"), (2, "g"), (3, "h"), (4, "g\0x")] as [(Int, String)] {
            try queue.put(value, priority: value, group: group)
        }
        func take() throws -> Value? {
            guard let item = try queue.takeIfReady() else { return nil }
            taken.append(Box(item))
            return taken.last?.item.value
        }
        final class Box {
            let item: QueueItem
            init(_ item: consuming QueueItem) { self.item = item }
        }
        var taken: [Box] = []
        #expect(try [take(), take(), take(), take()] == [4, 3, 1, nil])
        #expect(try queue.counts()[.blocked] == 1)
        #expect(try namespace.verify() == [])
        // A returned item is still the first of its group.
        try taken[2].item.release()
        #expect(try take() == 1)
        try taken[3].item.complete()
        #expect(try take() == 2)
        #expect(try namespace.verify() == [])
        taken.removeAll()
        #expect(try queue.counts()[.ready] == 3)
    }

    /// A waiter is woken when an item becomes due, even one that was put while it waited and that is due sooner.
    @Test func aDelayedItemWakesWhoWaits() async throws {
        let queue = namespace.queue("work")
        try queue.put("late", delay: .seconds(3600))
        #expect(try queue.takeIfReady() == nil)
        let waiting = Task { () throws -> Value? in
            let item = try await queue.take()
            let value = item.value
            try item.complete()
            return value
        }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try queue.put("soon", delay: .milliseconds(30))
        #expect(try await waiting.value == "soon")
        #expect(try queue.counts()[.delayed] == 1)
    }

    /// While a process waits for an item to become due, the machine may sleep or its clock be set, so the wait looks at
    /// that clock again with every tick.
    @Test func aDelayIsLookedAtAnew() throws {
        var wait = QueueWait(namespace.core, "work", until: nil, itemDeadline: nil)
        guard case .sleep(let endless) = try wait.step() else { throw TestFailure("there is an item") }
        #expect(endless.end == nil)
        try namespace.queue("work").put("late", delay: .seconds(3600))
        // Before the item is due no taker is served, and the wait goes on.
        for _ in 1...2 {
            guard case .sleep(let sleep) = try wait.step() else { throw TestFailure("the taker was served") }
            #expect(try #require(sleep.end) <= .now.advanced(by: Ticking.interval))
        }
        wait.giveUp()
    }

    /// Takers are served in the order in which they asked, and a cancelled one is passed over.
    @Test func takersAreServedInTurn() async throws {
        let queue = namespace.queue("work")
        func taker(_ position: Int) async throws -> Task<Int, any Error> {
            let task = Task { () throws -> Int in
                let item = try await queue.take()
                try item.complete()
                return try item.content()
            }
            #expect(try await eventually { try namespace.status().holds.count == position + 1 })
            return task
        }
        let tasks = [try await taker(0), try await taker(1), try await taker(2)]
        tasks[1].cancel()
        await #expect(throws: SpaceError.self) { try await tasks[1].value }
        try queue.put(10)
        try queue.put(20)
        #expect(try await tasks[0].value == 10)
        #expect(try await tasks[2].value == 20)
        #expect(try queue.counts() == QueueCounts())
    }

    // MARK: Evaluation

    @Test func theOutputBecomesTheTuple() async throws {
        let id = try await namespace.evaluate(["/bin/sh", "-c", #"echo '["sum", 3]'"#])
        #expect(try namespace.claimIfExists(id: id)?.tuple == ["sum", 3])
        for (script, code) in [
            ("exit 3", SpaceError.Code.evaluationFailed), ("echo nonsense", .evaluationFailed),
            ("kill -9 $$", .evaluationFailed), (#"echo '["x"]'; exit 1"#, .evaluationFailed),
        ] {
            let error = await #expect(throws: SpaceError.self) {
                try await namespace.evaluate(["/bin/sh", "-c", script])
            }
            #expect(error?.code == code)
        }
        await #expect(throws: SpaceError.self) { try await namespace.evaluate(["/nonexistent"]) }
        await #expect(throws: SpaceError.self) { try await namespace.evaluate([]) }
        #expect(try await namespace.evaluate(["/bin/sleep", "1000"], timeout: .milliseconds(10)) == nil)
        #expect(
            try await onThread { try namespace.evaluate(["/bin/sleep", "1000"], timeout: .milliseconds(10)) } == nil
        )
        let task = Task { try await namespace.evaluate(["/bin/sleep", "1000"]) }
        task.cancel()
        let cancelled = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
        #expect(try namespace.count() == 1)
    }

    /// Runs an evaluation whose program gets signals: a program inherits the mask of its thread, and the threads of
    /// tasks block all signals.
    private func run(
        _ evaluation: Evaluation,
        signal: @escaping @Sendable (_ look: Int) -> Int32?
    ) async throws -> Evaluation.Ending {
        try await onThread {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            var looks = 0
            return try evaluation.run(timeout: nil) {
                looks += 1
                return signal(looks)
            }
        }
    }

    /// A program that has closed its output, and goes on.
    private func closingItsOutput() -> (evaluation: Evaluation, mark: String) {
        let mark = "\(root.path)/mark"
        let script = #"echo '["x"]'; exec >&-; : > "\#(mark)"; exec sleep 1000"#
        return (Evaluation(["/bin/sh", "-c", script], in: namespace), mark)
    }

    @Test func whatGoesOnWithoutOutputIsKilledInTime() async throws {
        let (evaluation, _) = closingItsOutput()
        let late = await #expect(throws: SpaceError.self) {
            try await onThread { try evaluation.run(timeout: .milliseconds(200)) }
        }
        #expect(late?.code == .timedOut)
        #expect(try namespace.count() == 0)
    }

    @Test func whatGoesOnWithoutOutputGetsTheSignal() async throws {
        let (evaluation, mark) = closingItsOutput()
        let ending = try await run(evaluation) { _ in access(mark, F_OK) == 0 ? SIGUSR1 : nil }
        guard case .failed(128 + SIGUSR1) = ending else { throw TestFailure("\(ending)") }
        #expect(try namespace.count() == 0)
    }

    /// A signal that comes right before the sleep interrupts no call, and is passed on all the same.
    @Test func aSignalThatInterruptsNothingIsPassedOn() async throws {
        let evaluation = Evaluation(["/bin/sleep", "1000"], in: namespace)
        let ending = try await run(evaluation) { look in look > 1 ? SIGUSR1 : nil }
        guard case .failed(128 + SIGUSR1) = ending else { throw TestFailure("\(ending)") }
    }

    /// A process that the program has started may hold the output; cancelling ends it with the program.
    @Test func cancellingEndsGrandchildrenToo() async throws {
        let mark = "\(root.path)/mark"
        let script = #"setsid sleep 1000 & echo $! > "\#(mark)"; exec sleep 1000"#
        let task = Task { try await namespace.evaluate(["/bin/sh", "-c", script]) }
        #expect(try await eventually { number(in: mark) != nil })
        let grandchild = try #require(number(in: mark))
        task.cancel()
        let cancelled = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
        #expect(hasEnded(grandchild))
    }

    /// A process that the program leaves running when it ends by itself holds the output and goes on; the evaluation
    /// does not wait for it.
    @Test func aGrandchildThatHoldsTheOutputIsNotWaitedFor() async throws {
        let pipe = "\(root.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let script = #"(read x < "\#(pipe)") & echo '["sum", 3]'"#
        let id = try await namespace.evaluate(["/bin/sh", "-c", script])
        #expect(try namespace.claimIfExists(id: id)?.tuple == ["sum", 3])
        // fifo(7): opening a FIFO for reading and writing does not block; the process at the other end reads the line,
        // and ends.
        let end = open(pipe, O_RDWR | O_CLOEXEC)
        #expect(end >= 0 && write(end, "\n", 1) == 1)
        var rest = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        #expect(try await eventually { poll(&rest, 1, 0) == 0 })
        close(end)
    }

    /// The words of a program are C strings, which end at a NUL.
    @Test func wordsWithANULAreRefused() async throws {
        for words in [["/bin/echo", "[1]\0x"], ["/bin/echo\0", "[1]"]] {
            let error = await #expect(throws: SpaceError.self) { try await namespace.evaluate(words) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try namespace.count() == 0)
    }

    /// The number in a file, once its line is whole.
    private func number(in path: String) -> pid_t? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(file, &bytes, bytes.count)
        guard count > 1, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
        return pid_t(String(decoding: bytes[..<(count - 1)], as: UTF8.self))
    }

    /// Whether the process has ended and has been waited for.
    private func hasEnded(_ pid: pid_t) -> Bool { kill(pid, 0) == -1 && errno == ESRCH }
}
