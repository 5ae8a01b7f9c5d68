import Glibc
import SharedSpace

/// Producers and takers, each a process, that pass messages through one queue.
///
/// Reported are the time from the moment when all are ready until the last message was taken, divided by their number;
/// the times from one message of all takers to their next; how many commits the library made meanwhile; and after how
/// many messages it had made the last one. With a limit, the producers stop when their time is over.
enum Crowd {
    private static let patience = Duration.seconds(60)
    /// How many messages a queue that is to spill has before the first is taken: more than the near end has places, so
    /// that one commit takes over what is in it.
    private static let spilling = 300
    /// Tells a taker that there are no more messages.
    private static let end = -1

    static func run(_ space: Space, _ count: Int, producers: Int, takers: Int, spills: Bool) throws {
        let namespace = try space.namespace("bench")
        let commits = try Commits(space, "bench")
        let earlier = spills ? spilling : 0
        if spills {
            let before = commits.last
            for number in 0..<earlier { try namespace.write("job", number, OneProcess.payload) }
            guard commits.last > before else { throw Failure("the queue did not spill") }
        }
        let each = count / producers
        let all = earlier + each * producers
        let writing = try (0..<producers).map { _ in try Child([space.root, "produce", "\(each)"]) }
        let taking = try (0..<takers).map { _ in try Child([space.root, "consume", "\(all)"]) }
        for child in writing + taking { _ = try child.receive() }
        let before = commits.last
        let start = now()
        for child in writing + taking { try child.tell() }
        var written = earlier
        for child in writing { written += Int(try child.receive()) }
        // The last tuples that are taken, because the oldest come first.
        for _ in taking { try namespace.write("job", end, OneProcess.payload) }
        var times: [UInt64] = []
        var (last, changed) = (before, UInt64(0))
        for child in taking {
            last = max(last, Int(try child.receive()))
            changed = max(changed, try child.receive())
            times += try child.receive(Int(try child.receive()))
        }
        // They end together, so that the end of one is no part of what is measured.
        for child in writing + taking { try child.wait() }
        guard times.count == written else { throw Failure("\(written) were written, and \(times.count) taken") }
        let left = try namespace.count()
        guard left == 0 else { throw Failure("\(left) messages were left over") }
        tell("crowd", start, times.sorted())
        report("crowd, commits", Double(last - before))
        report("crowd, messages until the last commit", Double(times.count { $0 <= changed }))
    }

    /// As `tell_crowd` of bench.h.
    private static func tell(_ name: String, _ start: UInt64, _ times: [UInt64]) {
        let laps = zip(times, [start] + times).map { Double($0 - $1) }.sorted()
        let mean = Double(times[times.count - 1] - start) / Double(times.count)
        report(name, mean)
        report("\(name), p50", laps[(laps.count - 1) / 2])
        if laps.count >= 100 { report("\(name), p99", laps[(laps.count * 99 + 99) / 100 - 1]) }
        report("\(name), mean", mean)
    }

    // MARK: A member

    /// Opens the namespace, with all that a first look sets up, and waits until all members are ready.
    private static func join(_ space: Space) throws -> (Namespace, Commits) {
        let namespace = try space.namespace("bench")
        _ = try namespace.get("first")
        let commits = try Commits(space, "bench")
        send(0)
        awaitParent()
        return (namespace, commits)
    }

    static func produce(_ space: Space, _ count: Int) throws {
        let (namespace, _) = try join(space)
        let end = endOfWork()
        var passed = 0
        while passed < count {
            if let end, passed % 64 == 0, now() >= end { break }
            try namespace.write("job", passed, OneProcess.payload)
            passed += 1
        }
        send(UInt64(passed))
        awaitParent()
    }

    /// `count`: How many messages the taker may get, which is all of them.
    static func take(_ space: Space, _ count: Int) throws {
        // A page that the kernel provides during the measurement would cost a message its time.
        var times = [UInt64](repeating: 1, count: count)
        let (namespace, commits) = try join(space)
        var (last, changed, taken) = (commits.last, UInt64(0), 0)
        while let (_, number, _) = try namespace.take("job", any(Int.self), any(String.self), timeout: patience) {
            if number == end {
                send(UInt64(last))
                send(changed)
                send(UInt64(taken))
                try send(times[..<taken])
                awaitParent()
                return
            }
            times[taken] = now()
            let seen = commits.last
            if seen != last { (last, changed) = (seen, times[taken]) }
            taken += 1
        }
        throw Failure("nothing to take")
    }
}
