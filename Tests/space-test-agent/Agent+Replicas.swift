import Glibc
import SharedSpace
import Synchronization

// Watchers that keep a copy, that are told of objects, and that see namespaces come and go.

extension Agent {
    func performOnReplicas(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "watch-from": return "ok \(try watch(from: words).resumePoint.sequence)"
        case "also-watch":
            idle.append(try Space(root: try word(words, 0)).namespace(try word(words, 1), owning: false).changes())
            return "ok"
        case "churn": return "ok \(try churn(try number(words, 0), count: try number(words, 1)))"
        case "observe-copy":
            follower = try Follower(of: try namespace(), pausing: words.first == "slowly")
            return "ok"
        case "observed-copy": return "ok \(try await observedCopy())"
        case "replicate": return "ok \(try await replicate(pausing: words.first == "slowly"))"
        case "same-as-copy": return "ok \(try compare())"
        case "post-for":
            let sender = Poster()
            posters.append(sender)
            try namespace().post(try word(words, 0), from: sender)
            return "ok"
        case "next-post": return try await nextPost()
        case "watch-space":
            spaceChanges = try Space(root: try word(words, 0), timeout: .seconds(20)).changes(initial: words.count > 1)
            return "ok"
        case "next-namespace": return try await nextNamespace()
        case "write-cost": return "ok \(try writeCost(try number(words, 0)))"
        case "watch-many":
            for _ in 0..<(try number(words, 0) as Int) { idle.append(try namespace().changes(.tuples(["nothing"]))) }
            return "ok"
        default: return nil
        }
    }

    /// `watch-from initial|now|<sequence>`.
    private func watch(from words: [String]) throws -> Changes {
        let start: Changes.Start =
            switch try word(words, 0) {
            case "initial": .initial
            case "now": .now
            default: .after(try number(words, 0))
            }
        let changes = try namespace().changes(from: start)
        self.changes = changes
        return changes
    }

    // MARK: Copies

    /// The copy of a watcher that began with the present contents.
    struct Copy {
        var tuples: [UInt64: Tuple] = [:]
        var cells: [String: Value] = [:]
        var present = 0
        var last: UInt64 = 0

        mutating func apply(_ change: Change) throws {
            func fail() -> Failure { Failure("\(change.kind) \(change.sequence) does not fit \(last)") }
            if change.isPresent {
                guard last == 0 || last == change.sequence else { throw fail() }
                present += 1
            } else {
                guard change.sequence == last + 1 else { throw fail() }
            }
            last = change.sequence
            switch change.kind {
            case .write, .return:
                guard let id = change.id, tuples.updateValue(change.tuple ?? [], forKey: id.rawValue) == nil else {
                    throw fail()
                }
            case .take, .claim, .expire:
                guard let id = change.id, tuples.removeValue(forKey: id.rawValue) == change.tuple else { throw fail() }
            case .set:
                guard let key = change.key, let new = change.new,
                    cells.updateValue(new, forKey: key) == change.old || change.isPresent
                else { throw fail() }
            case .unset:
                guard let key = change.key, cells.removeValue(forKey: key) == change.old else { throw fail() }
            case .gap, .gone: throw fail()
            case .bury: if let id = change.id { tuples[id.rawValue] = nil }
            default: break
            }
        }
    }

    /// Keeps a copy up to a notification named `end`; with pauses, other processes do more between its parts.
    private func replicate(pausing: Bool) async throws -> String {
        guard let changes else { throw Failure("nothing is watched") }
        var copy = Copy()
        // For an empty namespace no initial change is told.
        copy.last = changes.resumePoint.sequence
        var count = 0
        while let change = try await changes.next(timeout: .seconds(60)) {
            try copy.apply(change)
            count += 1
            if pausing, count % 256 == 0 { usleep(2000) }
            if change.kind == .post, change.key == "end" { break }
        }
        self.copy = copy
        return "\(copy.present) \(count - copy.present)"
    }

    /// An observer that keeps a copy up to a notification named `end`.
    final class Follower: Sendable {
        private let state = Mutex<(copy: Copy, count: Int, hasEnded: Bool, error: (any Error)?)>(
            (Copy(), 0, false, nil)
        )
        private let token = Mutex<ObservationToken?>(nil)

        init(of namespace: Namespace, pausing: Bool) throws {
            let made = try namespace.observe(
                .everything,
                options: [.initial, .old, .new],
                onError: { [weak self] error in self?.state.withLock { $0.error = $0.error ?? error } }
            ) { [weak self] change in
                if try self?.apply(change) ?? false, pausing { usleep(2000) }
            }
            token.withLock { $0 = made }
        }

        /// Returns: Whether it is time for a pause.
        private func apply(_ change: Change) throws -> Bool {
            try state.withLock { state in
                guard state.error == nil, !state.hasEnded else { return false }
                try state.copy.apply(change)
                state.count += 1
                state.hasEnded = change.kind == .post && change.key == "end"
                return state.count % 256 == 0
            }
        }

        /// The copy and how many changes it took; `nil` as long as it has not ended.
        func result() throws -> (copy: Copy, count: Int)? {
            try state.withLock { state in
                if let error = state.error { throw error }
                return state.hasEnded ? (state.copy, state.count) : nil
            }
        }
    }

    private func observedCopy() async throws -> String {
        guard let follower else { throw Failure("no copy is kept") }
        while true {
            if let (copy, count) = try follower.result() {
                self.copy = copy
                return "\(copy.present) \(count - copy.present)"
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Whether the copy equals the namespace.
    private func compare() throws -> String {
        guard let copy else { throw Failure("there is no copy") }
        let namespace = try namespace()
        let tuples = Dictionary(
            uniqueKeysWithValues: try namespace.matches(.any).map { ($0.id.rawValue, try $0.tuple()) }
        )
        let cells = Dictionary(uniqueKeysWithValues: try namespace.cells().map { ($0.key, $0.value) })
        guard copy.tuples == tuples else {
            throw Failure("\(copy.tuples.count) tuples in the copy, \(tuples.count) in the namespace")
        }
        guard copy.cells == cells else { throw Failure("the cells differ") }
        return "\(tuples.count) \(cells.count)"
    }

    /// Writes, takes, claims, returns, sets and unsets, in turn; of its own tuples at most 200 are there at a time.
    private func churn(_ seed: Int, count: Int) throws -> Int {
        let namespace = try namespace()
        let age = 6 * 200
        for round in 0..<count {
            let number = (round &* 7919 &+ seed &* 104_729) % 4000
            switch round % 6 {
            case 0: try namespace.write("job", 10_000 + round)
            case 1: _ = try namespace.takeIfExists("job", round < age ? number : 10_000 + round - 1 - age)
            case 2:
                let claims = try namespace.claimBriefly(
                    matching: ["job", .any],
                    order: .newestFirst,
                    max: 1,
                    isTake: round % 12 == 2
                )
                try namespace.release(claims)
            case 3:
                try namespace.complete(
                    try namespace.claimBriefly(matching: ["job", number], max: 1, isTake: round % 12 == 3)
                )
            case 4: try namespace.set("k\(number % 600)", round)
            default: try namespace.unset("k\(number % 600)")
            }
        }
        return count
    }

    // MARK: Posts

    final class Poster: Sendable {}

    private func nextPost() async throws -> String {
        guard let changes, let change = try await changes.next(timeout: .seconds(60)) else {
            throw Failure("nothing came")
        }
        let position = posters.firstIndex { $0 === change.sender }
        return
            "ok \(change.key ?? "") \(change.senderID == nil ? "none" : "some") \(position.map { "\($0)" } ?? "nobody")"
    }

    // MARK: Namespaces

    private func nextNamespace() async throws -> String {
        guard let spaceChanges else { throw Failure("no space is watched") }
        say("waiting")
        var iterator = spaceChanges.makeAsyncIterator()
        switch try await iterator.next() {
        case .appeared(let name)?: return "ok appeared \(name)"
        case .disappeared(let name)?: return "ok disappeared \(name)"
        case nil: return "none"
        }
    }

    // MARK: Measuring

    /// How long a write and its take take, in nanoseconds.
    private func writeCost(_ count: Int) throws -> Int {
        let namespace = try namespace()
        let clock = ContinuousClock()
        let time = try clock.measure {
            for number in 0..<count { try namespace.set("cost", number) }
        }
        return Int(time / .nanoseconds(1)) / max(1, count)
    }
}
