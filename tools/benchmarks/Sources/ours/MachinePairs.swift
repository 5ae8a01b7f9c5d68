import Glibc
import SharedSpace

/// What two machines cost each other: the pen's way from one to the other, and a write that the other waits for.
enum MachinePairs {
    /// No row goes on for longer, however slow the machines are.
    private static let longest = Duration.seconds(20)
    /// Until a process that waits sleeps, no machine has anything to catch up with, and the pen rests: in microseconds.
    private static let settling: UInt32 = 30_000

    /// Two machines write by turns, so that each write needs the pen that the other machine has.
    static func handOver(_ machines: Machines, _ count: Int) throws {
        let deadline = ContinuousClock.now + longest
        var times = Latencies(count)
        for number in 0..<count where ContinuousClock.now < deadline {
            let namespace = machines.namespaces[number % machines.namespaces.count]
            times.beginLap()
            try namespace.write("job", number, OneProcess.payload)
            times.endLap()
        }
        times.tell("pen")
    }

    /// From right before a write on the first machine until a process on the second, which was blocked in a take or a read,
    /// has the tuple.
    ///
    /// `pen`: The machine that has the pen when the write begins, from 1 on.
    static func notice(_ machines: Machines, _ count: Int, pen: String, by way: String) throws {
        guard let holder = Int(pen), machines.namespaces.indices.contains(holder - 1) else {
            throw Failure("which machine has the pen?")
        }
        let child = try Child([machines.spaces[1].root, "machines-noticer", "\(count)", machines.name, way])
        let deadline = ContinuousClock.now + longest
        var times: [Double] = []
        while times.count < count, ContinuousClock.now < deadline {
            _ = try child.receive()
            try machines.namespaces[holder - 1].set("pen", times.count)
            usleep(settling)
            let start = now()
            try machines.namespaces[0].write("job", times.count, OneProcess.payload)
            times.append(Double(try child.receive() - start))
        }
        try child.end()
        Latencies.tell("notice", times)
    }

    static func beNoticed(_ space: Space, _ count: Int, _ more: [String]) throws {
        let namespace = try Machines.open(more[0], in: space)
        let takes = more[1] == "take"
        for number in 0..<count {
            send(0)
            let isThere =
                takes
                ? try namespace.take("job", number, any(String.self), timeout: Machines.patience) != nil
                : try namespace.read("job", number, any(String.self), timeout: Machines.patience) != nil
            guard isThere else { throw Failure("tuple \(number) did not come") }
            send(now())
        }
    }
}
