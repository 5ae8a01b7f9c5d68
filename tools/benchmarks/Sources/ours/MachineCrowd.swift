import Glibc
import SharedSpace

/// Writers or takers, each a process, spread over the machines, for so many milliseconds or until the queue is empty.
///
/// They begin together: each waits for a cell in a namespace of the first machine alone, which is not replicated.
/// Reported are the time of all ÷ the number of operations, and the times of single operations.
struct MachineCrowd {
    /// `write`; `take`; `take-alone`: a take in the body of a transaction, which no other operation is joined with.
    let kind: String
    let members: Int

    /// How many tuples wait for takers.
    private static let queue = 8000
    /// How many of them are written in one commit, which has an upper limit.
    private static let atOnce = 1000

    func run(_ machines: Machines, milliseconds: Int) throws {
        let first = machines.spaces[0]
        if kind != "write" {
            for start in stride(from: 0, to: Self.queue, by: Self.atOnce) {
                let tuples = (start..<start + Self.atOnce).map { Tuple("job", $0, OneProcess.payload) }
                try machines.namespaces[0].write(contentsOf: tuples)
            }
        }
        let court = try first.namespace("\(machines.name)-court")
        let children = try (0..<members).map { number in
            let root = machines.spaces[number % machines.spaces.count].root
            return try Child([root, "machines-member", "\(number)", kind, machines.name, first.root])
        }
        for child in children { _ = try child.receive() }
        let start = now()
        try court.set("deadline", Int(start) + milliseconds * 1_000_000)
        var end = start
        var times: [Double] = []
        for child in children {
            let count = try child.receive()
            end = max(end, try child.receive())
            for _ in 0..<count { times.append(Double(try child.receive())) }
            try child.wait()
        }
        guard !times.isEmpty else { throw Failure("nothing was done") }
        report(kind, Double(end - start) / Double(times.count))
        Latencies.tell("\(kind), each", times)
        try check(machines, done: times.count)
    }

    /// What is there at the end shows that each operation was done once.
    private func check(_ machines: Machines, done: Int) throws {
        let expected = kind == "write" ? done : Self.queue - done
        for namespace in machines.namespaces {
            try namespace.synchronize()
            let found = try namespace.count(matching: ["job", .any, .any])
            guard found == expected else { throw Failure("\(found) tuples are there, and \(expected) should be") }
        }
    }

    // MARK: A member

    static func member(_ space: Space, _ number: Int, _ more: [String]) throws {
        let (kind, name) = (more[0], more[1])
        let namespace = try Machines.open(name, in: space)
        let court = try Space(root: more[2]).existingNamespace("\(name)-court", owning: false)
        // Includes all that a first call sets up.
        try namespace.write("first", number)
        _ = try namespace.takeIfExists("first", number)
        send(0)
        guard let deadline = try court.get("deadline", as: Int.self, timeout: Machines.patience) else {
            throw Failure("there is no deadline")
        }
        var ends: [UInt64] = [now()]
        while ends[ends.count - 1] < UInt64(deadline), try once(namespace, kind, ends.count) { ends.append(now()) }
        send(UInt64(ends.count - 1))
        send(ends[ends.count - 1])
        for (start, end) in zip(ends, ends.dropFirst()) { send(end - start) }
    }

    /// - Returns: Whether there was something to do.
    private static func once(_ namespace: Namespace, _ kind: String, _ number: Int) throws -> Bool {
        switch kind {
        case "write":
            try namespace.write("job", number, OneProcess.payload)
            return true
        case "take": return try namespace.takeIfExists("job", any(Int.self), any(String.self)) != nil
        case "take-alone":
            while true {
                do {
                    return try namespace.transaction {
                        try $0.takeIfExists("job", any(Int.self), any(String.self)) != nil
                    }
                } catch let error as SpaceError where error.code == .outrun {
                    // Another machine's commit came in between: its time counts, as in the recipe's loop.
                }
            }
        default: throw Failure("no such kind of member: \(kind)")
        }
    }
}
