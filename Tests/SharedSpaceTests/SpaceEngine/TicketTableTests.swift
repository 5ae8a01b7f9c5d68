import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceEngine
@testable import TupleSpace

/// The way from a tuple to the oldest taker: by tickets, from the start of the taker's line on.
///
/// The slots here have no process that waits, so their words stay as a writer leaves them. `TicketWaitTests` has takers
/// that wait.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct TicketTableTests {
    private let root: TemporaryRoot
    private let namespace: Namespace
    private let interest = Interest((["job", .any] as Template).form, isTaking: true)
    private var slots: WaitSlots { namespace.core.slots }

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    private func publish(_ interest: Interest) throws -> WaitSlots.Tenancy {
        try #require(
            namespace.core.waits.publishWait(interest, taskWord: nil)
        )
    }

    private func publish() throws -> WaitSlots.Tenancy { try publish(interest) }

    private func withdraw(_ tenancies: WaitSlots.Tenancy...) {
        for tenancy in tenancies { _ = slots.withdraw(tenancy, session: namespace.session) }
    }

    private func isGranted(_ tenancy: WaitSlots.Tenancy) -> Bool { tenancy.slot.current.state == .granted }

    /// What a taker does before its look.
    private func rearm(_ tenancy: WaitSlots.Tenancy) {
        let word = tenancy.slot.current
        #expect(word.state == .granted && tenancy.slot.change(from: word, to: word.next(.active)))
    }

    private var start: UInt64 { slots.tickets.start(interest.line).load() }

    // MARK: The table

    @Test func anOlderTicketReplacesNoYoungerOne() {
        let (old, young) = (UInt64(70), 70 + TicketTable.capacity)
        slots.tickets.enter(young, slot: 5, line: 3)
        slots.tickets.enter(old, slot: 7, line: 3)
        #expect(slots.tickets.slot(young, in: 1 << 3) == 5)
        #expect(slots.tickets.slot(old, in: 1 << 3) == nil)
        #expect(slots.tickets.slot(young, in: ~(1 << 3)) == nil)
    }

    @Test func takersAreServedInTheOrderOfTheirTickets() throws {
        // Every second slot has a younger ticket than the slots after it.
        let first = try (0..<100).map { _ in try publish() }
        for index in stride(from: 0, to: 100, by: 2) { withdraw(first[index]) }
        var takers = stride(from: 1, to: 100, by: 2).map { first[$0] }
        takers += try (0..<50).map { _ in try publish() }
        withdraw(takers.remove(at: 50), takers.remove(at: 20))
        for (number, taker) in takers.enumerated() {
            try namespace.write("job", number)
            #expect(isGranted(taker))
            #expect(takers.dropFirst(number + 1).allSatisfy { !isGranted($0) })
        }
        for taker in takers { withdraw(taker) }
    }

    /// A walk passes the takers of other lines, and leaves their starts alone.
    @Test func eachLineHasItsOrder() throws {
        let other = Interest((["other", .any] as Template).form, isTaking: true)
        #expect(other.line != interest.line)
        let slow = try publish(other)
        let takers = try (0..<10).map { _ in try publish() }
        for taker in takers {
            try namespace.write("job", 1)
            #expect(isGranted(taker))
        }
        try namespace.write("job", 1)
        #expect(start > takers[9].ticket && !isGranted(slow))
        try namespace.write("other", 1)
        #expect(isGranted(slow))
        for taker in takers { withdraw(taker) }
        withdraw(slow)
    }

    /// The entry of a taker that waits for long is replaced by that of a younger ticket, and then the slots are scanned.
    @Test func aTakerWithoutAnEntryIsFoundByAScan() throws {
        let oldest = try publish()
        try namespace.write("job", 0)
        rearm(oldest)
        #expect(start == oldest.ticket)
        // So many slots that a walk through all entries is no longer than a scan.
        let others = try (0..<3000).map { try publish(Interest(Template(Tuple("other", $0)).form, isTaking: true)) }
        for _ in 0..<TicketTable.capacity { withdraw(try publish()) }
        #expect(slots.tickets.slot(oldest.ticket, in: .max) == nil)
        let younger = try publish()
        try namespace.write("job", 1)
        #expect(isGranted(oldest) && !isGranted(younger))
        // The scan has set the start, so the next walk is short.
        try namespace.write("job", 2)
        #expect(isGranted(younger))
        for other in others { withdraw(other) }
        withdraw(oldest, younger)
    }

    // MARK: The start

    /// A taker that was granted a tuple is passed by the start; it lowers the start before it sleeps again.
    @Test func aTakerThatIsGrantedNothingAnyMoreLowersTheStart() throws {
        let (oldest, next) = (try publish(), try publish())
        for number in 0..<3 { try namespace.write("job", number) }
        #expect(isGranted(oldest) && isGranted(next) && start > next.ticket)
        rearm(oldest)
        // Without that, no writer finds it.
        try namespace.write("job", 3)
        #expect(!isGranted(oldest))
        slots.lowerStart(for: oldest)
        #expect(start == oldest.ticket)
        try namespace.write("job", 4)
        #expect(isGranted(oldest))
        withdraw(oldest, next)
    }

    /// A writer that has raised a start looks once more at the takers that the start has passed: one may have become active
    /// meanwhile, after it had looked at the start.
    @Test func aWriterFindsWhoBecameActiveWhileItRaisedTheStart() throws {
        let writer = try Agent(root, "n")
        let (oldest, next) = (try publish(), try publish())
        try namespace.write("job", 0)
        #expect(isGranted(oldest) && start == oldest.ticket)
        try writer.run("arm stop startRaised")
        try writer.send("write [\"job\",1]")
        try writer.waitUntilStopped()
        #expect(start == next.ticket)
        rearm(oldest)
        writer.resume()
        #expect(try writer.line()?.hasPrefix("ok") == true)
        #expect(isGranted(next) && start == oldest.ticket)
        try namespace.write("job", 2)
        #expect(isGranted(oldest))
        withdraw(oldest, next)
    }

    /// If so many tickets are given out while a writer raises a start that entries are replaced, the start goes down again.
    @Test func aWriterThatRaisedTheStartForLongTakesItBack() throws {
        let writer = try Agent(root, "n")
        let (oldest, next) = (try publish(), try publish())
        try namespace.write("job", 0)
        try writer.run("arm stop startRaised")
        try writer.send("write [\"job\",1]")
        try writer.waitUntilStopped()
        rearm(oldest)
        for _ in 0..<TicketTable.capacity { withdraw(try publish()) }
        writer.resume()
        #expect(try writer.line()?.hasPrefix("ok") == true)
        #expect(start == oldest.ticket)
        try namespace.write("job", 2)
        #expect(isGranted(oldest))
        withdraw(oldest, next)
    }

    // MARK: Counts by hash

    /// One tuple in 76 meets the counts of 1,000 waiters by chance; by one count of 13 bits each it was one in nine.
    @Test func fewTuplesMeetCountsByChance() throws {
        let waiting = try (0..<1000).map { try publish(Interest(Template(Tuple("job", $0)).form, isTaking: true)) }
        let met = (1000..<5000).count { isAwaited(Tuple("job", $0)) }
        #expect(met <= 100, "\(met) of 4,000")
        for number in 0..<1000 { #expect(isAwaited(Tuple("job", number))) }
        for tenancy in waiting { withdraw(tenancy) }
    }

    /// A count that was full once may have been one too many, so it is taken down no more.
    @Test func aFullCountStays() throws {
        let waiting = try publish()
        let places = (0..<Int(WaitCounts.fullBucket)).map { _ in slots.counts.add(interest) }
        for place in places { slots.counts.subtract(interest, at: place) }
        #expect(isAwaited(["job", 1]))
        try namespace.write("job", 1)
        #expect(isGranted(waiting))
        withdraw(waiting)
    }

    private func isAwaited(_ tuple: Tuple) -> Bool {
        tuple.encoded.withUnsafeBytes {
            var appearance = Appearance(EncodedTuple(bytes: $0, isRecord: tuple.isRecord))
            return !slots.counts.awaited(&appearance).isEmpty
        }
    }

    /// The hashes that a record of the near end has say the same as the tuple's bytes.
    @Test(
        arguments: [
            (["job", .any], ["job", 1], ["job", 1, 2]),
            ([.any, 7, .any, .any, .any], [1, 7, 3, 4, 5], [1, 8, 3, 4, 5]),
            ([.any, .any, .any, .any, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 6]),
            (["kind": "job"], ["kind": "job", "id": 1], ["kind": "jab"]),
        ] as [(Template, Tuple, Tuple)]
    )
    func aTupleInTheNearEndIsGranted(_ template: Template, _ wanted: Tuple, _ other: Tuple) throws {
        let taker = try publish(Interest(template.form, isTaking: true))
        try namespace.write(tuple: other)
        #expect(!isGranted(taker))
        try namespace.write(tuple: wanted)
        #expect(isGranted(taker))
        withdraw(taker)
    }
}

/// Takers in other processes whose slots the start passes.
@Suite(.blocking, .timeLimit(.minutes(5))) struct TicketWaitTests {
    /// A taker that the start has passed, while it was granted a tuple that it does not want, is found again without a tick.
    @Test func aTakerThatTheStartHasPassedIsGrantedTheNextTuple() throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n")
        let slots = namespace.core.slots
        let taker = try Agent(root, "n")
        try taker.block("take-wait 60000 [\"job\", \"?100...200\"]", in: namespace)
        for round in 0..<20 {
            try taker.stop()
            // The first is granted to it; the second raises the start beyond it.
            for number in 0..<2 { try namespace.write("job", number) }
            taker.resume()
            #expect(try eventually { isAsleep(in: slots) }, "round \(round)")
            for _ in 0..<2 { _ = try namespace.takeIfExists("job", any(Int.self)) }
        }
        let id = try namespace.write(tuple: ["job", 150])
        #expect(slots.hasGranted(id.rawValue))
        #expect(try taker.line() == "ok [\"job\",150]")
        try taker.exit()
        #expect(try namespace.verify() == [])
        try namespace.leave()
    }

    /// A taker that was passed while it looked is found although another one has lowered the start meanwhile.
    @Test func twoTakersThatTheStartHasPassedAreBothFound() throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n")
        let slots = namespace.core.slots
        let interest = Interest((["job", .any] as Template).form, isTaking: true)
        let older = try #require(namespace.core.waits.publishWait(interest, taskWord: nil))
        let taker = try Agent(root, "n")
        try taker.run("ticks-off")
        // Its first look in vain is that before it sleeps.
        try taker.run("arm stop lookedInVain 2")
        try taker.block("take-wait 60000 [\"job\", \"?100...200\"]", in: namespace)
        try taker.stop()
        // Both are granted something, and the start passes both.
        for number in 0..<3 { try namespace.write("job", number) }
        taker.resume()
        try taker.waitUntilStopped()
        let id = try namespace.write(tuple: ["job", 150])
        slots.lowerStart(for: older)
        taker.resume()
        #expect(slots.hasGranted(id.rawValue))
        #expect(try taker.line() == "ok [\"job\",150]")
        _ = slots.withdraw(older, session: namespace.session)
        try taker.exit()
        try namespace.leave()
    }

    /// Whether a waiter sleeps that has looked since it was granted something.
    private func isAsleep(in slots: WaitSlots) -> Bool {
        slots.range.contains {
            let slot = slots.slot($0)
            return slot.current.state == .active && slot.isSleeping.load() != 0
        }
    }
}
