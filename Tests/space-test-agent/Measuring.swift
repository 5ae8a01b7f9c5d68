import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

/// How long locks take: `space-test-agent measure-locks [<rounds>]`.
enum Measuring {
    static func run(_ arguments: [String]) throws {
        switch arguments.first {
        case "measure-locks": try measureLocks(rounds: arguments.dropFirst().first.flatMap(Int.init) ?? 100_000)
        default: break
        }
    }

    // MARK: Locks

    /// Measures a lock without contention, acquired and released; beside a write and a take of the same namespace.
    private static func measureLocks(rounds: Int) throws {
        var template = Array("/dev/shm/shared-space-measure-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Agent.Failure("mkdtemp: errno \(errno)") }
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let namespace = try Space(root: root).namespace("locks")
        let lock = namespace.lock("lock")
        func each(_ body: () throws -> Void) rethrows -> Int64 {
            let start = MonotonicInstant.now.nanoseconds
            for _ in 0..<rounds { try body() }
            return (MonotonicInstant.now.nanoseconds - start) / Int64(rounds)
        }
        for _ in 0..<3 {
            let plain = try each {
                try namespace.write("job", 1)
                _ = try namespace.takeIfExists("job", any(Int.self))
            }
            let locked = try each { try lock.tryAcquire()?.release() }
            print("write and take \(plain) ns", "lock and unlock \(locked) ns", "\(locked * 100 / max(1, plain)) %")
        }
        try namespace.leave()
        try? Directory.removeTree(at: AT_FDCWD, root)
    }
}
