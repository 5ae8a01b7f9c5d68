import SharedSpace

/// Takes and claims from queues whose tuples are all in LMDB's tables before the first is taken.
struct LongQueues {
    private let work: OneProcess
    private let count: Int
    private let length: Int

    private var namespace: Namespace { work.namespace }

    /// `count`: How many tuples are taken, of the `length` that there are.
    init(_ space: Space, _ count: Int, length: Int) throws {
        guard count <= length else { throw Failure("\(count) can't be taken of \(length)") }
        work = try OneProcess(space)
        self.count = count
        self.length = length
        try work.indexLeading()
    }

    func run(_ name: String) throws {
        switch name {
        case "long-take": try takes()
        case "long-claim": try claims()
        case "long-behind": try takesBehindOthers()
        case "long-turns": try takesByTurns()
        case "long-released": try claimsWithReleases()
        case "long-deadlines": try claimsWithDeadlines()
        default: throw Failure("no such work on a long queue: \(name)")
        }
    }

    // MARK: Works

    private func takes() throws {
        try work.fill(length)
        try measure("long take", count) { try take("job", $0) }
    }

    private func claims() throws {
        try work.fill(length)
        try measure("long claim", count) { try claim($0).complete() }
    }

    /// Behind 100 older tuples of another kind, which no process takes.
    private func takesBehindOthers() throws {
        let others = 100
        try namespace.write(contentsOf: (0..<others).map { Tuple("resident", $0, OneProcess.payload) })
        try work.fill(length)
        try measure("long take behind others", count) { try take("job", $0) }
        try expect(others + length - count)
    }

    /// From two queues, one tuple each.
    private func takesByTurns() throws {
        let kinds = ["job", "mail"]
        for start in stride(from: 0, to: length, by: 1000) {
            let numbers = start..<min(start + 1000, length)
            try namespace.write(contentsOf: numbers.map { Tuple(kinds[$0 % 2], $0, OneProcess.payload) })
        }
        try measure("long take by turns", count) { try take(kinds[$0 % 2], $0) }
        try expect(length - count)
    }

    /// Of 20 claims one is released, after eight others; the next claim has its tuple again.
    private func claimsWithReleases() throws {
        try work.fill(length)
        var times = Latencies(count)
        var kept: Claim<(String, Int, String)>?
        var (next, returned, completed) = (0, Int?.none, 0)
        times.beginLap()
        for number in 0..<count {
            let expected = returned ?? next
            if returned == nil { next += 1 }
            returned = nil
            let claim = try claim(expected)
            if number % 20 == 0 {
                kept = consume claim
            } else {
                try claim.complete()
                completed += 1
            }
            if number % 20 == 8, let back = kept.take() {
                returned = back.content.1
                try back.release()
            }
            times.endLap()
        }
        times.tell("long claim with releases")
        if let last = kept.take() { try last.release() }
        try expect(length - completed)
    }

    /// Of 10 claims one has a deadline, which does not pass.
    private func claimsWithDeadlines() throws {
        try work.fill(length)
        try measure("long claim with deadlines", count) {
            try claim($0, deadline: $0 % 10 == 0 ? .seconds(600) : nil).complete()
        }
        try expect(length - count)
    }

    // MARK: Steps

    private func take(_ kind: String, _ number: Int) throws {
        guard let (_, found, _) = try namespace.takeIfExists(kind, any(Int.self), any(String.self)), found == number
        else {
            throw Failure("tuple \(number) was not taken")
        }
    }

    private func claim(_ number: Int, deadline: Duration? = nil) throws -> Claim<(String, Int, String)> {
        guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self), deadline: deadline) else {
            throw Failure("nothing to claim")
        }
        guard claim.content.1 == number else { throw Failure("tuple \(number) was not claimed") }
        return claim
    }

    private func expect(_ number: Int) throws {
        let left = try namespace.count()
        guard left == number else { throw Failure("\(left) tuples are left, and \(number) should be") }
    }
}
