import Glibc
import SharedSpace
import SpaceInspection
import SpaceSystem
import SystemPackage

// Long work that a test starts and kills: each step is noted in a ledger when it is done.

/// A file of numbers, each appended by one `write(2)`: a kill leaves it without the last one, never with half of it.
final class LedgerFile {
    private let file: OwnedDescriptor

    init(_ path: String) throws(Errno) {
        file = try OwnedDescriptor.open(path, flags: O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
    }

    func note(_ number: Int) {
        withUnsafeBytes(of: number.littleEndian) { _ = Glibc.write(file.raw, $0.baseAddress, 8) }
    }
}

extension Agent {
    func performInBulk(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "write-loop": return "ok \(try writeLoop(from: try number(words, 0), count: try number(words, 1)))"
        case "take-loop": return "ok \(try takeLoop(idle: .milliseconds(try number(words, 0) as Int)))"
        case "barge-loop": return "ok \(try bargeLoop())"
        case "echo-loop":
            return "ok \(try echoLoop(try word(words, 0), try word(words, 1), count: try number(words, 2)))"
        case "open-loop": return "ok \(try openLoop(words))"
        case "reap-loop": return "ok \(try reapLoop(words))"
        case "fill": return try fill(size: try number(words, 0), most: try number(words, 1))
        case "thin": return "ok \(try thin(try number(words, 0)))"
        case "drain": return "ok \(try drain())"
        case "turn-over": return try turnOver(size: try number(words, 0), count: try number(words, 1))
        case "write-at-once":
            return "ok \(try writeAtOnce(try number(words, 0), size: words.count > 1 ? try number(words, 1) : 0))"
        case "bytes": return "ok \(try namespace().status().bytes)"
        case "waiters": return "ok \(try namespace().status().waiters.count)"
        default: return nil
        }
    }

    private func writeLoop(from first: Int, count: Int) throws -> Int {
        let namespace = try namespace()
        for number in first..<first + count {
            try namespace.write("job", number)
            ledger?.note(number)
        }
        return count
    }

    /// Takes until no tuple came for a while.
    private func takeLoop(idle: Duration) throws -> Int {
        let namespace = try namespace()
        var count = 0
        while let job = try namespace.take("job", any(Int.self), timeout: idle) {
            ledger?.note(job.1)
            count += 1
        }
        return count
    }

    /// Takes any tuple there is, never waiting, until there is a tuple that says stop.
    private func bargeLoop() throws -> Int {
        let namespace = try namespace()
        var count = 0
        while try goesOn(namespace) {
            if let job = try namespace.takeIfExists("job", any(Int.self)) {
                ledger?.note(job.1)
                count += 1
            }
        }
        return count
    }

    /// Takes `[from, n]` and writes `[to, n]`, `count` times.
    ///
    /// - Returns: How often no writer had woken it, and it found its tuple at a tick.
    private func echoLoop(_ from: String, _ to: String, count: Int) throws -> Int {
        let namespace = try namespace()
        for done in 0..<count {
            guard let ball = try namespace.take(from, any(Int.self), timeout: .seconds(60)) else {
                throw Failure("no \(from) after \(done)")
            }
            try namespace.write(to, ball.1)
        }
        return namespace.lateFinds
    }

    /// `open-loop <root> <name> <rounds> <first>`: opens, writes a tuple, checks that it is still there, leaves.
    private func openLoop(_ words: [String]) throws -> Int {
        let space = try Space(root: try word(words, 0), timeout: .seconds(20))
        let name = try word(words, 1)
        let rounds: Int = try number(words, 2)
        let first: Int = try number(words, 3)
        for round in first..<first + rounds {
            let namespace = try space.namespace(name)
            try namespace.write("mine", round)
            guard try namespace.takeIfExists("mine", round) != nil else {
                throw Failure("tuple \(round) went with its namespace")
            }
            try namespace.leave()
            ledger?.note(round)
        }
        return rounds
    }

    /// `reap-loop <root> <rounds>`.
    private func reapLoop(_ words: [String]) throws -> Int {
        let space = try Space(root: try word(words, 0), timeout: .seconds(20))
        var deleted = 0
        for _ in 0..<(try number(words, 1) as Int) { deleted += try space.reap().count }
        return deleted
    }

    /// `fill <size> <most>`: writes tuples of a size until an error says that there is no space.
    private func fill(size: Int, most: Int) throws -> String {
        let namespace = try namespace()
        let body = [UInt8](repeating: 0x78, count: size)
        for number in 0..<most {
            do throws(SpaceError) {
                try namespace.write("fill", number, body)
            } catch {
                return "full \(number) \(describe(error))"
            }
        }
        return "ok \(most)"
    }

    /// Takes every other of the first tuples that `fill` wrote.
    private func thin(_ count: Int) throws -> Int {
        let namespace = try namespace()
        for number in stride(from: 0, to: count, by: 2) {
            guard try namespace.takeIfExists("fill", number, any(Value.self)) != nil else {
                throw Failure("no \(number)")
            }
        }
        return count
    }

    /// Takes everything, one by one.
    private func drain() throws -> Int {
        let namespace = try namespace()
        var count = 0
        while try namespace.takeIfExists(matching: .any) != nil { count += 1 }
        return count
    }

    /// `turn-over <size> <count>`: writes a tuple of a size and takes it again, so many times, or until there is no
    /// space.
    private func turnOver(size: Int, count: Int) throws -> String {
        let namespace = try namespace()
        let body = [UInt8](repeating: 0x78, count: size)
        for number in 0..<count {
            do throws(SpaceError) {
                try namespace.write("page", number, body)
                guard try namespace.takeIfExists("page", number, any([UInt8].self)) != nil else {
                    return "error agent 0 page \(number) is not there"
                }
            } catch {
                return "full \(number) \(describe(error))"
            }
        }
        return "ok \(count)"
    }

    /// `write-at-once <count>`: writes `count` tuples in one transaction.
    private func writeAtOnce(_ count: Int, size: Int) throws -> Int {
        let content = [UInt8](repeating: 7, count: size)
        try namespace().transaction { t in
            for number in 0..<count { try t.write("many", number, content) }
        }
        return count
    }
}
