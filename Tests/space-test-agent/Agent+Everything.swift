import SharedSpaceObjects

// Something in every table of a namespace, over many pages, for tests that damage them.

extension Agent {
    func performEverything(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "fill-everything": try fillEverything(try number(words, 0))
        default: return nil
        }
        return "ok"
    }

    /// `fill-everything <tuples>`.
    private func fillEverything(_ count: Int) throws {
        let namespace = try namespace()
        changes = try namespace.changes(from: .subscription("kept"))
        let text = String(repeating: "x", count: 60)
        for start in stride(from: 0, to: count, by: 500) {
            let numbers = start..<min(start + 500, count)
            try namespace.write(contentsOf: numbers.map { number -> Tuple in ["job", number, text, number % 7] })
        }
        let large = String(repeating: "y", count: 9000)
        for number in 0..<8 { try namespace.write("large", number, large) }
        for number in 0..<20 { try namespace.write(tuple: ["late", number], expires: .seconds(3600)) }
        // The namespace earns indexes by searches.
        for number in 0..<40 {
            _ = try namespace.readIfExists(matching: [.any, number, .any, .any])
            _ = try namespace.readIfExists(matching: ["job", .any, .any, number % 7])
        }
        for number in 0..<80 { try namespace.set("cell \(number)", number % 10 == 0 ? large : text) }
        try namespace.orderedSet("set", of: Int.self).append(contentsOf: 0..<700)
        let dictionary = try namespace.dictionary("dictionary", of: Int.self)
        for number in 0..<60 { try dictionary.modify("key \(number)") { $0 = number } }
        let queue = namespace.queue("queue")
        for number in 0..<60 { try queue.put(text, priority: number % 3, group: number % 4 == 0 ? "g" : nil) }
        for _ in 0..<5 { _ = try namespace.counter("counter").add() }
        _ = try namespace.latch("latch", count: 3).countDown()
        _ = try namespace.rateLimit("rate", limit: 5, per: .seconds(3600)).tryAcquire()
        _ = try namespace.takeAll(matching: ["job", .any, .any, 3], max: 40)
        claims += try namespace.claimBriefly(matching: ["job", .any, .any, 4], max: 30)
        for claim in claims.prefix(10) { try namespace.bury(claim) }
        try namespace.setPersistent(true)
    }
}
