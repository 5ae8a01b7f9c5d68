import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

/// How long news take from one process to another: `space-test-agent measure-observing [<rounds>]`.
///
/// In one run, in turn: a byte written to a file that the other has a thread blocked on in `read(2)` of inotify; and a
/// cell set that the other observes, in each way that there is. Each time from right before the write to the first line
/// that runs in the other process, both asleep before.
enum Measuring {
    private static let kinds = [
        "inotify", "callback", "callback on an actor", "sequence", "blocking", "callback, one of 1,000",
    ]

    static func run(_ arguments: [String]) async throws {
        switch arguments.first {
        case "measure-observing": try measure(rounds: arguments.dropFirst().first.flatMap(Int.init) ?? 1000)
        case "measured-observer": try await observe(arguments[1])
        default: break
        }
    }

    // MARK: The one that writes

    private static func measure(rounds: Int) throws {
        var template = Array("/dev/shm/shared-space-measure-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Agent.Failure("mkdtemp: errno \(errno)") }
        let root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = try OwnedDescriptor.open("\(root)/.file", flags: O_RDWR | O_CREAT, mode: 0o600)
        let space = try Space(root: root)
        let namespaces = try kinds.map { try space.namespace($0) }
        let answers = try startObserver(root)
        var times = [[Int64]](repeating: [], count: kinds.count)
        for _ in 0..<kinds.count { _ = try time(from: answers) }
        for round in 0..<rounds {
            for kind in kinds.indices {
                usleep(UInt32.random(in: 300...1500))
                let before = MonotonicInstant.now
                if kind == 0 {
                    try FileBytes.write([1], to: file.raw)
                } else {
                    try namespaces[kind].set("t", value: .int(round))
                }
                times[kind].append(try time(from: answers) - before.nanoseconds)
            }
        }
        let bare = median(times[0])
        for (kind, times) in zip(kinds, times) {
            let sorted = times.sorted()
            let (half, late) = (median(times), sorted[sorted.count * 99 / 100])
            print(
                kind.padded(24),
                "median \(half / 1000).\(half / 100 % 10) µs",
                "p99 \(late / 1000) µs",
                "\(half * 100 / bare) %"
            )
        }
        for namespace in namespaces { try namespace.leave() }
        try? Directory.removeTree(at: AT_FDCWD, root)
    }

    private static func median(_ times: [Int64]) -> Int64 { times.sorted()[times.count / 2] }

    private static func startObserver(_ root: String) throws -> CInt {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw Agent.Failure("pipe: errno \(errno)") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = [
            strdup("space-test-agent"), strdup("measured-observer"), strdup(root), nil,
        ]
        var child: pid_t = 0
        let error = posix_spawn(&child, "/proc/self/exe", &actions, nil, &words, environ)
        guard error == 0 else { throw Agent.Failure("posix_spawn: errno \(error)") }
        close(ends[1])
        return ends[0]
    }

    private static func time(from pipe: CInt) throws -> Int64 {
        var time: Int64 = 0
        guard read(pipe, &time, 8) == 8 else { throw Agent.Failure("the observer has ended") }
        return time
    }

    // MARK: The one that observes

    private static func observe(_ root: String) async throws {
        _ = signal(SIGPIPE, SIG_DFL)
        let space = try Space(root: root)
        let namespaces = try kinds.map { try space.namespace($0, owning: false) }
        startThread { listenToFile("\(root)/.file") }
        let prompt = try namespaces[1].observe("t") { _ in tell() }
        let onActor = try namespaces[2].observe("t") { (change: Change) async in await Teller.shared.tell() }
        // Cells and tuples of which nothing happens.
        let others = try (0..<999).map { number in
            try namespaces[5].observe(number % 2 == 0 ? .cell("other\(number)") : .tuples(["job", number])) { _ in
                tell()
            }
        }
        let oneOfMany = try namespaces[5].observe("t") { _ in tell() }
        let sequence = try namespaces[3].changes(.cell("t"))
        let blocking = try namespaces[4].changes(.cell("t"))
        startThread {
            tell()
            while (try? blocking.nextBlocking(timeout: nil, interruption: nil)) != nil { tell() }
        }
        for _ in 0..<4 { tell() }
        for try await _ in sequence { tell() }
        withExtendedLifetime((namespaces, prompt, onActor, others, oneOfMany)) {}
    }

    private actor Teller {
        static let shared = Teller()
        func tell() { Measuring.tell() }
    }

    private static func tell() {
        var now = MonotonicInstant.now.nanoseconds
        if write(1, &now, 8) != 8 { exit(0) }
    }

    private static func listenToFile(_ path: String) {
        guard let notify = try? INotify(), (try? notify.add(path, [.modified])) != nil else { exit(1) }
        _ = fcntl(notify.raw, F_SETFL, 0)
        tell()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(notify.raw, &buffer, buffer.count) > 0 { tell() }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        final class Work: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            Unmanaged.passRetained(Work(body)).toOpaque()
        )
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
