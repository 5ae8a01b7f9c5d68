import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The check finds rows of holds, requests and named objects that don't decode or that contradict each other, and using
/// them is an error, never a trap.
@Suite(.timeLimit(.minutes(5))) struct HoldDamageTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
    }

    private enum Place { case main, holds, objects, elements }

    /// Changes a row directly in its table; `nil` deletes it.
    private func damage(_ place: Place, _ key: [UInt8], _ change: ([UInt8]) -> [UInt8]?) throws {
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            let database =
                switch place {
                case .main: scope.tables.main
                case .holds: scope.tables.holds
                case .objects: scope.tables.objects
                case .elements: scope.tables.elements
                }
            let rows: Table<[UInt8], UnsafeRawBufferPointer> = scope.table(database)
            let old = try rows.get(key).map { Array($0) } ?? []
            if let new = change(old) { try rows.put(key, new) } else { try rows.delete(key) }
            scope.noteUpkeep()
        }
    }

    /// Makes every call that reads the rows: each succeeds, or throws an error that says what is damaged.
    private func useAll() throws {
        let uses: [() throws -> Void] = [
            { _ = try namespace.lock("x").acquire(timeout: .zero) },
            { _ = try namespace.lock("x").tryAcquire(.shared) },
            { _ = try namespace.semaphore("x", permits: 2).tryAcquire() },
            { _ = try namespace.queue("x").take(timeout: .zero) },
            { try namespace.queue("x").put(1) },
            { _ = try namespace.responders(to: "x") },
            { _ = try namespace.responders() },
            { let _: Int? = try namespace.request("x", 1, timeout: .zero) },
            { _ = try namespace.removeResponder(to: "x", key: "k") },
            { _ = try namespace.orderedSet("x", of: Int.self).append(1) },
            { try namespace.orderedSet("x", of: Int.self).remove() },
            { _ = try namespace.counter("x").add(1) },
            { _ = try namespace.objects },
            { _ = try namespace.status() },
        ]
        for (number, use) in uses.enumerated() {
            do {
                try use()
            } catch let error as SpaceError {
                #expect(!error.reason.isEmpty, "use \(number): \(error)")
            }
        }
        _ = try namespace.verify()
    }

    // MARK: Locks

    /// Holds a lock.
    ///
    /// Returns: Its ticket.
    private func lock() throws -> UInt64 {
        let request = PlaceRequest(name: "x", kind: .lock, rules: TurnRules())
        return try #require(try namespace.core.places.enter(request, waits: false)?.0.ticket)
    }

    private static let bytes: [@Sendable ([UInt8]) -> [UInt8]] = [
        { _ in [] },
        { Array($0.prefix(23)) },
        { Array($0.dropLast()) },
        { [99] + $0.dropFirst() },
        { [$0[0], 7] + $0.dropFirst(2) },
        { Array($0.prefix(24)) + [0xEE] },
        { $0.map { _ in 0xFF } },
    ]

    @Test(arguments: bytes.indices) func aHoldThatDoesNotDecodeIsFound(_ index: Int) throws {
        let ticket = try lock()
        #expect(try namespace.verify() == [])
        try damage(.holds, PlaceKeys("x").key(ticket), Self.bytes[index])
        #expect(try namespace.verify() != [])
        let error = #expect(throws: SpaceError.self) { _ = try namespace.lock("x").tryAcquire() }
        #expect(error?.code == .damaged && error?.reason.contains("hold \(ticket)") == true)
        try useAll()
    }

    @Test func holdersThatExcludeEachOtherAreFound() throws {
        let ticket = try lock()
        try damage(.holds, PlaceKeys("x").key(ticket + 1)) { _ in
            PlaceRow(
                ticket: ticket + 1,
                kind: .lock,
                holder: .session(namespace.session),
                since: 0,
                pid: 1,
                isHolding: true
            ).encoded
        }
        let damage = try namespace.verify()
        #expect(damage.contains { $0.contains("holds out of turn") })
        #expect(damage.contains { $0.contains("a number that was not given out") })
        #expect(damage.contains { $0.contains("2 holds are kept, and the counter says 1") })
        try useAll()
    }

    /// A row is found if its key is neither a counter's nor begins with the mark of a table.
    @Test(arguments: [[0x7F, 1], [0x86, 1], Array("countess".utf8)] as [[UInt8]])
    func aRowOfNoTableIsFound(_ key: [UInt8]) throws {
        _ = try lock()
        #expect(try namespace.verify() == [])
        try damage(.main, key) { _ in [1] }
        #expect(try namespace.verify() == ["rows of the main database that stand in no table: 1"])
        try useAll()
    }

    /// A row of the machines that share a namespace is found in one that is this machine's alone, and so is a damaged one.
    @Test func aRowOfAMachineIsFound() throws {
        try damage(.main, [0x85, 0, 0, 0, 0, 0, 0, 0, 7]) { _ in Array("east".utf8) }
        #expect(try namespace.verify() == ["member 7 takes part in a namespace that no machines share"])
        try damage(.main, [0x85, 1]) { _ in [1] }
        #expect(try namespace.verify().contains("a row of the machines that share the namespace does not decode"))
        try useAll()
    }

    @Test func aHoldOfAnotherKindIsFound() throws {
        let ticket = try lock()
        for kind in SharedObjectKind.allCases where kind != .lock {
            try damage(.holds, PlaceKeys("x").key(ticket)) { [kind.rawValue] + $0.dropFirst() }
            try damage(.objects, Array("x".utf8)) { _ in nil }
            try useAll()
        }
    }

    @Test func aKeyThatIsNoneIsFound() throws {
        for key: [UInt8] in [[1], [2, 0x78, 0], [0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            try damage(.holds, key) { _ in [1] }
        }
        #expect(try namespace.verify().count { $0.contains("does not decode") } == 3)
        try useAll()
    }

    // MARK: Queues

    /// An item whose value is damaged is found once and buried: takers get the items behind it, and kicking skips
    /// it.
    @Test func anItemThatDoesNotDecodeHoldsNobodyUp() throws {
        let queue = namespace.queue("x")
        let first = try queue.put(1).id
        try queue.put(2)
        let rows = QueueRows(
            number: try #require(
                try namespace.core.read { snapshot throws(SpaceError) in try snapshot.object("x", .queue) }
            ).number
        )
        try damage(.elements, rows.value(first)) { _ in [0xEE] }
        let error = #expect(throws: SpaceError.self) { _ = try queue.takeIfReady() }
        #expect(error?.code == .damaged)
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        #expect(item.value == 2)
        try item.bury()
        #expect(try queue.items(in: .buried).map(\.value) == [2])
        #expect(try queue.counts()[.buried] == 2)
        #expect(try queue.kick(max: 1) == 1)
        #expect(try queue.takeIfReady()?.value == 2)
        #expect(try namespace.verify().contains("item \(first) of the queue \"x\" does not decode"))
    }

    // MARK: Responders and requests

    @Test(arguments: bytes.indices) func aResponderThatDoesNotDecodeIsFound(_ index: Int) throws {
        let position = try namespace.core.responders.enrol("x", key: "k", isBase: false)
        try damage(.holds, PlaceKeys("x").key(position.ticket), Self.bytes[index])
        #expect(try namespace.verify() != [])
        try useAll()
    }

    /// Details of a request that hold other values where numbers belong.
    private static let details: [Value] = [
        .null, .array([]), .array([Value](repeating: .int(-1), count: 8) + [.string("x")]),
        .array([Value](repeating: .int(.max), count: 7) + [.int(0), .string("x")]),
        .array([Value](repeating: .int(0), count: 8) + [.int(0)]),
        .array([Value](repeating: .int(0), count: 8) + [.string("x"), .string("y")]),
        .array([Value](repeating: .int(.min), count: 7) + [.int(0), .string("x"), .int(.min)]),
        details(at: -1, below: .min, reached: 1), details(at: .min, below: -1, reached: .min),
        details(at: 1, below: 0, reached: .max), details(at: .max, below: .max, reached: -1),
    ]

    private static func details(at: Int, below: Int, reached: Int) -> Value {
        .array([at, below, 1, 0, .max, -1, -1, 0].map { .int($0) } + [.string("x"), .int(reached)])
    }

    @Test(arguments: details.indices) func aRequestWithOtherDetailsIsFound(_ index: Int) throws {
        let core = namespace.core
        _ = try core.responders.enrol("x", key: "k", isBase: false)
        let request = OutgoingRequest(name: "x", argument: Value.int(1).knownElement)
        let ticket = try #require(try core.requests.ask(request))
        #expect(try namespace.verify() == [])
        try damage(.holds, PlaceKeys(RequestRow.queueName).key(ticket)) {
            Array($0.prefix(24)) + Self.details[index].knownElement
        }
        #expect(try namespace.verify() != [])
        _ = try? core.requests.standing(of: ticket)
        _ = try? core.requests.takeBack(ticket)
        try useAll()
    }

    @Test func aRequestWithoutAnArgumentIsFound() throws {
        let core = namespace.core
        let position = try core.responders.enrol("x", key: "k", isBase: false)
        let request = OutgoingRequest(name: "x", argument: Value.int(1).knownElement)
        let ticket = try #require(try core.requests.ask(request))
        try damage(.elements, RequestRow.bodyKey(ticket)) { _ in nil }
        #expect(try namespace.verify() == ["request \(ticket) asks nothing"])
        let error = #expect(throws: SpaceError.self) {
            try core.requests.begin(Asking(ticket: ticket, work: ticket), at: position)
        }
        #expect(error?.code == .damaged)
        try core.requests.takeBack(ticket)
        #expect(try namespace.verify() == [])
    }

    // MARK: Objects

    @Test(
        arguments: [
            [], [1], [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0xFF, count: 40),
            [1] + [UInt8](repeating: 0, count: 15) + [0xEE],
            [77] + [UInt8](repeating: 0, count: 16),
        ] as [[UInt8]]
    )
    func anObjectThatDoesNotDecodeIsFound(_ bytes: [UInt8]) throws {
        try namespace.orderedSet("x", of: Int.self).append(1)
        #expect(try namespace.verify() == [])
        try damage(.objects, Array("x".utf8)) { _ in bytes }
        #expect(try namespace.verify().contains { $0.contains("the object \"x\" does not decode") })
        let error = #expect(throws: SpaceError.self) { try namespace.orderedSet("x", of: Int.self) }
        #expect(error?.code == .damaged)
        try useAll()
    }

    /// An object is found that decodes and says the impossible: a number that was never given out or is another's, or
    /// the details of another kind.
    @Test func anObjectThatSaysWhatCannotBeIsFound() throws {
        let set = try namespace.orderedSet("x", of: Int.self)
        try set.append(1)
        for kind in SharedObjectKind.allCases {
            for number in [0, set.number, set.number + 77, .max] {
                for details in [Value.null, .int(.min), .array([.int(.max), .string("Int"), .null])] {
                    let row = SharedObjectRow(kind: kind, number: number, details: details)
                    try damage(.objects, Array("x".utf8)) { _ in row.encoded }
                    if number != set.number { #expect(try namespace.verify() != []) }
                    _ = try? set.elements()
                    try useAll()
                }
            }
        }
    }

    /// A look at a queue whose index calls a ready item overdue ends, and the item is as it was.
    @Test func anItemThatIsNotTakenIsNotReturned() throws {
        let queue = namespace.queue("mail")
        try queue.put(contentsOf: ["taken", "letter"])
        // Only where something is held, a look returns what is overdue.
        guard let held = try queue.takeIfReady() else { throw TestFailure("no item is ready") }
        let item = try #require(try queue.items(in: .ready).first)
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            guard let (rows, _) = try scope.snapshot.queue("mail"),
                var row = try scope.snapshot.queueItem(rows, item.id)
            else { return }
            (row.state, row.endTime) = (.taken, 1)
            if let index = rows.index(of: row) { try scope.queueIndex.put(index, NoValue()) }
            scope.noteUpkeep()
        }
        #expect(try namespace.verify() != [])
        #expect(try queue.items().map(\.deliveries) == [0, 0])
        #expect(held.id != item.id)
    }

    @Test func aNameThatIsNoneIsFound() throws {
        for name: [UInt8] in [[0xFF, 0xFE], [UInt8](repeating: 0x61, count: 400)] {
            try damage(.objects, name) { _ in SharedObjectRow(kind: .latch, number: 1, details: .null).encoded }
        }
        #expect(try namespace.verify().count { $0.contains("an object's name is no UTF-8, or too long") } == 2)
        try useAll()
    }
}
