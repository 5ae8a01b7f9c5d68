import SharedSpace

/// Works of one process on one namespace.
struct OneProcess {
    static let payload = String(repeating: "x", count: 64)
    static let cells = 1000

    let namespace: Namespace

    init(_ space: Space) throws { namespace = try space.namespace("bench") }

    // MARK: Preparing

    /// Has a shape earn its index, as takes do that look through many tuples, and leaves the namespace empty.
    func index(_ take: () throws -> Bool) throws {
        let fillers = 4096
        try namespace.write(contentsOf: (0..<fillers).map { ["filler", $0, "none"] as Tuple })
        for _ in 0..<32 {
            guard try !take() else { throw Failure("a filler was taken") }
        }
        guard try namespace.takeAll(matching: ["filler", .any, .any]).count == fillers else {
            throw Failure("fillers are missing")
        }
    }

    func indexLeading() throws {
        try index { try namespace.takeIfExists("job", any(Int.self), any(String.self)) != nil }
    }

    func indexOther() throws {
        try index { try namespace.takeIfExists(any(String.self), -1, any(String.self)) != nil }
    }

    // MARK: Works

    func leading(_ count: Int) throws {
        try indexLeading()
        try measure("write", count) { try namespace.write("job", $0, Self.payload) }
        try measure("take leading", count) { _ in
            guard try namespace.takeIfExists("job", any(Int.self), any(String.self)) != nil else {
                throw Failure("nothing to take")
            }
        }
    }

    /// Writes alone, because the counts of writes can't otherwise be told from those of takes.
    func writeOnly(_ count: Int) throws {
        try indexLeading()
        try measure("write", count) { try namespace.write("job", $0, Self.payload) }
    }

    /// Writes and takes by turns, and writes and claims, while `length` tuples wait.
    func queue(_ count: Int, length: Int) throws {
        try indexLeading()
        try fill(length)
        var writes = Latencies(count)
        var takes = Latencies(count)
        for number in 0..<count {
            writes.beginLap()
            try namespace.write("job", length + number, Self.payload)
            writes.endLap()
            takes.beginLap()
            let taken = try namespace.takeIfExists("job", any(Int.self), any(String.self))
            takes.endLap()
            guard let taken, taken.1 == number else { throw Failure("tuple \(number) was not taken") }
        }
        var ends = Latencies(count)
        for number in 0..<count {
            try namespace.write("job", length + count + number, Self.payload)
            ends.beginLap()
            guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self)) else {
                throw Failure("nothing to claim")
            }
            guard claim.content.1 == count + number else { throw Failure("tuple \(count + number) was not claimed") }
            try claim.complete()
            ends.endLap()
        }
        writes.tell("queue write")
        takes.tell("queue take")
        ends.tell("queue claim")
        guard try namespace.count() == length else { throw Failure("miscounted") }
    }

    /// Writes and claims by turns.
    func nearClaims(_ count: Int) throws {
        for number in 0..<count {
            try namespace.write("job", number, Self.payload)
            guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self)) else {
                throw Failure("nothing to claim")
            }
            guard claim.content.1 == number else { throw Failure("tuple \(number) was not claimed") }
            try claim.complete()
        }
    }

    /// Writes by turns with takes of a selection that was made once.
    func preparedTakes(_ count: Int) throws {
        let next = Selection("job", any(Int.self), any(String.self))
        for number in 0..<count {
            try namespace.write("job", number, Self.payload)
            guard let (_, found, _) = try namespace.takeIfExists(matching: next), found == number else {
                throw Failure("tuple \(number) was not taken")
            }
        }
    }

    /// Writes by turns with takes that are awaited, and need not wait.
    func awaitTakes(_ count: Int) async throws {
        for number in 0..<count {
            try namespace.write("job", number, Self.payload)
            let (_, found, _) = try await namespace.take("job", any(Int.self), any(String.self))
            guard found == number else { throw Failure("tuple \(number) was not taken") }
        }
    }

    /// The same with claims.
    func awaitClaims(_ count: Int) async throws {
        for number in 0..<count {
            try namespace.write("job", number, Self.payload)
            let claim = try await namespace.claim("job", any(Int.self), any(String.self))
            guard claim.content.1 == number else { throw Failure("tuple \(number) was not claimed") }
            try claim.complete()
        }
    }

    /// Writes, reads and takes tuples of so many bytes: the first time on pages that the file has not used yet, the
    /// second time on freed ones.
    func values(_ count: Int, size: Int) throws {
        try indexLeading()
        let payload = [UInt8](repeating: 0x78, count: size)
        func found(_ tuple: (String, Int, [UInt8])?) throws {
            guard let tuple, tuple.2.count == size, tuple.2.last == 0x78 else { throw Failure("not what was written") }
        }
        try measure("value write", count) { try namespace.write("job", $0, payload) }
        try measure("value read", count) { _ in
            try found(try namespace.readIfExists("job", any(Int.self), any([UInt8].self)))
        }
        try measure("value take", count) { _ in
            try found(try namespace.takeIfExists("job", any(Int.self), any([UInt8].self)))
        }
        try measure("value write again", count) { try namespace.write("job", $0, payload) }
    }

    func other(_ count: Int) throws {
        try indexOther()
        try measure("write other", count) { try namespace.write("job", $0, Self.payload) }
        try measure("take other", count) {
            guard try namespace.takeIfExists(any(String.self), $0, any(String.self)) != nil else {
                throw Failure("nothing to take")
            }
        }
    }

    func claim(_ count: Int) throws {
        try indexLeading()
        try fill(count)
        try measure("claim", count) { _ in
            guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self)) else {
                throw Failure("nothing to claim")
            }
            try claim.complete()
        }
    }

    func batch(_ count: Int) throws {
        try indexLeading()
        let tuples = (0..<100).map { Tuple("job", $0, Self.payload) }
        try measure("batch", count, times: tuples.count) { _ in try namespace.write(contentsOf: tuples) }
    }

    func get(_ count: Int) throws {
        let names = (0..<Self.cells).map { "progress-\($0)" }
        for (number, name) in names.enumerated() { try namespace.set(name, Double(number)) }
        try measure("get", count) {
            guard try namespace.get(names[scattered($0, Self.cells)]) != nil else { throw Failure("a cell is missing") }
        }
    }

    /// Reads one cell again and again, while no process commits.
    func poll(_ count: Int) throws {
        for number in 0..<Self.cells { try namespace.set("progress-\(number)", Double(number)) }
        try measure("poll", count) { _ in
            guard try namespace.get("progress-7") != nil else { throw Failure("a cell is missing") }
        }
    }

    func read(_ count: Int) throws {
        try indexOther()
        let tuples = 100_000
        try fill(tuples)
        try measure("read", count) {
            let number = scattered($0, tuples)
            guard try namespace.readIfExists(any(String.self), number, any(String.self)) != nil else {
                throw Failure("a tuple is missing")
            }
        }
    }

    /// Writes so many tuples, numbered from 0, in batches.
    func fill(_ count: Int, from first: Int = 0) throws {
        for start in stride(from: first, to: first + count, by: 1000) {
            let end = min(start + 1000, first + count)
            try namespace.write(contentsOf: (start..<end).lazy.map { Tuple("job", $0, Self.payload) })
        }
    }

    /// Threads that write at the same time and each wait for the disk.
    static func durable(_ space: Space, _ count: Int) throws {
        let threads = 16
        let namespace = try space.namespace("durable", options: NamespaceOptions(mode: .durable))
        let each = max(1, count / threads)
        let start = now()
        try Threads.run(threads) { _ in
            for number in 0..<each { try namespace.write("job", number, payload) }
        }
        report("durable", Double(now() - start) / Double(each * threads))
    }
}

/// Strides through the numbers, so that neighbours don't follow each other.
func scattered(_ number: Int, _ among: Int) -> Int { number * 7919 % among }
