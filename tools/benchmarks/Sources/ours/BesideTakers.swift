import SharedSpace

/// A stream of writes on the first machine, and takers on the others that take what it writes.
///
/// Reported are the time of all, until the last tuple is taken, ÷ the number of writes, and the times of single writes.
enum BesideTakers {
    /// Tells a taker that nothing more comes.
    private static let last = -1

    static func run(_ machines: Machines, milliseconds: Int, takers: Int) throws {
        let elsewhere = machines.spaces.dropFirst()
        let children = try (0..<takers).map { number in
            let root = elsewhere[elsewhere.startIndex + number % elsewhere.count].root
            return try Child([root, "machines-beside-taker", "0", machines.name])
        }
        for child in children { _ = try child.receive() }
        let start = now()
        var ends = [start]
        while ends[ends.count - 1] < start + UInt64(milliseconds) * 1_000_000 {
            try machines.namespaces[0].write("job", ends.count, OneProcess.payload)
            ends.append(now())
        }
        for _ in children { try machines.namespaces[0].write("job", last, OneProcess.payload) }
        let taken = try children.reduce(0) { try $0 + $1.receive() }
        let end = now()
        for child in children { try child.wait() }
        let writes = ends.count - 1
        guard taken == writes else { throw Failure("\(taken) tuples were taken, and \(writes) written") }
        report("beside", Double(end - start) / Double(writes))
        Latencies.tell("beside, each", zip(ends, ends.dropFirst()).map { Double($1 - $0) })
    }

    static func take(_ space: Space, _ name: String) throws {
        let namespace = try Machines.open(name, in: space)
        send(0)
        var count: UInt64 = 0
        while true {
            guard let (_, number, _) = try namespace.take("job", any(Int.self), any(String.self), timeout: Machines.patience)
            else { throw Failure("tuple \(count) did not come") }
            if number == last { break }
            count += 1
        }
        send(count)
    }
}
