import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

extension KillLedger {
    /// Forks one worker after the other until the run stops, and notes how each died.
    ///
    /// Half of the deaths are at `points`, in turn; the others are at a random time.
    func supervise(
        _ worker: Int,
        _ options: Options,
        at points: [CrashPoint],
        live: (Place, CrashPoint?, inout SeededGenerator) throws -> Void
    ) {
        var generator = SeededGenerator(seed: options.seed &+ UInt64(worker) &* 1_000_003)
        let place = place(worker)
        var turn = worker
        waitForStart()
        while stop.load() == 0 {
            let index = turn % (2 * points.count) < points.count ? turn % points.count : points.count
            turn += 1
            let point = index < points.count ? points[index] : nil
            var childGenerator = SeededGenerator(seed: generator.next())
            guard let child = try? Process.startWorker({ try live(place, point, &childGenerator) }) else { continue }
            let limit = point == nil ? Int.random(in: 200...30_000, using: &generator) : 400_000
            let (end, wasKilledHere) = Process.wait(child, atMost: limit)
            switch end {
            case .killed(SIGKILL): noteDeath(of: child, place, point: wasKilledHere ? points.count : index)
            case .exited(0): break
            default:
                note("a worker ended by itself: \(end)")
                _ = failures.add(1)
            }
            place.end()
        }
    }
}
