import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Each feature keeps apart two names that are equal to Swift and differ as UTF-8.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct TwinNameTests {
    let root: TemporaryRoot
    let jobs: Namespace
    private let one = TwinNames.composed
    private let two = TwinNames.decomposed

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    private func isSame(_ left: [String?], _ right: [String]) -> Bool {
        TwinNames.areSame(left.compactMap { $0 }, right) && left.count == right.count
    }

    @Test func theNamesAreOneToSwiftAndTwoToValues() {
        #expect(one == two && Value.string(one) != Value.string(two))
        #expect(Set([Value.string(one), .string(two)]).count == 2)
    }

    // MARK: Namespaces

    @Test func aOneLinerLandsInItsOwnNamespace() throws {
        try root.space[one].write(1)
        try root.space[two].write(2)
        #expect(isSame(try root.space.namespaceNames(), [two, "jobs", one]))
        for (name, number) in [(one, 1), (two, 2)] {
            let inIt = try root.space[name].readIfExists(any(Int.self))
            #expect(inIt.map { $0 } == number)
            #expect(try root.space.existingNamespace(name, owning: false).readIfExists(matching: .any) == [number])
        }
        try root.space[two].letGo()
        #expect(isSame(try root.space.namespaceNames().filter { $0 != "jobs" }, [one]))
    }

    @Test func aSpaceTellsOfEachNamespace() async throws {
        let changes = try root.space.changes(initial: true)
        let first = try root.space.namespace(one)
        let second = try root.space.namespace(two)
        var created: [Value] = []
        for try await change in changes {
            if case .appeared(let name) = change { created.append(.string(name)) }
            if created.contains(.string(one)), created.contains(.string(two)) { break }
        }
        try first.leave()
        var deleted: [Value] = []
        for try await change in changes {
            if case .disappeared(let name) = change { deleted.append(.string(name)) }
            break
        }
        #expect(deleted == [.string(one)])
        try second.leave()
    }

    // MARK: Cells

    @Test func cellsAreTwo() throws {
        try jobs.set(one, 1)
        #expect(try jobs.get(two) == nil)
        #expect(try jobs.setIfAbsent(two, 2))
        #expect(try jobs.increment(one) == 2 && jobs.increment(two) == 3)
        #expect(isSame(try jobs.cells().map(\.key), [two, one]))
        try jobs.unset(one)
        #expect(try jobs.get(one) == nil && jobs.get(two) == 3)
    }

    @Test func aTransactionTellsEachCellsObserverItsOwnChange() async throws {
        try jobs.set(one, 1)
        try jobs.set(two, 2)
        let told = [Told(), Told()]
        let tokens = try [
            jobs.observe(.cell(one), options: [.old, .new]) { told[0].note($0) },
            jobs.observe(.cell(two), options: [.old, .new]) { told[1].note($0) },
        ]
        try jobs.transaction { transaction in
            try transaction.set(one, 11)
            try transaction.set(two, 12)
            try transaction.set(one, 21)
        }
        try jobs.set(one, 31)
        try jobs.set(two, 32)
        #expect(try await eventually { told.allSatisfy { $0.count == 2 } })
        #expect(told.map { $0.changes.map(\.old) } == [[1, 21], [2, 12]])
        #expect(told.map { $0.changes.map(\.new) } == [[21, 31], [12, 32]])
        for token in tokens { token.cancel() }
    }

    @Test func aTransactionTellsAWatcherBothChanges() async throws {
        let changes = try jobs.changes(ChangeFilter(cells: .all))
        try jobs.transaction { transaction in
            try transaction.set(one, 1)
            try transaction.set(two, 2)
            try transaction.unset(one)
        }
        try jobs.transaction { transaction in
            try transaction.set(one, 3)
            try transaction.unset(two)
        }
        var told: [Change] = []
        for try await change in changes {
            told.append(change)
            if told.count == 3 { break }
        }
        #expect(isSame(told.map(\.key), [two, one, two]))
        #expect(told.map(\.old) == [nil, nil, 2] && told.map(\.new) == [2, 3, nil])
    }

    @Test func observersOfAPartAreToldOfTheirOwn() async throws {
        let told = [Told(), Told()]
        try jobs.set("user", ["\u{e9}": 1, "e\u{301}": 2] as Value)
        let tokens = try [
            jobs.observe("user.\(one)", options: [.old, .new, .initial]) { told[0].note($0) },
            jobs.observe("user.\(two)", options: [.old, .new, .initial]) { told[1].note($0) },
        ]
        var user = Record()
        (user[one], user[two]) = (1, 3)
        try jobs.set("user", Value.object(user))
        user[one] = 4
        try jobs.set("user", Value.object(user))
        #expect(try await eventually { told.allSatisfy { $0.count == 2 } })
        #expect(told.map { $0.changes.map(\.new) } == [[1, 4], [2, 3]])
        #expect(told.map { $0.changes.last?.old } == [1, 2])
        for token in tokens { token.cancel() }
    }

    /// A dot with a combining mark is one character to Swift; in a path the dot still separates two parts.
    @Test func aPartsNameMayBeginWithACombiningMark() async throws {
        let told = Told()
        let token = try jobs.observe("user.\u{301}a", options: [.old, .new]) { told.note($0) }
        try jobs.set("user", ["\u{301}a": 1] as Value)
        #expect(try await eventually { told.count == 1 })
        #expect(told.last?.new == 1)
        let changes = try jobs.changes(ChangeFilter(cells: .key("user.b.\u{301}a")))
        try jobs.set("user", ["b": ["\u{301}a": 1]] as Value)
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.key == "user")
        token.cancel()
    }

    // MARK: Watching

    @Test func aFilterEqualsItselfAlone() {
        #expect(ChangeFilter.Cells.key(one) != .key(two) && ChangeFilter.Cells.key(one) == .key(one))
        #expect(ChangeFilter.Names.named(one) != .named(two))
    }

    @Test func subscriptionsAreTwo() throws {
        let first = try jobs.changes(from: .subscription(one))
        let second = try jobs.changes(from: .subscription(two))
        #expect(try jobs.status().watchers.count == 2)
        _ = consume first
        #expect(try jobs.endSubscription(one))
        #expect(try !jobs.endSubscription(one))
        #expect(try jobs.status().watchers.count == 1)
        _ = consume second
        #expect(try jobs.endSubscription(two))
    }

    @Test func notificationsAreTwo() async throws {
        let told = [Told(), Told()]
        let tokens = try zip([one, two], told).map { name, told in
            try jobs.observe(.notification(name)) { told.note($0) }
        }
        try jobs.post(one, 1)
        try jobs.post(two, 2)
        try jobs.post(one, 3)
        #expect(try await eventually { told[0].count == 2 && told[1].count == 1 })
        #expect(told.map { $0.changes.map(\.new) } == [[1, 3], [2]])
        for token in tokens { token.cancel() }
    }

    @Test func aBagKeepsBoth() throws {
        let bag = ObservationBag()
        bag.add(try jobs.observe("a") { (_: Change) in }, named: one)
        bag.add(try jobs.observe("b") { (_: Change) in }, named: two)
        #expect(bag.count == 2)
        #expect(bag.remove(named: two) && bag.count == 1)
        #expect(!bag.remove(named: two))
        bag.stopObserving()
    }

    // MARK: Recipes

    @Test func holdsAreTwo() throws {
        let first = try jobs.lock(one).acquire(timeout: .zero).inTime()
        let second = try jobs.lock(two).acquire(timeout: .zero).inTime()
        #expect(isSame(try jobs.status().holds.map(\.name), [two, one]))
        #expect(try !isFree(one) && !isFree(two))
        try first.release()
        #expect(try isFree(one) && !isFree(two))
        try second.release()
        let some = try jobs.semaphore("s\(one)", permits: 1).acquire(timeout: .zero).inTime()
        let others = try jobs.semaphore("s\(two)", permits: 2).acquire(2, timeout: .zero).inTime()
        #expect(try jobs.verify() == [])
        try some.release()
        try others.release()
        let leader = try jobs.election(one).stand(timeout: .zero).inTime()
        #expect(try jobs.election(one).leader() != nil && jobs.election(two).leader() == nil)
        try leader.release()
    }

    private func isFree(_ lock: String) throws -> Bool {
        guard let hold = try jobs.lock(lock).tryAcquire() else { return false }
        try hold.release()
        return true
    }

    private func item(_ queue: WorkQueue) throws -> QueueItem {
        guard let item = try queue.takeIfReady() else { throw TestFailure("no item is ready") }
        return item
    }

    private func isExhausted(_ queue: WorkQueue) throws -> Bool { try queue.takeIfReady() == nil }

    @Test func objectsAreTwo() throws {
        #expect(
            try jobs.latch("l\(one)", count: 1).countDown() == 0 && jobs.latch("l\(two)", count: 3).countDown() == 2
        )
        #expect(try jobs.counter("c\(one)").add() == 1 && jobs.counter("c\(two)").add(5) == 5)
        #expect(try jobs.counter("c\(one)").value() == 1)
        let rates = [one, two].map { jobs.rateLimit("r\($0)", limit: 1, per: .seconds(3600)) }
        #expect(try rates.map { try $0.tryAcquire() } == [true, true])
        #expect(try rates.map { try $0.tryAcquire() } == [false, false])
        #expect(try jobs.barrier("b\(one)", parties: 1).wait(timeout: .zero))
        #expect(try !jobs.barrier("b\(two)", parties: 2).wait(timeout: .zero))
    }

    @Test func queueGroupsAreTwo() throws {
        let queue = jobs.queue("q")
        for group in [one, two] {
            try queue.put(1, group: group)
            try queue.put(2, group: group)
        }
        #expect(try jobs.verify() == [])
        let first = try item(queue)
        let second = try item(queue)
        let groups = [first.group, second.group]
        #expect(isSame(groups, [one, two]))
        #expect(try isExhausted(queue))
        #expect(try jobs.verify() == [])
        try second.complete()
        let third = try item(queue)
        let group = third.group
        #expect(isSame([group], [two]))
        try third.complete()
        try first.complete()
        #expect(try jobs.verify() == [])
        let queues = [one, two].map { jobs.queue("q\($0)") }
        try queues[0].put(7)
        #expect(try isExhausted(queues[1]) && queues[0].counts()[.ready] == 1)
    }

    // MARK: Responders

    @Test func bothRespondersAnswer() async throws {
        let tokens = try [one, two].enumerated().map { index, name in
            try jobs.respond(to: name, key: "k") { (n: Int, _) -> Int in n * 10 + index }
        }
        #expect(isSame(try jobs.responders().map(\.name), [two, one]))
        #expect(isSame(try jobs.status().responders.map(\.name), [two, one]))
        #expect(try await jobs.request(one, 1) == 10)
        #expect(try await jobs.request(two, 1) == 11)
        #expect(try jobs.removeResponder(to: one, key: "k"))
        #expect(try !jobs.hasResponder(to: one) && jobs.hasResponder(to: two))
        #expect(try await jobs.request(two, 2) == 21)
        #expect(try jobs.verify() == [])
        for token in tokens { token.cancel() }
    }

    @Test func respondersKeysAreTwo() async throws {
        let tokens = try [one, two].enumerated().map { index, key in
            try jobs.respond(to: "f", key: key) { (n: Int, next) -> Int in
                try next.exists ? try await next() + 1 : n + index
            }
        }
        #expect(isSame(try jobs.responders(to: "f").map(\.key), [two, one]))
        #expect(try await jobs.request("f", 10) == 11)
        #expect(try jobs.removeResponder(to: "f", key: two))
        #expect(isSame(try jobs.responders(to: "f").map(\.key), [one]))
        #expect(try jobs.hasResponder(to: "f", key: one) && !jobs.hasResponder(to: "f", key: two))
        for token in tokens { token.cancel() }
    }

    @Test func onesEndLeavesTheOthersRequests() async throws {
        let gate = Slot<Bool>()
        let begun = Count()
        let slow = try jobs.respond(to: one) { (n: Int, _) -> Int in
            begun.add()
            try await gate.filled()
            return n
        }
        let pending = Task { try await jobs.request(one, 5, as: Int.self) }
        #expect(try await eventually { begun.value == 1 })
        let other = try jobs.respond(to: two) { (n: Int, _) -> Int in -n }
        #expect(try await jobs.request(two, 5) == -5)
        other.cancel()
        #expect(try await eventually { try !jobs.hasResponder(to: two) })
        #expect(isSame(try jobs.status().requests.map(\.name), [one]))
        gate.value = true
        #expect(try await pending.value == 5)
        slow.cancel()
    }

    // MARK: Collections

    @Test func anOrderedSetKeepsBothElements() async throws {
        let set = try jobs.orderedSet("s", of: String.self)
        #expect(try set.append(contentsOf: [one, two, one]) == 2)
        #expect(isSame(try set.elements(), [one, two]))
        #expect(try set.firstIndex(of: two) == 1)
        try set.move(two, before: one)
        #expect(isSame(try set.elements(), [two, one]))
        #expect(try !set.isSubset(of: [one]) && set.isSuperset(of: [one, two]) && set.isSubset(of: [one, two, "x"]))
        let changes = try set.changes()
        var copy: [String] = []
        #expect(try set.remove(one) == 1)
        #expect(try set.append(contentsOf: [one, two]) == 1)
        for try await change in changes {
            change.apply(to: &copy)
            // The first reset may include the edits already.
            if copy.count == 2, isSame(copy, try set.elements()) { break }
        }
        #expect(isSame(copy, [two, one]))
        #expect(try set.formIntersection([two]) == 1)
        #expect(isSame(try set.elements(), [two]))
        #expect(try jobs.orderedSet(one, of: Int.self).append(1).inserted)
        #expect(try jobs.orderedSet(two, of: Int.self).elements() == [])
    }

    @Test func aDictionaryKeepsBothEntries() async throws {
        let dictionary = try jobs.dictionary("d", of: Int.self)
        let told = [Events(), Events()]
        let tokens = try zip([one, two], told).map { key, told in
            try dictionary.observe(key) { told.note($0.event) }
        }
        try dictionary.updateValue(1, forKey: one)
        try dictionary.updateValue(2, forKey: two)
        #expect(try dictionary.count == 2 && dictionary[one] == 1 && dictionary[two] == 2)
        #expect(isSame(try dictionary.keys(), [two, one]))
        #expect(try await eventually { told.map { $0.last } == [.set(one, 1, old: nil), .set(two, 2, old: nil)] })
        #expect(told[0].last != .set(two, 1, old: nil))
        #expect(try dictionary.removeValue(forKey: one) == 1 && dictionary[two] == 2)
        for token in tokens { token.cancel() }
        let dictionaries = try [one, two].map { try jobs.dictionary($0, of: Int.self) }
        try dictionaries[0].updateValue(1, forKey: "a")
        #expect(try dictionaries[1].keys() == [])
        #expect(try dictionaries[1].remove() && dictionaries[0].count == 1)
    }

    /// The events that a dictionary's observer was told.
    private final class Events: Sendable {
        private let all = Mutex<[DictionaryChange<Int>.Event]>([])
        var last: DictionaryChange<Int>.Event? { all.withLock { $0.last } }
        func note(_ event: DictionaryChange<Int>.Event) { all.withLock { $0.append(event) } }
    }

    // MARK: Values

    @Test func aRecordKeepsBothFields() throws {
        var record = Record()
        (record[one], record[two]) = (1, 2)
        #expect(record.count == 2 && record[one] == 1 && record[two] == 2)
        let parsed = try Value(json: #"{"\#(one)": 1, "\#(two)": 2}"#)
        #expect(parsed == .object(record))
        #expect(throws: TupleCodingError.self) { try Value(json: #"{"\#(one)": 1, "\#(one)": 2}"#) }
        try jobs.write(tuple: Tuple(record: record))
        #expect(try jobs.count(matching: Template(json: #"{"\#(two)": 2}"#)) == 1)
        #expect(try jobs.count(matching: Template(json: #"{"\#(two)": 1}"#)) == 0)
        #expect(try jobs.takeIfExists(matching: .any) == Tuple(record: record))
    }

    @Test func aTemplateMatchesItsOwnString() throws {
        try jobs.write(one, 1)
        try jobs.write(two, 2)
        #expect(try jobs.readIfExists(one, any(Int.self))?.1 == 1 && jobs.readIfExists(two, any(Int.self))?.1 == 2)
        #expect(try jobs.count(matching: [one, .any]) == 1)
    }

    /// A Dictionary can hold only one of two such names: reading is an error, not a loss.
    @Test func aDictionaryThatCannotHoldBothIsAnError() throws {
        try jobs.set("k", ["\u{e9}": 1, "e\u{301}": 2] as Value)
        #expect(throws: SpaceError.self) { try jobs.get("k", as: [String: Int].self) }
        #expect(throws: SpaceError.self) { try jobs.get("k", as: [String: Value].self) }
        #expect(try jobs.get("k", as: Record.self)?.count == 2)
        try jobs.set("k", ["\u{e9}": 1, "x": 2] as Value)
        #expect(try jobs.get("k", as: [String: Int].self) == ["\u{e9}": 1, "x": 2])
    }
}
