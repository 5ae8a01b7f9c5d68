import SharedSpace

/// A read of a replicated namespace beside one of an ordinary namespace with the same tuples, by turns.
enum ReplicaReading {
    private static let tuples = 1000
    private static let lap = 500

    static func run(_ machines: Machines, _ space: Space, _ count: Int) throws {
        let ordinary = try space.namespace("\(machines.name)-ordinary")
        let both = [("replica", machines.namespaces[0]), ("ordinary", ordinary)]
        var times = both.map { _ in Latencies(count) }
        for (_, namespace) in both {
            try namespace.write(contentsOf: (0..<tuples).map { Tuple("job", $0, OneProcess.payload) })
        }
        for start in stride(from: 0, to: count, by: lap) {
            for (number, (name, namespace)) in both.enumerated() {
                times[number].beginLap()
                for _ in start..<min(start + lap, count) {
                    guard try namespace.readIfExists("job", any(Int.self), any(String.self)) != nil else {
                        throw Failure("nothing to read in the \(name) namespace")
                    }
                    times[number].endLap()
                }
            }
        }
        for ((name, _), times) in zip(both, times) { times.tell("read \(name)") }
    }
}
