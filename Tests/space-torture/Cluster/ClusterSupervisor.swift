import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// Forks the workers of one place, one after the other: kills them, stops them for a while, and ends them with their
/// machine.
struct ClusterSupervisor {
    let options: Options
    let roots: [String]
    let ledger: ClusterLedger
    let boards: [ClusterHistoryBoard]
    /// The first places are those of histories, the last ones those of observers, one on each machine.
    let number: Int

    static func places(_ options: Options, _ boards: [ClusterHistoryBoard]) -> Int {
        boards.count * ClusterHistoryBoard.places + options.processes + ClusterLedger.machines
    }

    private var machine: Int { number % roots.count }
    /// The board of a process that makes histories; `nil` for the others.
    private var board: ClusterHistoryBoard? {
        number < boards.count * ClusterHistoryBoard.places ? boards[number / ClusterHistoryBoard.places] : nil
    }
    private var historyPlace: Int { number % ClusterHistoryBoard.places }

    /// How long a worker that is to end by itself may take, after the run's end.
    private static let patience = Duration.seconds(90)

    /// The places at which half of the workers are killed, or sleep for a while.
    static let points: [CrashPoint] = [
        .gateTaken, .begun, .beforeLogging, .logged, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken,
        .rung,
        .slotPublished, .operationSent,
    ]

    func supervise() {
        var generator = SeededGenerator(seed: options.seed &+ UInt64(number) &* 1_000_003)
        let place = ledger.kill.place(number)
        while ledger.stop.load() == 0 {
            if ledger.isDown(machine).load() != 0 {
                usleep(5000)
                continue
            }
            var childGenerator = SeededGenerator(seed: generator.next())
            let point = Bool.random(using: &generator) ? Self.points.indices.randomElement(using: &generator) : nil
            guard
                let child = try? Process.startWorker({
                    if let point { Self.arm(Self.points[point], &childGenerator) }
                    try live(place, &childGenerator)
                })
            else { continue }
            let (end, wasKilledHere) = attend(child, &generator)
            switch end {
            case .killed(SIGKILL) where wasKilledHere || point != nil:
                ledger.kill.noteDeath(of: child, place, point: KillLedger.points.count)
                if let point, !wasKilledHere { ledger.killedAt(point).add(1) }
            case .exited(0): break
            default:
                note("a worker ended by itself: \(end)")
                _ = ledger.failures.add(1)
            }
            place.end()
            board?.isIn(historyPlace).storeSequential(0)
        }
    }

    private static func arm(_ point: CrashPoint, _ generator: inout SeededGenerator) {
        let count = Int.random(in: 1...20, using: &generator)
        if Int.random(in: 0..<4, using: &generator) > 0 { return CrashPoint.arm(point, count: count) }
        // In the gate, for example, others are told that it is busy; an append may be older than the machine's lease.
        let time = UInt32(Int.random(in: 10_000...6_000_000, using: &generator))
        CrashPoint.arm(point, count: count, action: .run { usleep(time) })
    }

    private func live(_ place: KillLedger.Place, _ generator: inout SeededGenerator) throws {
        WrongClock.use(roots[machine])
        if let board {
            try ClusterHistoryWorker(
                root: roots[machine],
                process: historyPlace,
                machine: machine,
                board: board,
                ledger: ledger,
                plant: options.plant
            ).live(&generator)
        } else if number >= Self.places(options, boards) - roots.count {
            try ClusterObserver(root: roots[machine], ledger: ledger).live()
        } else {
            try ClusterWorker(
                root: roots[machine],
                machine: machine,
                ledger: ledger,
                place: place,
                plant: options.plant
            ).live(&generator)
        }
    }

    /// Waits for the worker's end, which this process may bring about.
    private func attend(_ child: pid_t, _ generator: inout SeededGenerator) -> (Process.End, wasKilledHere: Bool) {
        // One in eight lives long: an operation may take seconds while the cluster is disturbed.
        let lives = board == nil ? 300...6000 : 2000...20_000
        let life = Int.random(in: lives, using: &generator) * (Int.random(in: 0..<8, using: &generator) == 0 ? 5 : 1)
        let start = MonotonicInstant.now
        let killTime = start.advanced(by: .milliseconds(life))
        let stopTime = start.advanced(by: .milliseconds(Int.random(in: 100...20_000, using: &generator)))
        var isStopped = false
        var goOnTime = stopTime
        var last: MonotonicInstant?
        while !Process.hasEnded(child) {
            let isOver = ledger.stop.load() != 0
            let isToDie = ledger.isDown(machine).load() != 0 || killTime.hasPassed && !isOver
            if isOver, last == nil {
                last = .now.advanced(by: Self.patience)
                kill(child, SIGCONT)
            }
            if isToDie || last?.hasPassed == true {
                if last?.hasPassed == true {
                    note("a worker does not end")
                    _ = ledger.failures.add(1)
                }
                kill(child, SIGKILL)
                return (Process.wait(child), true)
            }
            if !isStopped, stopTime.hasPassed, !isOver {
                kill(child, SIGSTOP)
                _ = ledger.stops.add(1)
                isStopped = true
                // Mostly short; sometimes longer than the time for which a machine lives without word.
                let isLong = Int.random(in: 0..<4, using: &generator) == 0
                goOnTime = .now.advanced(
                    by: .milliseconds(Int.random(in: isLong ? 3000...6000 : 5...500, using: &generator))
                )
            } else if isStopped, goOnTime.hasPassed {
                kill(child, SIGCONT)
                goOnTime = .distantFuture
            }
            usleep(10_000)
        }
        return (Process.wait(child), false)
    }
}
