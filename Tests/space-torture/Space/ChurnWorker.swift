import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import Synchronization
import SystemPackage

/// One life of a process whose threads open, use and drop handles of the same few namespaces at random.
struct ChurnWorker: Sendable {
    /// How the process ends.
    enum End: CaseIterable, Sendable {
        /// When its threads have dropped all their handles.
        case joined
        /// By exit(3), which leaves every namespace, while its threads go on.
        case left
        /// By _exit(2) while its threads go on.
        case cut
        /// Not by itself: it is killed.
        case killed
    }

    /// The last namespace is not persistent, and goes with the last process that has it open.
    static let names = ["plain", "guarded", "large", "passing"]
    static let passing = names.count - 1
    static let threads = 4

    static func options(_ namespace: Int) -> NamespaceOptions {
        NamespaceOptions(mode: namespace == 1 ? .guarded : .fast, isPersistent: namespace != passing)
    }

    let root: String
    let ledger: ChurnLedger
    let plant: Options.Plant?
    let turns: Int
    let end: End

    func live(_ generator: inout SeededGenerator) throws -> Never {
        // Several spaces, as the parts of a program make them.
        let spaces = try (0..<3).map { _ in try Space(root: root, timeout: .seconds(30)) }
        let isEnding = Flag()
        let ended = (0..<Self.threads).map { _ in Signal() }
        for thread in 0..<Self.threads {
            let seed = generator.next()
            try DetachedThread.start {
                var life = ChurnThread(worker: self, spaces: spaces, seed: seed, isEnding: isEnding)
                for _ in 0..<turns where !isEnding.isSet && ledger.stop.load() == 0 { life.turn() }
                life.dropAll()
                ended[thread].signal()
            }
        }
        switch end {
        case .joined:
            for signal in ended { signal.wait() }
            _exit(0)
        case .left, .cut:
            usleep(UInt32.random(in: 500...60_000, using: &generator))
            // From now on a call may fail because the process is at its end.
            isEnding.set()
            _ = ledger.exits.add(1)
            if end == .cut { _exit(0) }
            exit(0)
        case .killed:
            while true { pause() }
        }
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
    func set() { value.store(true, ordering: .sequentiallyConsistent) }
}

/// The work of one of its threads.
private struct ChurnThread {
    let worker: ChurnWorker
    let spaces: [Space]
    let isEnding: Flag
    private var generator: SeededGenerator
    /// Handles that the thread keeps for some turns.
    private var kept: [Namespace] = []

    init(worker: ChurnWorker, spaces: [Space], seed: UInt64, isEnding: Flag) {
        self.worker = worker
        self.spaces = spaces
        self.isEnding = isEnding
        generator = SeededGenerator(seed: seed)
    }

    private var ledger: ChurnLedger { worker.ledger }

    private mutating func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func dropAll() { kept = [] }

    /// Opens a namespace, uses it, and drops the handle, keeps it or leaves.
    mutating func turn() {
        let index = random(0..<ChurnWorker.names.count)
        let name = ChurnWorker.names[index]
        let space = spaces[random(0..<spaces.count)]
        do {
            let namespace = try space.namespace(name, options: ChurnWorker.options(index))
            _ = ledger.openings.add(1)
            for _ in 0..<random(1..<5) { try use(namespace, index) }
            switch random(0..<200) {
            case 0: try fork(space, name)
            case 1: try runProgram()
            case 2..<12: try cancel(namespace)
            case 12..<17: try leave(under: .waiter, namespace)
            case 17..<70: try leave(under: .reader, namespace)
            case 70..<85: kept.append(namespace)
            case 85..<100: try namespace.leave()
            default: break
            }
            if kept.count > 3 || !kept.isEmpty && random(0..<8) == 0 { kept.remove(at: random(0..<kept.count)) }
        } catch {
            complain("\(error)")
        }
    }

    private func complain(_ text: String) {
        guard !isEnding.isSet else { return }
        noteFault(ledger.errors, text)
    }

    private mutating func use(_ namespace: Namespace, _ index: Int) throws {
        guard index != ChurnWorker.passing else { return try usePassing(namespace) }
        switch random(0..<5) {
        case 0, 1: try write(namespace, index)
        case 2, 3: try take(namespace, index)
        default: _ = try namespace.count(matching: ["nothing"])
        }
    }

    private mutating func write(_ namespace: Namespace, _ index: Int) throws {
        guard let number = ledger.begin(in: index) else { return ledger.stop.store(1) }
        if worker.plant != .lost || number % 50 != 0 { try namespace.write("job", number) }
        ledger.note(.written, number)
        _ = ledger.written.add(1)
    }

    /// One of the last numbers that were written there, by any process.
    private mutating func take(_ namespace: Namespace, _ index: Int) throws {
        let end = min(Int(ledger.nextNumber.load()), ChurnLedger.capacity)
        for _ in 0..<8 where end > 0 {
            let number = random(max(0, end - 500)..<end)
            guard ledger.beginTaking(number, from: index) else { continue }
            if random(0..<3) == 0 {
                guard let claim = try namespace.claimIfExists(matching: ["job", number]) else {
                    return noteFault(ledger.lost, "\(number) is not there to be claimed")
                }
                try claim.complete()
            } else {
                guard try namespace.takeIfExists(matching: ["job", number]) != nil else {
                    return noteFault(ledger.lost, "\(number) is not there to be taken")
                }
            }
            ledger.note(.taken, number)
            _ = ledger.taken.add(1)
            return
        }
    }

    /// While this handle lives, the namespace and its tuples stay.
    private mutating func usePassing(_ namespace: Namespace) throws {
        let number = random(0..<Int.max)
        try namespace.write("mine", number)
        guard try namespace.takeIfExists("mine", number) != nil else {
            return noteFault(ledger.lost, "a namespace has gone under its owner")
        }
    }

    // MARK: Operations under way at the end

    /// A task waits for a tuple that never comes, and is cancelled.
    private func cancel(_ namespace: Namespace) throws {
        let ended = Signal()
        let task = Task.detached { () -> SpaceError? in
            defer { ended.signal() }
            do throws(SpaceError) {
                _ = try await namespace.take(matching: ["never"])
                return nil
            } catch {
                return error
            }
        }
        usleep(200)
        task.cancel()
        ended.wait()
        let error = try runTask { await task.value }
        guard let error, error.code == .cancelled else {
            return complain("a task that was cancelled: \(error.map { "\($0)" } ?? "it took what is not there")")
        }
        _ = ledger.cancellations.add(1)
    }

    private enum Other { case waiter, reader }

    /// A thread waits, or reads again and again, while this one leaves the handle.
    ///
    /// A reader still uses the environment then, and closes it on its own thread, while others open it anew.
    private func leave(under other: Other, _ namespace: Namespace) throws {
        let ended = Signal()
        let failure = Mutex<SpaceError?>(nil)
        try DetachedThread.start {
            do throws(SpaceError) {
                switch other {
                case .waiter: _ = try namespace.take(matching: ["never"], timeout: .milliseconds(5))
                case .reader: while true { _ = try namespace.count(matching: ["nothing"]) }
                }
            } catch {
                failure.withLock { $0 = error }
            }
            ended.signal()
        }
        usleep(500)
        try namespace.leave()
        ended.wait()
        if let error = failure.withLock({ $0 }), error.code != .closed { throw error }
        _ = ledger.left.add(1)
    }

    /// Forks a child that may open nothing, and that ends the inherited handles in one of two ways.
    private mutating func fork(_ space: Space, _ name: String) throws {
        let (opens, exits) = (random(0..<2) == 0, random(0..<2) == 0)
        let child = try Process.startBesideThreads {
            // Another thread may have held one of the runtime's locks at the fork; that lock is never released in the
            // child.
            alarm(3)
            if opens {
                do throws(SpaceError) {
                    _ = try space.namespace(name)
                    return 3
                } catch {
                    guard error.code == .forked else { return 4 }
                }
            }
            // exit(3) runs what the library has registered.
            if exits { exit(0) }
            return 0
        }
        _ = ledger.forks.add(1)
        switch Process.wait(child) {
        case .exited(0): break
        case .killed(SIGALRM): _ = ledger.stuckChildren.add(1)
        case let end: noteFault(ledger.failures, "a forked child ended so: \(end)")
        }
    }

    private func runProgram() throws {
        var child: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { words.forEach { free($0) } }
        let error = posix_spawnp(&child, "true", nil, nil, &words, nil)
        guard error == 0 else { throw UsageError(text: "posix_spawn: errno \(error)") }
        if Process.wait(child) != .exited(0) { complain("a program failed") }
        _ = ledger.programs.add(1)
    }
}
