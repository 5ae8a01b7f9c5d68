import SharedSpace
import SpaceSystem

// Recipes, one a command. A command that waits says `waiting` first.

extension Agent {
    /// The holds of the process, by name.
    final class Held {
        let hold: Hold
        init(_ hold: consuming Hold) { self.hold = hold }
    }

    func performOnRecipes(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "lock":
            // `lock <name> <ms> [shared]`.
            let lock = try namespace().lock(try word(words, 0))
            return try hold(words) { timeout throws(SpaceError) in
                let mode: SharedLock.Mode = words.contains("shared") ? .shared : .exclusive
                return try lock.acquireOrTell(mode, timeout: timeout, interruption: nil)
            }
        case "lock-endless":
            // `lock-endless <name>`: waits without a limit.
            let name = try word(words, 0)
            say("waiting")
            let hold = try namespace().lock(name).acquireOrTell(.exclusive, timeout: nil, interruption: nil)
            let fencing = hold.fencing
            held[Name(name)] = Held(hold)
            return "ok \(fencing)"
        case "semaphore":
            // `semaphore <name> <ms> <permits> <count>`.
            let semaphore = try namespace().semaphore(try word(words, 0), permits: try number(words, 2))
            let count: Int = try number(words, 3)
            return try hold(words) { timeout throws(SpaceError) in
                try semaphore.acquireOrTell(count, timeout: timeout, interruption: nil)
            }
        case "unlock":
            guard let held = held.removeValue(forKey: Name(try word(words, 0))) else {
                throw Failure("it holds no such thing")
            }
            try held.hold.release()
        case "drop-hold":
            guard held.removeValue(forKey: Name(try word(words, 0))) != nil else {
                throw Failure("it holds no such thing")
            }
        case "is-held":
            guard let held = held[Name(try word(words, 0))] else { throw Failure("it holds no such thing") }
            return "ok \(try held.hold.isHeld)"
        case "elect":
            // `elect <name> <ms> [tells]`.
            let election = try namespace().election(try word(words, 0))
            let tells = words.contains("tells")
            say("waiting")
            let standing = try election.stand(timeout: .milliseconds(try number(words, 1) as Int)) { loss in
                if tells { tell("lost \(loss.code)") }
            }
            guard let leadership = standing else { return "none" }
            leaderships.append(Leading(leadership))
            return "ok \(leaderships[leaderships.count - 1].leadership.fencing)"
        case "resign": try leaderships.removeLast().leadership.release()
        case "depose": return "ok \(try namespace().election(try word(words, 0)).depose())"
        case "barrier":
            // `barrier <name> <ms> <parties>`.
            let barrier = try namespace().barrier(try word(words, 0), parties: try number(words, 2))
            say("waiting")
            return try barrier.wait(timeout: .milliseconds(try number(words, 1) as Int)) ? "ok" : "none"
        case "count-down":
            let latch = try namespace().latch(try word(words, 0), count: try number(words, 1))
            return "ok \(try latch.countDown())"
        case "latch":
            // `latch <name> <ms> <count>`.
            let latch = try namespace().latch(try word(words, 0), count: try number(words, 2))
            say("waiting")
            return try latch.wait(timeout: .milliseconds(try number(words, 1) as Int)) ? "ok" : "none"
        case "add": return "ok \(try namespace().counter(try word(words, 0)).add())"
        case "reach":
            // `reach <name> <ms> <bound>`.
            let counter = try namespace().counter(try word(words, 0))
            say("waiting")
            let timeout = Duration.milliseconds(try number(words, 1) as Int)
            return try counter.wait(forAtLeast: try number(words, 2), timeout: timeout) == nil ? "none" : "ok"
        case "add-loop":
            // Counts until it is killed, and says every number.
            let counter = try namespace().counter(try word(words, 0))
            while true { say("\(try counter.add())") }
        case "rate":
            let rate = try namespace().rateLimit(try word(words, 0), limit: try number(words, 1), per: .seconds(3600))
            return try rate.tryAcquire() ? "ok" : "none"
        case "rate-wait":
            // `rate-wait <name> <limit> <ms>`.
            let rate = try namespace().rateLimit(try word(words, 0), limit: try number(words, 1), per: .seconds(3600))
            say("waiting")
            return try rate.acquire(timeout: .milliseconds(try number(words, 2) as Int)) ? "ok" : "none"
        case "queue-take":
            // `queue-take <name> <ms> [<deliveries> [<ttr in ms>]]`.
            let queue = try queue(words, deliveriesAt: 2)
            say("waiting")
            let ttr = words.count > 3 ? Duration.milliseconds(try number(words, 3) as Int) : nil
            let timeout = Duration.milliseconds(try number(words, 1) as Int)
            guard let item = try queue.take(timeout: timeout, deadline: ttr) else { return "none" }
            items.append(Working(item))
            return "ok \(items[items.count - 1].item.value.json)"
        case "queue-takers":
            // `queue-takers <name> <count> [<deliveries>]`: `count` tasks, each of which reports and keeps its item.
            let queue = try queue(words, deliveriesAt: 2)
            for _ in 0..<(try number(words, 1) as Int) {
                Task.detached {
                    guard let item = try? await queue.take() else { return }
                    tell("has \(item.value.json)")
                    try? await Task.sleep(for: .seconds(3600))
                    _ = item.id
                }
            }
        case "queue-put":
            // `queue-put <name> <bound> <ms> <value>`.
            let queue = try namespace().queue(try word(words, 0), bound: try number(words, 1))
            say("waiting")
            let timeout = Duration.milliseconds(try number(words, 2) as Int)
            return try queue.put(try word(words, 3), timeout: timeout) == nil ? "none" : "ok"
        case "queue-complete": try items.removeFirst().item.complete()
        case "evaluate":
            // `evaluate <script>`.
            say("waiting")
            let script = rest(words, from: 0)
            let id = try namespace().evaluate(["/bin/sh", "-c", script], timeout: .seconds(60))
            return id.map { "ok \($0)" } ?? "none"
        default: return nil
        }
        return "ok"
    }

    final class Leading {
        let leadership: Hold
        init(_ leadership: consuming Hold) { self.leadership = leadership }
    }

    final class Working {
        let item: QueueItem
        init(_ item: consuming QueueItem) { self.item = item }
    }

    private func queue(_ words: [String], deliveriesAt index: Int) throws -> WorkQueue {
        try namespace().queue(try word(words, 0), deliveries: words.count > index ? try number(words, index) : 3)
    }

    private func hold(_ words: [String], _ acquire: (Duration) throws(SpaceError) -> Hold) throws -> String {
        say("waiting")
        let held = Held(try acquire(.milliseconds(try number(words, 1) as Int)))
        self.held[Name(words[0])] = held
        return "ok \(held.hold.fencing)"
    }
}
