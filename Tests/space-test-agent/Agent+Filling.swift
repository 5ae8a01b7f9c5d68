import SharedSpaceObjects

// Operations that take disk space, until there is none, and operations then.

extension Agent {
    func performFilling(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "fill-by": return try fill(by: Filling(words), size: try number(words, 1))
        case "empty-by": return "ok \(try empty(by: Filling(words)))"
        default: return nil
        }
    }

    /// The kinds of contents that fill a namespace.
    private enum Filling: String {
        case transactions, set, queue

        init(_ words: [String]) throws {
            guard let filling = words.first.flatMap(Self.init) else { throw Failure("no such filling") }
            self = filling
        }
    }

    /// `fill-by <filling> <size>`: until there is no space.
    ///
    /// Returns: The number of steps, and the last error; `torn` if the failed step left something all the same.
    private func fill(by filling: Filling, size: Int) throws -> String {
        let namespace = try namespace()
        let queue = namespace.queue("work")
        let set = try namespace.orderedSet("set", of: String.self)
        let body = String(repeating: "x", count: size)
        for step in 0..<1_000_000 {
            do {
                switch filling {
                case .transactions: try move(on: namespace, step, body)
                case .set: _ = try set.insert("\(step) \(body)", at: step / 2)
                case .queue: _ = try queue.put(body, priority: step % 3)
                }
            } catch let error as SpaceError {
                let left =
                    switch filling {
                    case .transactions: try count(of: namespace, after: step)
                    case .set: try set.count
                    case .queue: try queue.counts()[.ready]
                    }
                return "full \(step) \(describe(error))\(left == step ? "" : " torn \(left)")"
            }
        }
        throw Failure("never full")
    }

    /// Some changes of each kind in one transaction, which leaves one tuple more.
    private func move(on namespace: Namespace, _ step: Int, _ body: String) throws {
        try namespace.transaction { t in
            try t.write("fill", step, body)
            try t.write("baton", step)
            _ = try t.takeIfExists("baton", step - 1)
            try t.set("step", step)
            try t.set("body-\(step % 4)", body)
            try t.post("step", step)
        }
    }

    private func count(of namespace: Namespace, after step: Int) throws -> Int {
        guard try namespace.get("step") == .int(step - 1), try namespace.count(matching: ["baton", .any]) == 1,
            try namespace.readIfExists("baton", step - 1) != nil
        else { return -1 }
        return try namespace.count(matching: ["fill", .any, .any])
    }

    /// `empty-by <filling>`: takes all of it out again, one by one.
    private func empty(by filling: Filling) throws -> Int {
        let namespace = try namespace()
        var count = 0
        switch filling {
        case .transactions:
            while try namespace.transaction({ t in
                try t.takeIfExists(matching: ["fill", .any, .any]) != nil
            }) { count += 1 }
            _ = try namespace.takeAll(matching: ["baton", .any])
        case .set:
            let set = try namespace.orderedSet("set", of: String.self)
            while try set.removeFirst() != nil { count += 1 }
        case .queue:
            while let item = try namespace.queue("work").takeIfReady() {
                try item.complete()
                count += 1
            }
        }
        return count
    }
}
