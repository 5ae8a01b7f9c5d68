import Glibc
import SharedSpace

/// How much watchers cost the writer: none, one, a hundred in another process, a hundred in as many processes.
///
/// Each kind has a namespace of its own, and they take turns. Reported are how long the writer ran for a write, and how
/// long it was until the write returned: while the processes that it wakes run on its processor instead, the writer
/// does not run.
///
///     after a pause   when the watchers sleep, having read all: the write signals, and the kernel wakes them
///     in a burst      of writes one after the other, while the watchers read along
enum Watchers {
    private static let kinds: [(name: String, processes: Int, each: Int)] = [
        ("0 watchers", 0, 0), ("1 watcher", 1, 1), ("100 watchers in one process", 1, 100),
        ("100 watching processes", 100, 1),
    ]
    private static let burst = 200

    static func run(_ space: Space, _ count: Int) throws {
        let namespaces = try kinds.map { try space.namespace($0.name) }
        var children: [Child] = []
        for kind in kinds {
            for _ in 0..<kind.processes {
                children.append(try Child([space.root, "be-watched", "\(kind.each)", kind.name]))
            }
        }
        for child in children { _ = try child.receive() }
        var times = [(returned: [Double], paused: [Double], burst: [Double])](
            repeating: ([], [], []),
            count: kinds.count
        )
        for _ in 0..<count {
            for (kind, namespace) in namespaces.enumerated() {
                usleep(20_000)
                letSleep()
                let begun = now()
                var start = running()
                try namespace.write("job", 0, OneProcess.payload)
                times[kind].paused.append(Double(running() - start))
                times[kind].returned.append(Double(now() - begun))
                start = running()
                for number in 0..<burst { try namespace.write("job", number, OneProcess.payload) }
                times[kind].burst.append(Double(running() - start) / Double(burst))
            }
        }
        for child in children { try child.end() }
        for (kind, times) in zip(kinds, times) {
            report("write after a pause, \(kind.name)", median(times.paused))
            report("write after a pause, until it returns, \(kind.name)", median(times.returned))
            report("write in a burst, \(kind.name)", median(times.burst))
        }
    }

    static func watch(_ space: Space, _ name: String, _ count: Int) throws {
        let namespace = try space.namespace(name, owning: false)
        let tokens = try (0..<count).map { _ in try namespace.observe(.tuples(["job", .any, .any])) { _ in } }
        send(0)
        withExtendedLifetime(tokens) { while true { pause() } }
    }

    /// Nanoseconds that this thread has run.
    private static func running() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
