import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// A work queue with all that it knows, by workers that are killed and stopped: priorities, delays that end at the same
/// moment, groups, unique keys with each rule, bounds that change, times to run, deliveries, pauses, removals of items that
/// wait and that are worked on, drains, and removals of the queue itself.
///
/// Each item has a number. At the end every item whose put was acknowledged was completed once, unless a worker removed
/// it, or another put may have replaced it; and in every state that the process which lives through the round sees, no taker waits beside a ready item.
struct QueueTrial: Trial {
    let name = "queue"
    let ledger: TrialLedger

    private static let items = 1 << 16
    private static let bound = 200
    private static let completing: UInt64 = 1 << 32
    private static let acknowledged: UInt64 = 1 << 33
    /// A worker was about to remove it.
    private static let removing: UInt64 = 1 << 34
    /// It was put with a key and the rule to replace what waits.
    private static let replacing: UInt64 = 1 << 35
    /// That put has ended, and replaced nothing.
    private static let sparing: UInt64 = 1 << 36
    /// It was put with a key.
    private static let keyed: UInt64 = 1 << 37

    init() throws { ledger = try TrialLedger(rows: 2 * Self.items) }

    private var completed: SharedWord64 { ledger.total(2) }
    private var put: SharedWord64 { ledger.total(3) }
    private var stops: SharedWord64 { ledger.total(4) }
    private var cancelled: SharedWord64 { ledger.total(5) }
    private var swept: SharedWord64 { ledger.total(6) }
    private var lost: SharedWord64 { ledger.total(10) }
    private var doubled: SharedWord64 { ledger.total(11) }
    private var disordered: SharedWord64 { ledger.total(12) }
    private var besides: SharedWord64 { ledger.total(13) }
    private var stuck: SharedWord64 { ledger.total(14) }

    var done: [(String, SharedWord64)] {
        [("completed", completed), ("put", put), ("stops", stops), ("cancelled", cancelled), ("swept", swept)]
    }
    var faults: [(String, SharedWord64)] {
        [("lost", lost), ("doubled", doubled), ("disordered", disordered), ("besides", besides), ("stuck", stuck)]
    }

    /// The next number of a round.
    private var next: SharedWord64 { ledger.word(0) }
    /// A removal that a worker is about to make, or makes.
    private enum Removal: UInt64 {
        /// Of all items.
        case all = 1
        /// Of the item of a number, whose value another put may replace meanwhile.
        case one
    }

    /// How many removals have ended, also by a kill.
    private func ended(_ removal: Removal) -> SharedWord64 { ledger.word(Int(removal.rawValue)) }
    /// The removal of a worker; 0: none.
    private func removal(of worker: Int) -> SharedWord64 { ledger.word(3 + worker % 29) }
    private func item(_ number: Int) -> SharedWord64 { ledger.row(number) }
    /// The next number when the put of an item ended; 0: it has not ended.
    private func end(_ number: Int) -> SharedWord64 { ledger.row(Self.items + number) }

    func beginRound() { ledger.beginRound() }

    func bury(_ worker: Int) { endRemoval(of: worker) }

    private func removing(_ removal: Removal, _ worker: Int, _ body: () throws -> Void) rethrows {
        self.removal(of: worker).store(removal.rawValue)
        SharedWord64.fence()
        defer { endRemoval(of: worker) }
        try body()
    }

    private func endRemoval(of worker: Int) {
        let word = removal(of: worker)
        guard let removal = Removal(rawValue: word.load()) else { return }
        // In this order, so that a put sees one of the two.
        _ = ended(removal).add(1)
        word.store(0)
    }

    /// Whether a removal goes on, or has ended since their numbers were taken.
    private func isRemoved(_ life: Life, since numbers: [UInt64], by removals: [Removal]) -> Bool {
        SharedWord64.fence()
        return (0..<life.workers).contains { worker in
            Removal(rawValue: removal(of: worker).loadSequential()).map(removals.contains) ?? false
        } || removals.contains { ended($0).loadSequential() != numbers[Int($0.rawValue) - 1] }
    }

    private func queue(_ namespace: Namespace) -> WorkQueue {
        namespace.queue("work", deliveries: 6, bound: Self.bound)
    }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let queue = queue(namespace)
        if life.isLast { return }
        for _ in 0..<200 where !life.isOver {
            switch Int.random(in: 0..<40, using: &generator) {
            case 16 where Int.random(in: 0..<5, using: &generator) == 0: try sweep(life, queue, &generator)
            case 17...19: try cancel(life, queue, &generator)
            case 20: try queue.set(bound: Int.random(in: Self.bound / 4...Self.bound, using: &generator))
            case 21: try extend(queue, &generator)
            case 22...26: try putSome(life, queue, &generator)
            case 27...39: try work(life, queue, &generator)
            case 0...3: try putSome(life, queue, &generator)
            case 4...10: try work(life, queue, &generator)
            case 11: try queue.kick(max: 4)
            case 12: try queue.pause(for: .milliseconds(Int.random(in: 0...4, using: &generator)))
            case 13: try queue.resume()
            case 14: try remove(life, queue, &generator)
            default: stopAWhile(&generator)
            }
        }
    }

    /// Puts several items that become due at the same moment, or one of a group or a key.
    private func putSome(_ life: Life, _ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        let count = Bool.random(using: &generator) ? 1 : Int.random(in: 2...40, using: &generator)
        let first = Int(next.add(UInt64(count)))
        guard first + count < Self.items else { return }
        let delay = Duration.milliseconds(Int.random(in: 0...6, using: &generator))
        let priority = Int.random(in: 0..<4, using: &generator)
        let before = [Removal.all, .one].map { ended($0).loadSequential() }
        let isPut =
            if count > 1 {
                life.isFaulty && first % 5 == 2
                    ? true
                    : try putMany(queue, first..<(first + count), priority, delay, isGrouped: first.isMultiple(of: 4))
            } else if Bool.random(using: &generator) {
                try putUnique(queue, first, priority, delay)
            } else {
                try putWaiting(queue, first, priority, delay)
            }
        guard isPut else { return }
        // What was put during a removal may be gone; that of one item removes another value only under a key.
        let isKeyed = item(first).load() & Self.keyed != 0
        if isRemoved(life, since: before, by: isKeyed ? [.all, .one] : [.all]) {
            for number in first..<(first + count) { _ = item(number).setBits(Self.removing) }
        }
        for number in first..<(first + count) { _ = item(number).setBits(Self.acknowledged) }
        _ = put.add(UInt64(count))
    }

    private func putMany(
        _ queue: WorkQueue,
        _ numbers: Range<Int>,
        _ priority: Int,
        _ delay: Duration,
        isGrouped: Bool
    ) throws -> Bool {
        do throws(SpaceError) {
            try queue.put(contentsOf: numbers, priority: priority, delay: delay, group: isGrouped ? "many" : nil)
            return true
        } catch {
            if error.code == .limitReached { return false }
            throw error
        }
    }

    private func putUnique(_ queue: WorkQueue, _ number: Int, _ priority: Int, _ delay: Duration) throws -> Bool {
        let rule = [UniqueRule.keep, .again, .replace][number / Self.keys % 3]
        _ = item(number).setBits(rule == .replace ? Self.keyed | Self.replacing : Self.keyed)
        do throws(SpaceError) {
            let key = "key \(number % Self.keys)"
            let outcome = try queue.put(number, priority: priority, delay: delay, unique: key, ifPresent: rule)
            let hasReplaced = outcome == .replaced(outcome.id)
            if !hasReplaced { _ = item(number).setBits(Self.sparing) }
            end(number).store(next.load())
            return outcome == .added(outcome.id) || hasReplaced
        } catch {
            if error.code == .limitReached {
                _ = item(number).setBits(Self.sparing)
                return false
            }
            throw error
        }
    }

    private static let keys = 3

    /// Whether another put with the key of an item may have replaced it: one that began after the item's, or that had not
    /// ended when the item's began.
    private func mayBeReplaced(_ number: Int) -> Bool {
        stride(from: number % Self.keys, to: min(Int(next.load()), Self.items), by: Self.keys).contains { other in
            guard other != number, item(other).load() & (Self.replacing | Self.sparing) == Self.replacing else {
                return false
            }
            let end = Int(end(other).load())
            return other > number || end == 0 || end > number
        }
    }

    /// It waits for room.
    private func putWaiting(_ queue: WorkQueue, _ number: Int, _ priority: Int, _ delay: Duration) throws -> Bool {
        let outcome = try queue.putBlocking(
            .int(number),
            priority: priority,
            delay: delay,
            group: "group \(number % 3)",
            unique: nil,
            ifPresent: .keep,
            .upTo(.milliseconds(3)),
            interruption: nil
        )
        return outcome != nil
    }

    private func work(_ life: Life, _ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        let ttrs: [Duration?] = [nil, .milliseconds(2), .seconds(600)]
        let ttr = ttrs.randomElement(using: &generator) ?? nil
        let timeout = Duration.milliseconds(Int.random(in: 0...8, using: &generator))
        guard let taken = try queue.takeBlocking(timeout: timeout, deadline: ttr, interruption: nil) else { return }
        let number: Int = try taken.content()
        do throws(SpaceError) {
            try end(taken.detach(), number, Int.random(in: 0..<10, using: &generator))
        } catch {
            // Its time to run was over, so it is, or will be, another worker's.
            if error.code != .holdLost { throw error }
        }
    }

    private func end(_ held: QueueItem.Detached, _ number: Int, _ choice: Int) throws(SpaceError) {
        // Kept until its time to run is over, or this worker is gone.
        if choice == 0 { return }
        let taken = try held.attach()
        switch choice {
        case 1: try taken.release()
        case 2: try taken.release(delay: .milliseconds(number % 6))
        case 3: try taken.bury(reason: "tried")
        case 4: try taken.extend(by: .milliseconds(3))
        default:
            _ = item(number).setBits(Self.completing)
            try taken.complete()
            note(number)
        }
    }

    private func note(_ number: Int) {
        _ = completed.add(1)
        if item(number).add(1) & 0xFFFF > 0 { noteFault(doubled, "item \(number) was completed twice") }
    }

    private func remove(_ life: Life, _ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        try removing(.one, life.worker) {
            guard let found = try queue.items(in: .ready, max: 8).randomElement(using: &generator),
                case .int(let number) = found.value
            else { return }
            _ = item(number).setBits(Self.removing)
            try queue.remove(found.id)
        }
    }

    /// Removes an item in whatever state it is, also from a worker.
    private func cancel(_ life: Life, _ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        try removing(.one, life.worker) {
            guard let found = try queue.items(max: 60).randomElement(using: &generator),
                case .int(let number) = found.value
            else { return }
            _ = item(number).setBits(Self.removing)
            if try queue.cancel(found.id) == .taken { _ = cancelled.add(1) }
        }
    }

    private func extend(_ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        guard let found = try queue.items(in: .taken, max: 8).randomElement(using: &generator) else { return }
        try queue.extend(found.id, by: .milliseconds(4))
    }

    /// Removes all items that wait, or the queue with all its items.
    private func sweep(_ life: Life, _ queue: WorkQueue, _ generator: inout SeededGenerator) throws {
        try removing(.all, life.worker) {
            for found in try queue.items() {
                if case .int(let number) = found.value { _ = item(number).setBits(Self.removing) }
            }
            if Bool.random(using: &generator) {
                try queue.drain()
            } else {
                try queue.remove(cancellingTaken: true)
            }
            _ = swept.add(1)
        }
    }

    /// Stands still, with whatever it has, as a stopped process does; its supervisor kills it if that takes too long.
    private func stopAWhile(_ generator: inout SeededGenerator) {
        _ = stops.add(1)
        let me = getpid()
        guard
            let child = try? Process.startBesideThreads({
                usleep(20_000)
                kill(me, SIGCONT)
                return 0
            })
        else { return }
        kill(me, SIGSTOP)
        _ = Process.wait(child)
    }

    /// Looks at the queue: in no committed state does a taker wait beside a ready item.
    func attend(_ namespace: Namespace) throws {
        for text in try namespace.core.read({ (snapshot) throws(SpaceError) in try snapshot.damageInQueues() }) {
            noteFault(besides, "\(text)")
        }
        usleep(5000)
    }

    func judge(_ namespace: Namespace) throws {
        let queue = queue(namespace)
        try queue.resume()
        let deadline = MonotonicInstant.now.advanced(by: .seconds(60))
        while case let counts = try queue.counts(), counts != QueueCounts() {
            guard !deadline.hasPassed else { return noteFault(stuck, "the queue does not come to its end: \(counts)") }
            try queue.kick()
            while let taken = try queue.takeBlocking(timeout: .milliseconds(20), interruption: nil) {
                let number: Int = try taken.content()
                try taken.complete()
                note(number)
            }
        }
        for number in 0..<min(Int(next.load()), Self.items) {
            let word = item(number).load()
            let isExplained = word & (Self.completing | Self.removing) != 0 || word & 0xFFFF > 0
            if word & Self.acknowledged != 0, !isExplained, word & Self.keyed == 0 || !mayBeReplaced(number) {
                noteFault(lost, "item \(number) was put, and is gone")
            }
        }
        try judgeOrder(namespace)
    }

    /// Items that become due at the same moment come by priority and age.
    private func judgeOrder(_ namespace: Namespace) throws {
        let queue = namespace.queue("ordered")
        let count = 300
        var wanted: [(priority: Int, number: Int)] = []
        let delay = Duration.milliseconds(200)
        for start in stride(from: 0, to: count, by: 20) {
            let priority = start / 20 % 7
            try queue.put(contentsOf: start..<(start + 20), priority: priority, delay: delay)
            wanted += (start..<(start + 20)).map { (priority, $0) }
        }
        let put = MonotonicInstant.now
        while MonotonicInstant.now.duration(since: put) <= delay { usleep(10_000) }
        wanted.sort { ($1.priority, $0.number) < ($0.priority, $1.number) }
        for (index, next) in wanted.enumerated() {
            guard let taken = try queue.takeIfReady() else {
                return noteFault(stuck, "item \(index) does not become due")
            }
            let number: Int = try taken.content()
            try taken.complete()
            guard number == next.number else {
                return noteFault(disordered, "item \(number) comes in place of \(next.number)")
            }
        }
    }
}
