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
        let end = endOfWork()
        var isCut = false
        for number in 0..<count {
            if let end, number > 0, now() >= end {
                isCut = true
                break
            }
            if sleeping { letSleep() }
            latencies.beginLap()
            try namespace.write("ping", number, OneProcess.payload)
            guard try namespace.take("pong", any(Int.self), any(String.self), timeout: patience) != nil else {
                throw Failure("no answer")
            }
            latencies.endLap()
        }
        if isCut { try child.end() } else { try child.wait() }
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
    ///
    /// With a limit, the producers stop when their time is over.
    static func crowd(_ space: Space, _ count: Int, producers: Int, takers: Int) throws {
        let namespace = try space.namespace("bench")
        var children: [Child] = []
        for _ in 0..<producers { children.append(try Child([space.root, "produce", "\(count / producers)"])) }
        for _ in 0..<takers { children.append(try Child([space.root, "consume", "\(count / takers)"])) }
        for child in children { _ = try child.receive() }
        let start = now()
        try namespace.set("go", true)
        var (taken, last) = (0, start)
        for (number, child) in children.enumerated() {
            let (passed, end) = (Int(try child.receive()), try child.receive())
            if number >= producers { (taken, last) = (taken + passed, max(last, end)) }
            try child.wait()
        }
        report("crowd", Double(last - start) / Double(taken))
        let left = try namespace.count()
        guard left == 0 else { throw Failure("\(left) messages were left over") }
    }

    static func member(_ space: Space, _ count: Int, takes: Bool) throws {
        let namespace = try space.namespace("bench")
        send(0)
        guard try namespace.get("go", as: Value.self, timeout: patience) != nil else { throw Failure("nobody said go") }
        let end = endOfWork()
        var (passed, last) = (0, now())
        // With a limit, a taker doesn't know how many messages there will be.
        while passed < count || (takes && end != nil) {
            if takes {
                let patience = end == nil ? patience : .seconds(3)
                guard try namespace.take("job", any(Int.self), any(String.self), timeout: patience) != nil else {
                    if end != nil { break }
                    throw Failure("nothing to take")
                }
                if end != nil { last = now() }
            } else {
                if let end, passed % 64 == 0, now() >= end { break }
                try namespace.write("job", passed, OneProcess.payload)
            }
            passed += 1
        }
        if end == nil { last = now() }
        send(UInt64(passed))
        send(last)
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
