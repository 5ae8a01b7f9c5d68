import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// One life of a worker on one machine: opens the replicated namespace, works, and is killed on the way, or leaves.
///
/// Each operation is noted before it is made, and after it was acknowledged. An operation that the cluster refuses has
/// changed nothing; one whose outcome is unknown is noted as such.
struct ClusterWorker {
    let root: String
    let machine: Int
    let ledger: ClusterLedger
    let place: KillLedger.Place
    let plant: Options.Plant?

    static let name = "torture"
    /// Taken by number, so that each kill and each unknown outcome says which tuple may be gone.
    static let exact: Template = ["job", .any]
    /// Taken as they come, also by waiting.
    static let loose: Template = ["loose", .any]

    static func isLoose(_ number: Int) -> Bool { number % 4 == 0 }

    static let counter = "counter"
    static let lock = "lock"

    /// An operation's end.
    private enum Outcome<Result> {
        case done(Result)
        case refused
        case unknown
    }

    /// The namespace is not the one any more that was opened.
    private struct IsGone: Error {}

    func live(_ generator: inout SeededGenerator) throws {
        place.end()
        let space = try Space(root: root, timeout: .seconds(10))
        guard let namespace = try Self.open(Self.name, in: space, ledger) else { return }
        let backlog = Int(ledger.kill.nextNumber.load()) - Int(ledger.kill.takenCount.load())
        do {
            for _ in 0..<Int.random(in: 20...200, using: &generator) where ledger.stop.load() == 0 {
                switch Int.random(in: 0..<16, using: &generator) {
                case 0...4: if backlog < 400 { try produce(namespace) } else { try take(namespace, &generator) }
                case 5...7: try take(namespace, &generator)
                case 8: try wait(namespace, Bool.random(using: &generator) ? .milliseconds(200) : .seconds(5))
                case 9, 10: try claim(namespace, &generator)
                case 11: try move(namespace)
                case 12, 13: try count(namespace)
                default: try hold(namespace, &generator)
                }
            }
        } catch is IsGone {}
        try? namespace.leave()
    }

    /// Opens a namespace of a replica as soon as it is there; `nil` if the run stops before.
    static func open(_ name: String, in space: Space, _ ledger: ClusterLedger) throws -> Namespace? {
        while ledger.stop.load() == 0 {
            do { return try space.existingNamespace(name) } catch { _ = try ledger.judge(error) }
            usleep(50_000)
        }
        return nil
    }

    private func attempt<Result>(_ operation: () throws(SpaceError) -> Result) throws -> Outcome<Result> {
        do throws(SpaceError) {
            let result = try operation()
            _ = ledger.progress(machine).add(1)
            return .done(result)
        } catch {
            if try ledger.judge(error) {
                ledger.noteUnknown(place, getpid())
                return .unknown
            }
            switch error.code {
            case .namespaceDeleted, .namespaceNotFound, .closed: throw IsGone()
            case .clusterUnavailable: usleep(20_000)
            default: break
            }
            return .refused
        }
    }

    // MARK: Tuples

    private func nextNumber() -> Int? {
        let number = Int(ledger.kill.nextNumber.add(1))
        if number < KillLedger.capacity { return number }
        ledger.stop.store(1)
        return nil
    }

    private func produce(_ namespace: Namespace) throws {
        guard let number = nextNumber() else { return }
        defer { place.end() }
        // The place comes first: whenever the worker is killed, a begun write must have a worker that began it.
        place.begin(.writing, number)
        ledger.kill.begin(number)
        do {
            let outcome = try attempt { () throws(SpaceError) in
                if plant != .lost || number % 20 != 1 {
                    try namespace.write(Self.isLoose(number) ? "loose" : "job", number)
                }
            }
            switch outcome {
            case .done: ledger.kill.acknowledge(number)
            case .refused: withdraw(number)
            case .unknown: break
            }
        } catch {
            withdraw(number)
            throw error
        }
    }

    /// The cluster has said that nothing was written.
    private func withdraw(_ number: Int) {
        ledger.kill.withdraw(number)
        // The number counts as taken, so that the backlog stays right.
        _ = ledger.kill.takenCount.add(1)
    }

    /// The number of a tuple that may still be there.
    private func candidate(_ namespace: Namespace, _ generator: inout SeededGenerator) throws -> Int? {
        let order: MatchOrder = Bool.random(using: &generator) ? .oldestFirst : .newestFirst
        let seen = try attempt { () throws(SpaceError) in
            try namespace.readIfExists(matching: Self.exact, order: order)
        }
        guard case .done(let tuple) = seen else { return nil }
        return tuple?.jobNumber
    }

    private func take(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        guard let number = try candidate(namespace, &generator) else { return try wait(namespace, .milliseconds(200)) }
        defer { place.end() }
        if plant == .doubled {
            // Long enough for another to come in.
            usleep(5000)
            _ = try attempt { () throws(SpaceError) in _ = try namespace.takeIfExists("job", number) }
            return ledger.kill.take(number)
        }
        place.begin(.taking, number)
        let taken = try attempt { () throws(SpaceError) in try namespace.takeIfExists("job", number) != nil }
        if case .done(true) = taken { ledger.kill.take(number) }
    }

    private func wait(_ namespace: Namespace, _ timeout: Duration) throws {
        defer { place.end() }
        // 0: any.
        place.begin(.taking, 0)
        let taken = try attempt { () throws(SpaceError) in
            try namespace.take(matching: Self.loose, timeout: timeout)
        }
        if case .done(let tuple?) = taken, let number = tuple.numberOfField(1) { ledger.kill.take(number) }
    }

    private func claim(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        guard let number = try candidate(namespace, &generator) else { return }
        defer { place.end() }
        place.begin(.claiming, number)
        let claimed = try attempt { () throws(SpaceError) in
            try namespace.claimIfExists(matching: ["job", number])?.detach()
        }
        place.end()
        guard case .done(let claim?) = claimed else { return }
        // Some claims are old when they end: their machine may have been given up for dead meanwhile.
        if Int.random(in: 0..<8, using: &generator) == 0 {
            usleep(UInt32(Int.random(in: 100_000...6_000_000, using: &generator)))
        }
        if Int.random(in: 0..<3, using: &generator) == 0 {
            place.begin(.releasing, number)
            _ = try attempt { () throws(SpaceError) in try namespace.release(claim) }
        } else {
            place.begin(.completing, number)
            let completed = try attempt { () throws(SpaceError) in
                do throws(SpaceError) { try namespace.complete(claim) } catch {
                    if error.code == .claimLost { _ = ledger.claimsLost.add(1) }
                    throw error
                }
            }
            if case .done = completed { ledger.kill.take(number) }
        }
    }

    /// Takes a tuple and writes another in its stead, both or none.
    private func move(_ namespace: Namespace) throws {
        guard let old = try namespace.readIfExists(matching: Self.exact)?.jobNumber, var number = nextNumber() else {
            return
        }
        if Self.isLoose(number) {
            // This number is for none; the next one is not loose.
            _ = ledger.kill.takenCount.add(1)
            guard let next = nextNumber(), !Self.isLoose(next) else { return }
            number = next
        }
        defer { place.end() }
        ledger.moved(number).store(UInt32(old))
        place.begin(.moving, number)
        ledger.kill.begin(number)
        do {
            let outcome = try attempt { () throws(SpaceError) in
                do { return try namespace.move(matching: ["job", old]) { _ in ["job", number] } != nil } catch {
                    // The body is the library's, and throws nothing else.
                    guard let error = error as? SpaceError else { return false }
                    throw error
                }
            }
            switch outcome {
            case .done(true):
                ledger.kill.acknowledge(number)
                ledger.kill.take(old)
            case .done(false), .refused: withdraw(number)
            case .unknown: break
            }
        } catch {
            withdraw(number)
            throw error
        }
    }

    // MARK: The counter

    private func count(_ namespace: Namespace) throws {
        defer { place.end() }
        let seen = try attempt { () throws(SpaceError) in try namespace.get(Self.counter) }
        guard case .done(.int(let number)?) = seen else { return }
        let next = number + 1
        place.begin(.setting, next)
        let outcome = try attempt { () throws(SpaceError) in
            try namespace.set(Self.counter, next, ifEquals: number)
        }
        if case .done(true) = outcome {
            ledger.setters(next).add(1)
            _ = ledger.counted.add(1)
        }
    }

    // MARK: The lock

    private func hold(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        defer { place.end() }
        let seen = ledger.fencing.load()
        place.begin(.locking)
        guard let hold = try acquire(namespace) else { return }
        // The planted fault: a number that another holder has had.
        let fencing = plant == .doubled ? seen : hold.fencing
        if fencing <= seen { noteFault(ledger.unfenced, "fencing number \(fencing) after \(seen) was seen") }
        // The protected thing refuses every number smaller than the greatest it has seen.
        var greatest = ledger.fencing.load()
        while greatest < fencing {
            let (isStored, now) = ledger.fencing.compareExchange(expected: greatest, desired: fencing)
            if isStored { break }
            greatest = now
        }
        if greatest > fencing { _ = ledger.fencedOff.add(1) }
        let start = MonotonicInstant.now.nanoseconds
        usleep(UInt32(Int.random(in: 0..<32, using: &generator) == 0 ? 3_000_000 : 500))
        let end = MonotonicInstant.now.nanoseconds
        do throws(SpaceError) {
            try hold.release()
            ledger.note(.init(fencing: fencing, start: start, end: end, machine: UInt64(machine)))
        } catch {
            _ = try ledger.judge(error)
        }
    }

    private func acquire(_ namespace: Namespace) throws -> Hold? {
        do throws(SpaceError) {
            let hold = try namespace.lock(Self.lock).acquireOrTell(
                .exclusive,
                timeout: .seconds(10),
                interruption: nil
            )
            _ = ledger.progress(machine).add(1)
            return hold
        } catch {
            _ = try ledger.judge(error)
            return nil
        }
    }
}
