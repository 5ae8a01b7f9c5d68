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

    // MARK: Waiting

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
