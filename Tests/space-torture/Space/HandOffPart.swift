import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// Tuples handed from process to process, with the ticks off: nothing makes up for a lost wake-up, so the run stands
/// still.
///
/// Half of the processes write, and often wait until everything is taken, so that takers sleep when a tuple comes; at
/// times the writer takes one itself (barging). The others take, some as threads and some as tasks, by templates with a
/// range, whose bounds a writer cannot see. One more process waits for tuples that never come, by templates that look
/// the same to a writer, and gives up again and again: it must hand on its grants.
struct HandOffPart: Sendable {
    private let options: Options
    private let workRoot: WorkRoot
    private var root: String { workRoot.path }
    private let memory: SharedMemory

    private static let name = "handoff"
    private static let faultyGivers = 8

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        memory = try SharedMemory(size: 4096)
    }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }
    private var stop: SharedWord64 { word(0) }
    private var written: SharedWord64 { word(1) }
    private var taken: SharedWord64 { word(2) }
    private var barged: SharedWord64 { word(3) }
    private var givenUp: SharedWord64 { word(4) }
    private var failures: SharedWord64 { word(5) }
    private var late: SharedWord64 { word(6) }

    func run(_ report: (Report) throws -> Void) throws -> Never {
        let writers = options.processes / 2
        var children: [pid_t] = []
        for index in 0..<options.processes {
            children.append(
                try start(UInt64(index)) { (namespace, generator) throws(SpaceError) in
                    if index < writers {
                        try write(namespace, &generator)
                    } else if index % 2 == 0 {
                        try take(namespace, index)
                    } else {
                        takeInTasks(namespace)
                    }
                }
            )
        }
        let seed = UInt64(options.processes)
        if options.plant == .unheard {
            for giver in 0..<UInt64(Self.faultyGivers) {
                children.append(
                    try Process.start {
                        superviseFaultyGiver(seed + giver)
                        return 0
                    }
                )
            }
        } else {
            children.append(try start(seed, giveUp))
        }
        Process.work { try report(work(children)) }
    }

    /// Starts a worker with a seed of its own.
    private func start(
        _ seed: UInt64,
        _ body: @escaping (Namespace, inout SeededGenerator) throws(SpaceError) -> Void
    ) throws -> pid_t {
        try Process.startWorker {
            var generator = SeededGenerator(seed: options.seed &+ seed)
            do throws(SpaceError) {
                Ticking.turnOff()
                let namespace = try Space(root: root, timeout: .seconds(30)).namespace(Self.name)
                try body(namespace, &generator)
                _ = late.add(UInt64(namespace.lateFinds))
            } catch {
                _ = failures.add(1)
                throw error
            }
        }
    }

    /// Lets one faulty process follow the other until the run stands still.
    ///
    /// A fault stalls only those takers whose tuple no later one makes up for. So when a faulty process has stopped and
    /// stalled no taker, another follows it.
    private func superviseFaultyGiver(_ first: UInt64) {
        var seed = first
        while stop.load() == 0 {
            guard let giver = try? start(seed, giveUp) else { continue }
            seed += UInt64(Self.faultyGivers)
            Process.waitUntilStopped(giver)
            let deadline = MonotonicInstant.now.advanced(by: .seconds(2 * options.patience))
            while stop.load() == 0, !deadline.hasPassed { usleep(20_000) }
            Process.end(giver)
        }
    }

    private func work(_ children: [pid_t]) throws -> Report {
        let space = try Space(root: root, timeout: .seconds(30))
        let namespace = try space.namespace(Self.name)
        let asleep = watch()
        stop.store(1)
        try end(children, namespace)
        let damage = try namespace.verify()
        try namespace.leave()
        try workRoot.remove()

        let object: JSONObject = [
            "handOffs": Int(taken.load()), "barged": Int(barged.load()), "givenUp": Int(givenUp.load()),
            "lost": asleep ? 1 : 0, "late": Int(late.load()), "failures": Int(failures.load()), "damage": damage,
        ]
        return Report("handoff", isGood: !asleep && failures.load() == 0 && late.load() == 0 && damage.isEmpty, object)
    }

    /// Ends the workers: sleepers are woken by tuples of their own, and a worker that can't be woken is killed.
    private func end(_ children: [pid_t], _ namespace: Namespace) throws {
        var living = Set(children)
        let deadline = MonotonicInstant.now.advanced(by: .seconds(5))
        while !living.isEmpty {
            let isLate = deadline.hasPassed
            for child in living {
                if isLate { kill(child, SIGKILL) } else { try namespace.write("job", 0) }
            }
            usleep(20_000)
            for child in living {
                var status: CInt = 0
                if waitpid(child, &status, WNOHANG) == child { living.remove(child) }
            }
        }
    }

    /// Returns whether all takers stand still although there is something to take.
    private func watch() -> Bool {
        let start = MonotonicInstant.now
        var last = (count: taken.load(), at: start)
        var told = start
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds) {
            usleep(100_000)
            let now = MonotonicInstant.now
            if taken.load() != last.count {
                last = (taken.load(), now)
            } else if now.duration(since: last.at) > .seconds(options.patience) {
                note("nothing was taken for \(options.patience) s: \(written.load()) written, \(last.count) taken")
                return true
            }
            if now.duration(since: told) > .seconds(5) {
                told = now
                note("\(taken.load()) handed on, \(givenUp.load()) waits given up")
            }
        }
        return false
    }

    private func write(_ namespace: Namespace, _ generator: inout SeededGenerator) throws(SpaceError) {
        while stop.load() == 0 {
            _ = written.add(1)
            try namespace.write("job", Int.random(in: 0..<100, using: &generator))
            if Int.random(in: 0..<8, using: &generator) == 0, try namespace.takeIfExists("job", 0..<100) != nil {
                _ = taken.add(1)
                _ = barged.add(1)
            }
            // Mostly until no tuple is left: then no later tuple makes up for one whose wake-up was lost.
            let backlog = UInt64(max(0, Int.random(in: -12..<3, using: &generator)))
            while written.load() > taken.load() + backlog, stop.load() == 0 { usleep(10) }
        }
    }

    private func take(_ namespace: Namespace, _ index: Int) throws(SpaceError) {
        while stop.load() == 0 {
            let found = try namespace.take("job", 0..<100, timeout: .seconds(3600))
            if found != nil { _ = taken.add(1) }
        }
    }

    private func takeInTasks(_ namespace: Namespace) {
        wait(for: 3) {
            while stop.load() == 0 {
                _ = try await namespace.take("job", 0..<100)
                _ = taken.add(1)
            }
        }
    }

    /// Waits for tuples that never come, as a thread whose time passes and as tasks that are cancelled.
    private func giveUp(_ namespace: Namespace, _ generator: inout SeededGenerator) throws(SpaceError) {
        // A grant that is accepted and never handed on looks like a lost wake-up.
        if options.plant == .unheard {
            CrashPoint.arm(.rearmed, count: Int.random(in: 1...100, using: &generator), action: .stop)
        }
        while stop.load() == 0 {
            let microseconds = Int.random(in: 1...300, using: &generator)
            guard try namespace.take("job", 1000..<2000, timeout: .microseconds(microseconds)) == nil else { continue }
            _ = givenUp.add(1)
            wait(for: 1) {
                let task = Task { try await namespace.take("job", 1000..<2000) }
                try await Task.sleep(for: .microseconds(microseconds))
                task.cancel()
                _ = await task.result
            }
            _ = givenUp.add(1)
        }
    }

    /// Runs a number of tasks of a kind, and blocks until they have ended.
    private func wait(for count: Int, _ body: @escaping @Sendable () async throws -> Void) {
        let done = Signal()
        Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        do { try await body() } catch {
                            note("a task failed: \(error)")
                            _ = failures.add(1)
                        }
                    }
                }
            }
            done.signal()
        }
        done.wait()
    }
}
