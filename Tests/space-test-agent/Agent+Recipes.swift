import SharedSpace
import SpaceSystem

// Recipes, one a command. What waits says `waiting` first.

extension Agent {
    /// What it holds, by name.
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
                try lock.acquire(words.contains("shared") ? .shared : .exclusive, timeout: timeout)
            }
        case "semaphore":
            // `semaphore <name> <ms> <permits> <count>`.
            let semaphore = try namespace().semaphore(try word(words, 0), permits: try number(words, 2))
            let count: Int = try number(words, 3)
            return try hold(words) { timeout throws(SpaceError) in try semaphore.acquire(count, timeout: timeout) }
        case "unlock":
            guard let held = held.removeValue(forKey: try word(words, 0)) else {
                throw Failure("it holds no such thing")
            }
            try held.hold.release()
        case "is-held":
            guard let held = held[try word(words, 0)] else { throw Failure("it holds no such thing") }
            return "ok \(try held.hold.isHeld())"
        default: return nil
        }
        return "ok"
    }

    private func hold(_ words: [String], _ acquire: (Duration) throws(SpaceError) -> Hold) throws -> String {
        say("waiting")
        let held = Held(try acquire(.milliseconds(try number(words, 1) as Int)))
        self.held[words[0]] = held
        return "ok \(held.hold.fencing)"
    }
}
