import Glibc
import SharedSpace
import Synchronization

/// How long news takes from one process to another: from right before the commit to the first line that runs in the
/// other process.
///
/// Each way of being told is measured, beside the cheapest way in which one process can tell another through a file,
/// the *bare* hand-off: a byte written to a file, and a thread that sleeps in `read(2)` on an inotify instance of its
/// own. In the bare hand-off nothing is committed, found, or decoded. For the library's ways the commit lies in the
/// interval; the *commit alone* shows its part: the same commit in a namespace without watchers, until it returns.
///
/// All ways take turns, in an order that changes, between the same two processes: other work of the machine disturbs
/// all of them alike, and so do the processors' caches as the way before left them. The writer stays awake until it is
/// answered, through memory, as a writer does that has other work. And each process keeps to a processor: left alone,
/// the scheduler wakes a thread now on the writer's own processor, now on another that has to be woken first, which
/// takes five times as long, and it keeps its choice for seconds; two ways, or two runs, would compare these choices.
/// Both cases are reported:
///
///     apart      the watcher's processor has been idle for a millisecond
///     together   it is the writer's, and the watcher runs as soon as the scheduler has it interrupt the writer
enum Noticing {
    private static let ways = [
        "bare", "commit alone", "callback", "callback, one of 1,000", "callback on an actor", "sequence",
    ]
    private static let filter = ChangeFilter.tuples(["job", .any, .any])

    // MARK: The writing process

    static func run(_ space: Space, _ count: Int, isApart: Bool) throws {
        let court = try Court(space)
        let namespaces = try ways.map { try space.namespace($0) }
        let processors = try usableProcessors()
        guard !isApart || processors.count > 1 else { throw Failure("there is but one processor") }
        // The child inherits this, with all its threads.
        try keep(to: processors[isApart ? 1 : 0])
        let child = try Child([space.root, "notice-watcher", "0"])
        try keep(to: processors[0])
        for _ in ways.dropFirst() { _ = try child.receive() }
        var times = [[Double]](repeating: [], count: ways.count)
        for number in 0..<count {
            for way in ways.indices.shuffled() {
                letSleep()
                let start = now()
                if way == 0 {
                    guard pwrite(court.file, "x", 1, 0) == 1 else { throw Failure("pwrite: errno \(errno)") }
                } else {
                    try namespaces[way].write("job", number, OneProcess.payload)
                }
                let end = way == 1 ? now() : try court.answer(way, after: start)
                times[way].append(Double(end - start))
            }
        }
        try child.end()
        for (way, times) in zip(ways, times) {
            Latencies.tell("\(way), \(isApart ? "apart" : "together")", times)
        }
    }

    // MARK: The watching process

    static func watch(_ space: Space) async throws {
        let court = try Court(space)
        let namespaces = try ways.map { try space.namespace($0, owning: false) }
        try Threads.start { listen(court) }
        let prompt = try namespaces[2].observe(filter) { _ in court.stamp(2) }
        // A cell that never changes.
        let others = try (0..<999).map { number in
            try namespaces[3].observe(number % 2 == 0 ? .cell("other\(number)") : .tuples(["other", number])) { _ in }
        }
        let oneOfMany = try namespaces[3].observe(filter) { _ in court.stamp(3) }
        let stamper = Stamper(court)
        let onActor = try namespaces[4].observe(filter) { (_: Change) async in await stamper.stamp(4) }
        let sequence = try namespaces[5].changes(filter)
        for _ in ways.dropFirst(2) { send(0) }
        for try await _ in sequence { court.stamp(5) }
        withExtendedLifetime((prompt, others, oneOfMany, onActor)) {}
    }

    private actor Stamper {
        private let court: Court
        init(_ court: Court) { self.court = court }
        func stamp(_ way: Int) { court.stamp(way) }
    }

    private static func listen(_ court: Court) {
        let instance = inotify_init1(Int32(IN_CLOEXEC))
        guard instance >= 0, inotify_add_watch(instance, court.path, UInt32(IN_MODIFY)) >= 0 else {
            complain("inotify: errno \(errno)")
            exit(70)
        }
        var events = [UInt8](repeating: 0, count: 4096)
        send(0)
        while read(instance, &events, events.count) > 0 { court.stamp(0) }
    }

    // MARK: Processors

    private static func usableProcessors() throws -> [Int] {
        var set = cpu_set_t()
        guard try affinity("sched_getaffinity")(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else {
            throw Failure("sched_getaffinity: errno \(errno)")
        }
        return withUnsafeBytes(of: &set) { bytes in
            (0..<bytes.count * 8).filter { bytes[$0 / 8] & (1 << ($0 % 8)) != 0 }
        }
    }

    /// Keeps the calling thread, and all threads that it starts, to one processor.
    private static func keep(to processor: Int) throws {
        var set = cpu_set_t()
        withUnsafeMutableBytes(of: &set) { $0[processor / 8] = 1 << (processor % 8) }
        guard try affinity("sched_setaffinity")(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else {
            throw Failure("sched_setaffinity: errno \(errno)")
        }
    }

    private typealias Affinity = @convention(c) (pid_t, Int, UnsafeMutablePointer<cpu_set_t>) -> Int32

    /// `sched.h` shows these only to GNU's dialect of C, so `import Glibc` does not.
    private static func affinity(_ name: String) throws -> Affinity {
        guard let function = dlsym(nil, name) else { throw Failure("no \(name)") }
        return unsafeBitCast(function, to: Affinity.self)
    }
}

/// A page that two processes share, in the file that the bare hand-off is written to: the time at which each way was
/// last called.
///
/// Unchecked: its memory stays, and is only accessed by atomic operations.
private final class Court: @unchecked Sendable {
    let path: String
    let file: Int32
    private let stamps: UnsafeMutablePointer<Atomic<UInt64>>

    init(_ space: Space) throws {
        path = "\(space.root)/.court"
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0, ftruncate(file, 4096) == 0,
            let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw Failure("\(path): errno \(errno)") }
        // Behind the byte that is written.
        stamps = (memory + 64).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    func stamp(_ way: Int) { stamps[way].store(now(), ordering: .releasing) }

    /// Waits awake until a way was called after a time.
    func answer(_ way: Int, after start: UInt64) throws -> UInt64 {
        while true {
            let time = stamps[way].load(ordering: .acquiring)
            if time >= start { return time }
            guard now() - start < 10_000_000_000 else { throw Failure("nobody was called") }
        }
    }
}
