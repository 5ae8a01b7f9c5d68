import SeededRandom
package import SharedSpaceObjects

/// Random operations of all kinds on a namespace, one after the other.
package struct RandomWork {
    private let namespace: Namespace
    private let name: String
    package let seed: UInt64
    private var generator: SeededGenerator
    private var claims: [HeldClaim] = []
    private var items: [QueueItem.Detached] = []
    private var watcher: Changes?

    /// - Parameters:
    ///   - namespace: The namespace.
    ///   - seed: Decides which operations are made.
    ///   - name: Part of the names that only one process may use at a time.
    package init(_ namespace: Namespace, seed: UInt64, name: String = "") {
        self.namespace = namespace
        self.name = name
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    private mutating func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// One operation.
    package mutating func step() throws {
        switch random(0..<12) {
        case 0...2: try write()
        case 3, 4: try take()
        case 5: try claim()
        case 6: try changeCell()
        case 7: try useQueue()
        case 8: try editCollection()
        case 9: try useRecipes()
        case 10: try transact()
        default: try watch()
        }
    }

    /// Ends what it has claimed and holds.
    package mutating func end() throws {
        for claim in claims { _ = try namespace.release(claim) }
        claims = []
        items = []
        watcher = nil
    }

    /// Ends the work, and all that ends with this process.
    package mutating func endAll() throws {
        for item in items { try? item.attach().release() }
        try end()
        for key in try namespace.cells().map(\.key) where key.hasPrefix("cell.") { try namespace.unset(key) }
    }

    private mutating func tuple() -> Tuple {
        let text = String(repeating: "x", count: random(0..<20) == 0 ? random(2000..<9000) : random(0..<60))
        switch random(0..<4) {
        case 0: return Tuple(record: ["kind": "job", "n": .int(random(0..<9)), "text": .string(text)])
        default: return ["job", random(0..<9), text]
        }
    }

    private mutating func write() throws {
        switch random(0..<6) {
        case 0: try namespace.write(tuple: tuple(), expires: .milliseconds(random(1..<400)))
        case 1: try namespace.write(tuple: tuple(), lifetime: .session)
        case 2:
            let tuples = (0..<random(1..<40)).map { _ in tuple() }
            try namespace.write(contentsOf: tuples)
        default: try namespace.write(tuple: tuple())
        }
    }

    private mutating func take() throws {
        switch random(0..<5) {
        case 0: _ = try namespace.takeAll(matching: ["job", random(0..<9), .any], max: random(1..<30))
        case 1: _ = try namespace.takeIfExists(matching: ["kind": "job"])
        // Searches by the second field earn it an index.
        case 2: _ = try namespace.readIfExists(matching: [.any, random(0..<12), .any])
        default: _ = try namespace.takeIfExists(matching: ["job", .any, .any])
        }
    }

    private mutating func claim() throws {
        if claims.count > 20 || random(0..<2) == 0, let claim = claims.popLast() {
            switch random(0..<5) {
            case 0: try? namespace.complete(claim)
            case 1: try? namespace.bury(claim)
            case 2: _ = try? namespace.release(claim, delay: .milliseconds(random(0..<50)))
            default: _ = try? namespace.release(claim)
            }
        } else if random(0..<8) == 0 {
            _ = try namespace.kick()
        } else {
            claims += try namespace.claimBriefly(matching: ["job", .any, .any], max: random(1..<4))
        }
    }

    private mutating func changeCell() throws {
        let key = "cell.\(random(0..<30))"
        switch random(0..<6) {
        case 0: _ = try namespace.unset(key)
        case 1: _ = try namespace.increment("count", by: random(1..<9))
        case 2: try namespace.set(key, random(0..<9), expires: .milliseconds(random(1..<400)))
        case 3: try namespace.set(key, String(repeating: "y", count: random(0..<5000)))
        case 4: try namespace.set(key, ["list": [1, 2, .int(random(0..<9))]] as Value, lifetime: .session)
        default: try namespace.set(key, random(0..<9))
        }
    }

    private mutating func useQueue() throws {
        let queue = namespace.queue("queue \(random(0..<3))")
        if random(0..<2) == 0 {
            try queue.put(random(0..<9), priority: random(0..<3), group: random(0..<4) == 0 ? "g" : nil)
        } else if random(0..<2) == 0, let item = items.popLast() {
            switch random(0..<3) {
            case 0: try? item.attach().release()
            case 1: try? item.attach().bury()
            default: try? item.attach().complete()
            }
        } else if let item = try queue.takeIfReady() {
            items.append(item.detach())
        }
    }

    private mutating func editCollection() throws {
        let set = try namespace.orderedSet("set \(random(0..<2))", of: Int.self)
        switch random(0..<6) {
        case 0: _ = try set.append(contentsOf: (0..<random(1..<60)).map { _ in random(0..<2000) })
        case 1: _ = try set.removeFirst()
        case 2: if try set.count > 2 { try set.move(from: 0, to: 1) }
        case 3: _ = try set.remove(random(0..<2000))
        case 4 where random(0..<9) == 0: try set.removeAll()
        case 4: try set.remove()
        default: _ = try set.insert(random(0..<2000), at: 0)
        }
        let dictionary = try namespace.dictionary("dictionary", of: Int.self)
        try dictionary.modify("key \(random(0..<20))") { $0 = random(0..<9) }
    }

    private mutating func useRecipes() throws {
        switch random(0..<5) {
        case 0: _ = try namespace.counter("counter").add()
        case 1: _ = try namespace.rateLimit("rate", limit: 5, per: .milliseconds(100)).tryAcquire()
        case 2:
            guard let hold = try namespace.lock("lock \(random(0..<3))").tryAcquire() else { return }
            try hold.release()
        case 3: _ = try namespace.latch("latch", count: 3).countDown()
        default: try namespace.post("news", random(0..<9))
        }
    }

    private mutating func transact() throws {
        let number = random(0..<9)
        let isToFail = random(0..<5) == 0
        struct Undone: Error {}
        do {
            try namespace.transaction { transaction in
                _ = try transaction.takeIfExists(matching: ["job", number, .any])
                try transaction.write(tuple: ["moved", number])
                _ = try transaction.set("moved", number)
                if isToFail { throw Undone() }
            }
        } catch is Undone {}
    }

    private mutating func watch() throws {
        switch random(0..<6) {
        case 0: watcher = try namespace.changes()
        case 1: watcher = nil
        case 2: try namespace.setHistory(History(changes: random(10..<200)))
        case 3: try namespace.setHistory(nil)
        case 4: _ = try namespace.changes(from: .subscription("kept \(name)\(random(0..<3))"))
        default: _ = try namespace.endSubscription("kept \(name)\(random(0..<3))")
        }
    }
}
