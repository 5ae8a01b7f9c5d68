import Glibc
import SharedSpace

/// Works of several processes; the others run this program too, with the words of a member.
enum Processes {
    private static let patience = Duration.seconds(60)

    // MARK: There and back

    static func handOff(_ space: Space, _ count: Int, sleeping: Bool) throws {
        let namespace = try space.namespace("bench")
        let child = try Child([space.root, "answer", "\(count)"])
        _ = try child.receive()
        var latencies = Latencies(count)
        for number in 0..<count {
            if sleeping { letSleep() }
            latencies.beginLap()
            try namespace.write("ping", number, OneProcess.payload)
            guard try namespace.take("pong", any(Int.self), any(String.self), timeout: patience) != nil else {
                throw Failure("no answer")
            }
            latencies.endLap()
        }
        try child.wait()
        latencies.tell(sleeping ? "hand-off sleeping" : "hand-off spinning")
    }

    static func answer(_ space: Space, _ count: Int) throws {
        let namespace = try space.namespace("bench")
        send(0)
        for _ in 0..<count {
            guard let (_, number, text) = try namespace.take("ping", any(Int.self), any(String.self), timeout: patience)
            else { throw Failure("nothing to answer") }
            try namespace.write("pong", number, text)
        }
    }

    // MARK: Many to many

    /// Producers and takers, each a process: nanoseconds a message, from the moment when all are ready until the last
    /// was taken.
    static func crowd(_ space: Space, _ count: Int, producers: Int, takers: Int) throws {
        let namespace = try space.namespace("bench")
        var children: [Child] = []
        for _ in 0..<producers { children.append(try Child([space.root, "produce", "\(count / producers)"])) }
        for _ in 0..<takers { children.append(try Child([space.root, "consume", "\(count / takers)"])) }
        for child in children { _ = try child.receive() }
        let start = now()
        try namespace.set("go", value: true)
        for child in children { try child.wait() }
        report("crowd", Double(now() - start) / Double(count))
        let left = try namespace.count()
        guard left == 0 else { throw Failure("\(left) messages were left over") }
    }

    static func member(_ space: Space, _ count: Int, takes: Bool) throws {
        let namespace = try space.namespace("bench")
        send(0)
        guard try namespace.get("go", timeout: patience) != nil else { throw Failure("nobody said go") }
        for number in 0..<count {
            if takes {
                guard try namespace.take("job", any(Int.self), any(String.self), timeout: patience) != nil else {
                    throw Failure("nothing to take")
                }
            } else {
                try namespace.write("job", number, OneProcess.payload)
            }
        }
    }

    /// A taker that stays blocked, to be examined from outside, until it is killed or served.
    static func wait(_ space: Space, _ kind: String, _ count: Int) throws {
        let namespace = try space.namespace("bench")
        send(0)
        for _ in 0..<count { _ = try namespace.take(kind, any(Int.self), any(String.self), timeout: .seconds(600)) }
    }

    /// Writes a tuple for each byte on standard input, and reports each commit.
    static func writeAsked(_ space: Space, _ count: Int) throws {
        let namespace = try space.namespace("bench")
        send(0)
        var byte: UInt8 = 0
        for number in 0..<count {
            guard read(0, &byte, 1) == 1 else { return }
            try namespace.write("job", number, OneProcess.payload)
            send(now())
        }
    }
}
