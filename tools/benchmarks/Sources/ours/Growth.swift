import Glibc
import SharedSpace
import SpaceInspection

/// How the costs of the works grow with the number of tuples, waiters, namespaces and bytes.
enum Growth {
    /// With `size` tuples in the namespace, both shapes indexed.
    static func tuples(_ space: Space, _ size: Int) async throws {
        let work = try OneProcess(space)
        let namespace = work.namespace
        try work.indexLeading()
        try work.indexOther()
        try work.fill(size, from: 1_000_000_000)
        let count = 2000
        try measure("write", count) { try namespace.write("kind", $0, OneProcess.payload) }
        try measure("take by first field", count / 2) { _ in
            guard try namespace.takeIfExists("kind", any(Int.self), any(String.self)) != nil else {
                throw Failure("nothing to take")
            }
        }
        try measure("take by second field", count / 2) {
            guard try namespace.takeIfExists(any(String.self), $0 + count / 2, any(String.self)) != nil else {
                throw Failure("nothing to take")
            }
        }
        try measure("count", count) { _ in
            guard try namespace.count() == size else { throw Failure("miscounted") }
        }
        let changes = try namespace.changes(.tuples(["kind", .any, .any]))
        var times: [Double] = []
        for number in 0..<100 {
            let start = now()
            try namespace.write("kind", number, OneProcess.payload)
            _ = try await changes.next(timeout: .seconds(10))
            times.append(Double(now() - start))
        }
        Latencies.tell("watch", times)
    }

    /// With `size` tasks of another process blocked in takes that don't match.
    static func waiters(_ space: Space, _ size: Int) throws {
        let work = try OneProcess(space)
        try work.indexLeading()
        let child = size == 0 ? nil : try Child([space.root, "block", "\(size)"])
        if let child { _ = try child.receive() }
        try measure("write", 10_000) { try work.namespace.write("job", $0, OneProcess.payload) }
        try child?.end()
    }

    static func block(_ space: Space, _ size: Int) async throws {
        let namespace = try space.namespace("bench")
        try await block(size) { _ = try await namespace.take("never", $0, any(String.self)) }
    }

    /// Tasks that all wait for the tuples that `OneProcess` writes.
    static func blockAlike(_ space: Space, _ size: Int) async throws {
        let namespace = try space.namespace("bench")
        try await block(size) { _ in _ = try await namespace.take("job", any(Int.self), any(String.self)) }
    }

    private static func block(_ size: Int, _ take: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<size {
                group.addTask { try await take(number) }
            }
            // After this time all other tasks have had their turn to publish their slots.
            group.addTask {
                try await Task.sleep(for: .milliseconds(500))
                send(0)
            }
            try await group.waitForAll()
        }
    }

    /// With `size` namespaces open, written to by turns.
    static func namespaces(_ space: Space, _ size: Int) throws {
        var all: [Namespace] = []
        for number in 0..<size { all.append(try space.namespace("bench-\(number)")) }
        for namespace in all { try namespace.write("job", 0, OneProcess.payload) }
        try measure("write", 10_000) { try all[$0 % size].write("job", $0, OneProcess.payload) }
        report("RSS bytes", Double(try statusBytes("VmRSS:")))
        report("descriptors", Double(try openDescriptors()))
    }

    /// With payloads of `size` bytes.
    static func values(_ space: Space, _ size: Int) throws {
        let work = try OneProcess(space)
        try work.indexLeading()
        let payload = [UInt8](repeating: 0x78, count: size)
        let count = max(40, min(4000, (256 << 20) / max(1, size) / 4))
        try measure("write", count) { try work.namespace.write("job", $0, payload) }
        try measure("read", count) { _ in
            guard try work.namespace.readIfExists("job", any(Int.self), any([UInt8].self)) != nil else {
                throw Failure("nothing to read")
            }
        }
        try measure("take", count) { _ in
            guard try work.namespace.takeIfExists("job", any(Int.self), any([UInt8].self)) != nil else {
                throw Failure("nothing to take")
            }
        }
    }

    /// The size of the file after `size` writes and takes, with a thousand tuples alive.
    static func churn(_ space: Space, _ count: Int) throws {
        let namespace = try space.namespace("bench")
        let alive = 1000
        for number in 0..<count {
            try namespace.write("job", number, OneProcess.payload)
            guard number >= alive else { continue }
            guard let (_, taken, _) = try namespace.takeIfExists("job", any(Int.self), any(String.self)) else {
                throw Failure("nothing to take")
            }
            guard taken == number - alive else { throw Failure("\(taken) was taken instead of \(number - alive)") }
        }
        report("file bytes", Double(try namespace.status().bytes))
    }

    // MARK: Counts by the kernel

    private static func statusBytes(_ key: String) throws -> Int {
        guard let file = fopen("/proc/self/status", "r") else { throw Failure("/proc/self/status: errno \(errno)") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = line.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard text.hasPrefix(key) else { continue }
            return (Int(text.filter(\.isNumber)) ?? 0) * 1024
        }
        throw Failure("/proc/self/status has no \(key)")
    }

    private static func openDescriptors() throws -> Int {
        guard let folder = opendir("/proc/self/fd") else { throw Failure("/proc/self/fd: errno \(errno)") }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // ".", "..", and the folder itself.
        return count - 3
    }
}
