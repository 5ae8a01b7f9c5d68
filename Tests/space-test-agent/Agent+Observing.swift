import Glibc
import SharedSpaceObjects
import SpaceSystem
import Synchronization
import SystemPackage

// Observers, whose handlers are called.

/// The changes that an observer was told, and the observation.
final class Observed: Sendable {
    private let state = Mutex<(told: [String], token: ObservationToken?)>(([], nil))

    var told: [String] { state.withLock { $0.told } }

    func note(_ change: Change) {
        let text = "\(change.kind):\(change.tuple?.json ?? change.new?.json ?? change.key ?? "")"
        state.withLock { $0.told.append(text) }
    }

    func keep(_ token: ObservationToken?) {
        // Released outside the lock.
        let old = state.withLock { state in
            defer { state.token = token }
            return state.token
        }
        _ = old
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension Agent {
    func performOnObservers(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "observe":
            let observed = Observed()
            let filter: ChangeFilter = words.isEmpty ? .everything : .cell(try word(words, 0))
            observed.keep(try namespace().observe(filter) { observed.note($0) })
            self.observed = observed
            return "ok"
        case "told":
            let observed = try observer()
            let count: Int = try number(words, 0)
            while observed.told.count < count { try await Task.sleep(for: .milliseconds(1)) }
            return "ok " + observed.told.joined(separator: " ")
        case "observe-rounds": return "ok \(try await observeRounds(try number(words, 0)))"
        case "blocked-handlers": return "ok \(try await outnumber(try number(words, 0)))"
        case "heap": return "ok \(try ownMemory())"
        case "leak":
            let kept = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
            kept.initializeMemory(as: UInt8.self, repeating: 1, count: 1 << 20)
            return "ok"
        case "fork-observing": return "ok \(try forkObserving())"
        default: return nil
        }
    }

    private func observer() throws -> Observed {
        guard let observed else { throw Failure("nothing is observed") }
        return observed
    }

    /// How many bytes of memory the process has to itself.
    private func ownMemory() throws -> Int {
        // A sanitizer has memory of its own, and keeps freed memory; but it counts the memory in use
        // (sanitizer/allocator_interface.h).
        if let count = dlsym(nil, "__sanitizer_get_current_allocated_bytes") {
            return unsafeBitCast(count, to: (@convention(c) () -> Int).self)()
        }
        let text = String(
            decoding: try FileBytes.read(at: AT_FDCWD, "/proc/self/status", limit: 1 << 20),
            as: UTF8.self
        )
        // proc(5): "RssAnon: 1234 kB".
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure("no RssAnon in /proc/self/status")
        }
        return kilobytes << 10
    }

    /// Observes, writes, is told of the write, and drops the observation, in each round.
    private func observeRounds(_ rounds: Int) async throws -> Int {
        let namespace = try namespace()
        for round in 0..<rounds {
            let observed = Observed()
            if round % 2 == 0 {
                observed.keep(try namespace.observe("round") { observed.note($0) })
            } else {
                observed.keep(try namespace.observe("round") { (change: Change) async in observed.note(change) })
            }
            try namespace.set("round", round)
            while observed.told.isEmpty { await Task.yield() }
            observed.keep(nil)
        }
        return rounds
    }

    /// Has `count` handlers block, on the threads that call observers, and is told of three changes meanwhile.
    ///
    /// Returns: How often the handlers were called in the end.
    private func outnumber(_ count: Int) async throws -> Int {
        let namespace = try namespace()
        let isOpen = Flag()
        let observed = Observed()
        let bag = ObservationBag()
        for _ in 0..<count {
            bag.add(
                try namespace.observe("k") { change in
                    while !isOpen.isSet { poll(nil, 0, 10) }
                    observed.note(change)
                }
            )
        }
        let changes = try namespace.changes(.cell("k"))
        for number in 0..<3 {
            try namespace.set("k", number)
            guard try await changes.next(timeout: .seconds(30))?.new == .int(number) else {
                throw Failure("not told of change \(number)")
            }
        }
        guard observed.told.isEmpty else { throw Failure("a handler went on") }
        isOpen.set()
        while observed.told.count < 3 * count { try await Task.sleep(for: .milliseconds(1)) }
        bag.stopObserving()
        return observed.told.count
    }

    /// Forks a child that ends the observation that it inherited, and tries to begin one; its status says which changes
    /// it was told and which calls succeeded.
    private func forkObserving() throws -> Int32 {
        let (namespace, observed) = (try namespace(), try observer())
        return try inChild {
            observed.keep(nil)
            do throws(SpaceError) {
                let token = try namespace.observe("k") { _ in }
                token.cancel()
                return 1
            } catch {
                return error.code == .forked && observed.told.isEmpty ? 0 : 2
            }
        }
    }
}
