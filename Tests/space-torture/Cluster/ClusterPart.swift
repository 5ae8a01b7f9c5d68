import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// Workers on three machines that share a namespace through etcd, while workers, daemons, members of etcd and whole
/// machines are killed and stopped, the network between them is cut, and etcd runs full or forgets its history.
///
/// A machine is a root with its daemon; its processes come first, as do the members of etcd, in networks of the kernel of
/// their own, where that is permitted. Nothing that was acknowledged may be lost or doubled, what was refused may not
/// appear, fencing numbers rise, short histories are linearizable, and at the end all replicas are the same. After each
/// fault, each machine must go on by itself.
struct ClusterPart {
    let options: Options
    private let workRoot: WorkRoot
    private let ledger: ClusterLedger
    private let boards: [ClusterHistoryBoard]
    /// The faults, how often each was done, and the longest time until all machines went on.
    private var played: [(name: String, count: Int, slowest: Duration)] = []
    private var skipped: [String] = []
    private var stuck: [String] = []
    private var generator: SeededGenerator

    init(_ options: Options) throws {
        self.options = options
        workRoot = WorkRoot(options)
        ledger = try ClusterLedger()
        boards = try (0..<ClusterHistoryBoard.boards).map(ClusterHistoryBoard.init)
        generator = SeededGenerator(seed: options.seed)
    }

    /// Forks and waits; only at the end does this process work.
    func run(_ report: (Report) throws -> Void) throws -> Never {
        var part = self
        guard mkdir(workRoot.path, 0o700) == 0 else { throw UsageError(text: "\(workRoot.path): errno \(errno)") }
        var network: ClusterNetwork?
        do {
            network = try ClusterNetwork(nodes: 6, log: "\(workRoot.path)/network.log")
        } catch let error as Rounds.Skipped {
            note(error.reason)
        }
        let servers = try ClusterServers(options, folder: workRoot.path, network: network)
        let roots = (0..<servers.machines).map(servers.root)
        do {
            guard !chosen(ClusterFaults(servers: servers, ledger: ledger)).isEmpty else {
                let names = ClusterFaults(servers: servers, ledger: ledger).all().map(\.name)
                throw UsageError(text: "no such scene; there are \(names)")
            }
            try servers.mend()
            try Self.found(roots[0])
        } catch {
            part.showLogs(servers)
            servers.end()
            try? workRoot.remove()
            throw error
        }
        let places = ClusterSupervisor.places(options, boards)
        let supervisors = try Process.supervisors(places) { number in
            ClusterSupervisor(
                options: options,
                roots: roots,
                ledger: ledger,
                boards: boards,
                number: number
            ).supervise()
        }
        let histories = try boards.map { board in
            let seed = part.generator.next()
            return try Process.startWorker {
                var generator = SeededGenerator(seed: seed)
                try ClusterHistories(roots: roots, board: board, ledger: ledger).work(&generator)
            }
        }
        try part.playFaults(servers)
        ledger.stop.store(1)
        for supervisor in supervisors { _ = Process.wait(supervisor) }
        for process in histories where Process.wait(process) != .exited(0) { _ = ledger.failures.add(1) }
        let ended = part
        Process.work {
            let found: Result<Report, any Error> = Result {
                ended.report(try ClusterAudit(ledger, roots: roots), servers)
            }
            if (try? found.get())?.isGood != true { ended.showLogs(servers) }
            servers.end()
            try workRoot.remove()
            try report(found.get())
        }
    }

    /// Makes the namespaces on the first machine, as soon as its daemon has joined.
    private static func found(_ root: String) throws {
        let founder = try Process.startWorker {
            let space = try Space(root: root, timeout: .seconds(10))
            let options = NamespaceOptions(isPersistent: true, isReplicated: true)
            let deadline = MonotonicInstant.now.advanced(by: .seconds(60))
            for name in [ClusterWorker.name, ClusterHistoryWorker.name] {
                while true {
                    do {
                        let namespace = try space.namespace(name, options: options)
                        _ = try namespace.set(ClusterWorker.counter, 0)
                        try namespace.leave()
                        break
                    } catch {
                        if deadline.hasPassed { throw error }
                        usleep(100_000)
                    }
                }
            }
        }
        guard Process.wait(founder) == .exited(0) else { throw UsageError(text: "no namespace can be made") }
    }

    // MARK: Faults

    private func chosen(_ faults: ClusterFaults) -> [ClusterFaults.Fault] {
        faults.all().filter { options.scene == nil || options.scene == $0.name }
    }

    private mutating func playFaults(_ servers: ClusterServers) throws {
        let chosen = chosen(ClusterFaults(servers: servers, ledger: ledger))
        skipped = chosen.compactMap { fault in fault.refusal.map { "\(fault.name): \($0)" } }
        let possible = chosen.filter { $0.refusal == nil }
        played = possible.map { ($0.name, 0, .zero) }
        // Nothing is disturbed before every machine works.
        _ = goOn(servers, after: "the start")
        let start = MonotonicInstant.now
        var order: [Int] = []
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds), !possible.isEmpty {
            if order.isEmpty { order = possible.indices.shuffled(using: &generator) }
            let index = order.removeLast()
            // One in four comes with another.
            if Int.random(in: 0..<4, using: &generator) == 0, let server = servers.all.randomElement(using: &generator)
            {
                servers.kill(server)
            }
            note("\(Self.seconds(start)) s: \(possible[index].name); \(progress)")
            try possible[index].play(&generator)
            played[index].count += 1
            servers.network?.heal()
            try servers.mend()
            played[index].slowest = max(played[index].slowest, goOn(servers, after: possible[index].name))
            // etcd has to forget its history now and then, or it runs full.
            if Int.random(in: 0..<4, using: &generator) == 0, let leader = servers.leader() {
                _ = servers.request(leader).compact(at: max(1, servers.revision() - 1000))
            }
        }
    }

    /// The sum over all boards.
    private func sum(_ count: (ClusterHistoryBoard) -> SharedWord64) -> Int {
        boards.reduce(0) { $0 + Int(count($1).load()) }
    }

    private var progress: String {
        "\(ledger.kill.deathCount.load()) kills, \(ledger.kill.takenCount.load()) taken, \(sum(\.histories)) histories"
    }

    private static func seconds(_ start: MonotonicInstant) -> Int {
        Int(MonotonicInstant.now.duration(since: start).components.seconds)
    }

    /// Waits until each machine has had an operation acknowledged after a fault is over.
    ///
    /// Returns: How long that took.
    private mutating func goOn(_ servers: ClusterServers, after what: String) -> Duration {
        let start = MonotonicInstant.now
        let deadline = start.advanced(by: .seconds(60 + options.patience))
        let before = (0..<servers.machines).map { ledger.progress($0).load() }
        var last: [Int] = []
        while true {
            let waiting = before.indices.filter { ledger.progress($0).load() == before[$0] }
            if waiting.isEmpty { break }
            last = waiting
            if deadline.hasPassed {
                stuck.append("machines \(waiting) do not go on after \(what)")
                note(stuck.last ?? "")
                break
            }
            usleep(10_000)
        }
        let time = MonotonicInstant.now.duration(since: start)
        if time > .seconds(10) { note("machines \(last) went on \(time.wholeMilliseconds) ms after \(what)") }
        usleep(UInt32(Int.random(in: 0..<1_000_000, using: &generator)))
        return time
    }

    // MARK: The report

    private func report(_ audit: ClusterAudit, _ servers: ClusterServers) -> Report {
        var faults: JSONObject = [:]
        var recoveries: JSONObject = [:]
        for fault in played {
            faults.add(fault.name, fault.count)
            recoveries.add(fault.name, fault.slowest.wholeMilliseconds)
        }
        var object: JSONObject = [
            "faults": faults, "faultCount": played.reduce(0) { $0 + $1.count }, "skipped": skipped,
            "delayedLinks": servers.network?.hasDelays ?? false, "slowestRecoveryMs": recoveries, "stuck": stuck,
            "serversEnded": servers.ended,
        ]
        audit.add(to: &object)
        object.add("histories", sum(\.histories))
        object.add("historyCalls", sum(\.calls))
        object.add("historyPending", sum(\.pending))
        object.add("historiesDisturbed", sum(\.disturbed))
        object.add("historiesUnfinished", sum(\.unfinished))
        object.add("notLinearizable", sum(\.wrong))
        let isGood =
            audit.isGood && stuck.isEmpty && servers.ended.isEmpty && sum(\.wrong) == 0
            && sum(\.histories) > 0
        return Report(Part.cluster.rawValue, isGood: isGood, object)
    }

    /// Shows the last that the servers have written.
    private func showLogs(_ servers: ClusterServers) {
        for name in (0..<3).flatMap({ ["daemon-\($0).log", "etcd-\($0).log"] }) + ["network.log"] {
            let path = "\(servers.folder)/\(name)"
            _ = Process.runScript(
                "! test -s \(path) || { echo \(name):; tail -n 5 \(path) | cut -c1-300; }",
                log: "/dev/stderr"
            )
        }
    }
}
