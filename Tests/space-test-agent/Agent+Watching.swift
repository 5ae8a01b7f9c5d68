import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

// Watchers, and writers for them to watch.

extension Agent {
    func performOnWatchers(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "watch": return "ok \(try watch().resumePoint.sequence)"
        case "subscribe":
            changes = try namespace().changes(from: .subscription(try word(words, 0)))
            return "ok"
        case "unwatch":
            changes = nil
            return "ok"
        case "next-wait":
            say("waiting")
            return describe(try watched().nextBlocking(timeout: .seconds(600), interruption: nil))
        case "next-async":
            say("waiting")
            return describe(try await watched().next(timeout: .seconds(60)))
        case "follow":
            let (most, last): (Int, UInt64) = (try number(words, 0), try number(words, 1))
            return "ok \(try await follow(most: most, through: last).text)"
        case "acknowledge-loop": return "ok \(try await acknowledgeAll())"
        case "echo-changes":
            let (from, to) = (try word(words, 0), try word(words, 1))
            return "ok \(try await echoChanges(from, to, count: try number(words, 2)))"
        case "watch-rounds": return "ok \(try await watchRounds(try number(words, 0)))"
        case "open-watch-rounds":
            return "ok \(try await openWatchRounds(try word(words, 0), try word(words, 1), try number(words, 2)))"
        case "register-rounds": return "ok \(try await registerRounds(try number(words, 0)))"
        case "write-batches": return "ok \(try writeBatches(from: try number(words, 0), count: try number(words, 1)))"
        case "set-loop":
            let count: Int = try number(words, 2)
            try setLoop(try word(words, 0), from: try number(words, 1), count: count, size: try number(words, 3))
            return "ok \(count)"
        case "holdings": return "ok \(try Holdings.now().text)"
        case "hold-more": return "ok \(try holdMore().text)"
        default: return nil
        }
    }

    private func watch() throws -> Changes {
        let changes = try namespace().changes()
        self.changes = changes
        return changes
    }

    private func watched() throws -> Changes {
        guard let changes else { throw Failure("nothing is watched") }
        return changes
    }

    private func describe(_ change: Change?) -> String {
        guard let change else { return "none" }
        return "ok \(change.kind) \(change.sequence) \(change.tuple?.json ?? change.key ?? "")"
    }

    // MARK: Watching

    /// The sum of the changes that a watcher was told.
    private struct Followed {
        var received = 0
        var missed: UInt64 = 0
        var gaps = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// FNV-1a over a line for each change, in order.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325

        var text: String { "\(received) \(missed) \(gaps) \(first) \(last) \(hash)" }

        mutating func note(_ change: Change) throws {
            if first == 0 { first = change.sequence }
            guard last == 0 || change.sequence == last + 1, change.lastSequence >= change.sequence else {
                throw Failure("\(change.kind) \(change.sequence)...\(change.lastSequence) after \(last)")
            }
            last = change.lastSequence
            if change.kind == .gap {
                gaps += 1
                missed += change.lastSequence - change.sequence + 1
                return
            }
            received += 1
            let line =
                "\(change.sequence) \(change.kind) \(change.pid) \(change.batch) \(change.time) \(change.tuple?.json ?? "")"
            for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }

    /// Reads until it has been told of a number of changes, up to a change, or up to a notification named `end`; 0: no
    /// limit.
    ///
    /// The numbers that the changes carry go into the ledger.
    private func follow(most: Int, through last: UInt64) async throws -> Followed {
        let changes = try watched()
        var followed = Followed()
        while most == 0 || followed.received + followed.gaps < most, last == 0 || followed.last < last {
            guard let change = try await changes.next(timeout: .seconds(60)) else {
                throw Failure("nothing came after \(followed.text)")
            }
            if change.kind == .gone { break }
            try followed.note(change)
            if let number = Self.number(of: change) { ledger?.note(number) }
            if change.kind == .post, change.key == "end" { break }
        }
        return followed
    }

    /// The number that a tuple `["job", n]`, or a cell's value `[n, …]`, carries.
    private static func number(of change: Change) -> Int? {
        let value: Value? =
            if let tuple = change.tuple { tuple.count > 1 ? tuple[1] : nil } else {
                if case .array(let values) = change.new { values.first } else { nil }
            }
        guard case .int(let number) = value else { return nil }
        return number
    }

    /// Follows a subscription up to a notification named `end`: notes each number, acknowledges the change, and notes
    /// that, too, as the number's complement.
    private func acknowledgeAll() async throws -> Int {
        let changes = try watched()
        var count = 0
        while let change = try await changes.next(timeout: .seconds(60)) {
            if change.kind == .gap { throw Failure("a gap from \(change.sequence) to \(change.lastSequence)") }
            if let number = Self.number(of: change) {
                ledger?.note(number)
                try changes.acknowledge(through: change.sequence)
                ledger?.note(~number)
                count += 1
            }
            if change.kind == .post, change.key == "end" { break }
        }
        return count
    }

    /// Writes `[to, n]` when it is told of `[from, n]`, `count` times.
    private func echoChanges(_ from: String, _ to: String, count: Int) async throws -> Int {
        let (namespace, changes) = (try namespace(), try watched())
        var done = 0
        while done < count {
            guard let change = try await changes.next(timeout: .seconds(60)) else {
                throw Failure("no \(from) after \(done)")
            }
            guard let tuple = change.tuple, tuple.count == 2, tuple[0] == .string(from) else { continue }
            try namespace.write(tuple: [to, tuple[1]])
            done += 1
        }
        return done
    }

    /// Watches, writes, is told of the write, and drops the watch, in each round.
    private func watchRounds(_ rounds: Int) async throws -> Int {
        let namespace = try namespace()
        for round in 0..<rounds {
            let changes = try namespace.changes()
            try namespace.set("round", round)
            let change =
                round % 2 == 0
                ? try await changes.next(timeout: .seconds(60))
                : try changes.nextBlocking(timeout: .seconds(60), interruption: nil)
            guard change?.new == .int(round) else { throw Failure("round \(round): \(describe(change))") }
        }
        return rounds
    }

    /// The same with a namespace opened and left in each round.
    private func openWatchRounds(_ root: String, _ name: String, _ rounds: Int) async throws -> Int {
        let space = try Space(root: root, timeout: .seconds(20))
        for round in 0..<rounds {
            let namespace = try space.namespace(name)
            let changes = try namespace.changes()
            try namespace.set("round", round)
            let change = try await changes.next(timeout: .seconds(60))
            guard change?.new == .int(round) else { throw Failure("round \(round): \(describe(change))") }
            try namespace.leave()
        }
        return rounds
    }

    /// Registers while others write, and checks that the first change is the next one after the registration.
    private func registerRounds(_ rounds: Int) async throws -> Int {
        let namespace = try namespace()
        for round in 0..<rounds {
            let changes = try namespace.changes()
            for offset in 1...20 as ClosedRange<UInt64> {
                let change = try await changes.next(timeout: .seconds(60))
                guard let change, change.kind == .write, change.sequence == changes.resumePoint.sequence + offset else {
                    throw Failure(
                        "round \(round): \(describe(change)), \(offset) after \(changes.resumePoint.sequence)"
                    )
                }
            }
        }
        return rounds
    }

    // MARK: Writing

    /// Writes tuples with numbers, 99 in one transaction and then one alone.
    private func writeBatches(from first: Int, count: Int) throws -> Int {
        let namespace = try namespace()
        var next = first
        while next < first + count {
            let batch = min(99, first + count - next)
            try namespace.write(contentsOf: (next..<next + batch).map { Tuple("job", $0) })
            next += batch
            guard next < first + count else { break }
            try namespace.write("job", next)
            next += 1
        }
        return count
    }

    /// Sets a cell to large values with numbers.
    private func setLoop(_ key: String, from first: Int, count: Int, size: Int) throws {
        let namespace = try namespace()
        let payload = String(repeating: "x", count: size)
        for number in first..<first + count { try namespace.set(key, Value.array([.int(number), .string(payload)])) }
    }

    // MARK: What the process holds

    /// How many descriptors, threads and inotify watches there are.
    private struct Holdings {
        var descriptors = 0
        var threads = 0
        var watches = 0

        var text: String { "\(descriptors) \(threads) \(watches)" }

        static func now() throws(Errno) -> Holdings {
            var holdings = Holdings()
            let folder = try OwnedDescriptor.open("/proc/self/fd", flags: O_RDONLY | O_DIRECTORY)
            // Minus the descriptor of this listing.
            holdings.descriptors = try Directory.list(folder.raw).count - 1
            let tasks = try OwnedDescriptor.open("/proc/self/task", flags: O_RDONLY | O_DIRECTORY)
            holdings.threads = try Directory.list(tasks.raw).count
            let infos = try OwnedDescriptor.open("/proc/self/fdinfo", flags: O_RDONLY | O_DIRECTORY)
            for name in try Directory.list(infos.raw) {
                // The descriptor of the listing has been closed by now.
                guard let text = try? FileBytes.read(at: infos.raw, name, limit: 1 << 20) else { continue }
                // proc(5): a line "inotify wd:…" for each watch.
                holdings.watches += String(decoding: text, as: UTF8.self).split(separator: "\n")
                    .count { $0.hasPrefix("inotify wd:") }
            }
            return holdings
        }
    }

    /// Returns by how much the counts rise with one more of each.
    private func holdMore() throws -> Holdings {
        let end = try OwnedDescriptor.pipe()
        defer { close(end.reading) }
        let before = try Holdings.now()
        let notify = try INotify()
        let watch = try notify.add("/proc/self", [.modified])
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, sleepOn, UnsafeMutableRawPointer(bitPattern: Int(end.reading)))
        guard result == 0 else {
            close(end.writing)
            throw Failure("pthread_create: errno \(result)")
        }
        defer {
            // The end of the pipe ends the thread.
            close(end.writing)
            pthread_join(thread, nil)
        }
        var holdings = try Holdings.now()
        try notify.remove(watch)
        holdings.descriptors -= before.descriptors
        holdings.threads -= before.threads
        holdings.watches -= before.watches
        return holdings
    }
}

/// A thread that only waits for the end of a pipe, whose descriptor it is given; not a closure, which would belong to
/// the actor that it is written in.
private nonisolated func sleepOn(_ descriptor: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    var byte: UInt8 = 0
    while read(CInt(Int(bitPattern: descriptor)), &byte, 1) < 0, errno == EINTR {}
    return nil
}
