import Glibc
import SpaceSystem
import Testing

/// Whether all of a process's threads sleep.
package func isAsleep(_ pid: Int32) throws -> Bool {
    try threads(of: pid).allSatisfy { try field("State:", ofThread: $0, of: pid).hasPrefix("S") }
}

/// How often each of a process's threads went to sleep until now, proc(5): `voluntary_ctxt_switches`.
package struct Sleeps: Equatable {
    private let byThread: [String: Int]

    package init(of pid: Int32) throws {
        var byThread: [String: Int] = [:]
        for thread in try threads(of: pid) {
            // A thread may end between the two looks.
            guard let text = try? field("voluntary_ctxt_switches:", ofThread: thread, of: pid) else { continue }
            byThread[thread] = Int(text)
        }
        self.byThread = byThread
    }

    /// How often the threads that still exist have gone to sleep since an earlier look.
    package func begun(since old: Sleeps) -> Int {
        byThread.reduce(0) { $0 + $1.value - old.byThread[$1.key, default: 0] }
    }
}

/// How many threads a process has.
package func threadCount(of pid: Int32) throws -> Int { try threads(of: pid).count }

private func threads(of pid: Int32) throws -> [String] {
    let folder = try OwnedDescriptor.open("/proc/\(pid)/task", flags: O_RDONLY | O_DIRECTORY)
    return try Directory.list(folder.raw)
}

private func field(_ name: String, ofThread thread: String, of pid: Int32) throws -> String {
    let file = try OwnedDescriptor.open("/proc/\(pid)/task/\(thread)/status", flags: O_RDONLY)
    let status = String(decoding: try FileBytes.readPrefix(file.raw, count: 1 << 16), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
    return String(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
}
