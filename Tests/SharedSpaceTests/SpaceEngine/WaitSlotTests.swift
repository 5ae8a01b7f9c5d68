import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Wait slots, and the counts that spare a writer a look at them.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct WaitSlotTests {
    private let root: TemporaryRoot
    private let namespace: Namespace
    private var slots: WaitSlots { namespace.core.slots }

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    private func publish(_ interest: Interest) throws -> WaitSlots.Tenancy {
        try #require(
            slots.publish(interest, session: namespace.session, taskWord: 0, sinceMilliseconds: 0)
        )
    }

    private func withdraw(_ tenancy: WaitSlots.Tenancy) { _ = slots.withdraw(tenancy, session: namespace.session) }

    private func isAwaited(_ tuple: Tuple) -> Bool {
        tuple.encoded.withUnsafeBytes {
            var appearance = Appearance(EncodedTuple(bytes: $0, isRecord: tuple.isRecord))
            return !slots.counts.awaited(&appearance).isEmpty
        }
    }

    @Test func aSlotIsFreedByItsTenantAlone() throws {
        let interest = Interest(["a"], isTaking: true)
        let first = try #require(slots.publish(interest, session: 7, taskWord: 0, sinceMilliseconds: 0))
        _ = slots.withdraw(first, session: 7)
        let second = try #require(slots.publish(interest, session: 8, taskWord: 0, sinceMilliseconds: 0))
        #expect(second.slot.index == first.slot.index && second.ticket != first.ticket)
        #expect(slots.withdraw(first, session: 7) == nil)
        #expect(second.slot.current.state == .active && slots.inUse.load() == 1)
        #expect(second.slot.interest == interest)
        // A sweeper that judged an earlier word frees nothing either.
        let old = WaitSlots.Word(.active, generation: 0)
        #expect(!slots.free(second.slot, in: old, ticket: first.ticket, session: 9))
        _ = slots.withdraw(second, session: 8)
        #expect(slots.inUse.load() == 0)
    }

    // MARK: Counts

    @Test(
        arguments: [
            (["job", .any], ["job", 1], ["job"]),
            ([.any, 7], ["job", 7], ["job", 8]),
            (["job", 1...9], ["job", 5], ["jab", 5]),
            ([.any, .any], ["job", 1], ["job", 1, 2]),
            (["kind": "job"], ["kind": "job", "id": 1], ["kind": "jab"]),
            (["kind": .any], ["kind": "job"], ["job"]),
        ] as [(Template, Tuple, Tuple)]
    )
    func whoWaitsIsCounted(_ template: Template, _ wanted: Tuple, _ other: Tuple) throws {
        for isTaking in [true, false] {
            #expect(!isAwaited(wanted))
            let two = [
                try publish(Interest(template, isTaking: isTaking)), try publish(Interest(template, isTaking: true)),
            ]
            #expect(isAwaited(wanted) && !isAwaited(other))
            withdraw(two[0])
            #expect(isAwaited(wanted))
            withdraw(two[1])
            #expect(!isAwaited(wanted) && !isAwaited(other))
        }
    }

    @Test func whoWaitsForOneThingIsCounted() throws {
        for interest in [Interest(cell: "a"), Interest(hold: 1), Interest(object: "a")] {
            #expect(!slots.counts.mayAwait(interest))
            let tenancy = try publish(interest)
            #expect(slots.counts.mayAwait(interest) && !isAwaited(["a"]))
            #expect(!slots.counts.mayAwait(Interest(cell: "b")) && !slots.counts.mayAwait(Interest(hold: 2)))
            withdraw(tenancy)
            #expect(!slots.counts.mayAwait(interest))
        }
    }

    /// If waiters have more kinds than the counts have entries, the kinds without an entry are looked for in the slots.
    @Test func kindsWithoutRoomAreCountedTogether() throws {
        let masks = 1...80
        let tuples = masks.map { Tuple(fields: Array(repeating: .int($0), count: 7)) }
        let tenancies = try masks.map { mask in
            let fields = (0..<7).map { mask & 1 << $0 != 0 ? "\(mask)" : "\"?\"" }
            return try publish(Interest(Template(json: "[\(fields.joined(separator: ","))]"), isTaking: true))
        }
        for tuple in tuples { #expect(isAwaited(tuple)) }
        for (tuple, tenancy) in zip(tuples, tenancies).reversed() {
            #expect(isAwaited(tuple))
            withdraw(tenancy)
        }
        for tuple in tuples { #expect(!isAwaited(tuple)) }
    }

    /// A kind that no process waits for any more gives up its entry, so more kinds than there are entries may follow
    /// one another.
    @Test func kindsOfThePastCostNothing() throws {
        for mask in 1...200 {
            let fields = (0..<8).map { mask & 1 << $0 != 0 ? "\(mask)" : "\"?\"" }
            let tenancy = try publish(Interest(Template(json: "[\(fields.joined(separator: ","))]"), isTaking: true))
            #expect(isAwaited(Tuple(fields: Array(repeating: .int(mask), count: 8))))
            #expect(!isAwaited(["other"]))
            withdraw(tenancy)
        }
        #expect(!isAwaited(["other"]))
    }

    /// A process killed while filling a slot may not have been counted, so freeing that slot takes nothing off the
    /// counts of the waiters.
    @Test func aSlotThatWasBeingFilledCountsForNobody() throws {
        let interest = Interest(["job", .any], isTaking: true)
        let waiting = try publish(interest)
        let dying = try publish(interest)
        withdraw(dying)
        let free = dying.slot.current
        let filling = free.next(.filling, payload: 77)
        #expect(dying.slot.change(from: free, to: filling))
        // The key lies before the ticket.
        SharedWord64(at: dying.slot.ticket.address - 2).store(interest.selector)
        SharedWord64(at: dying.slot.ticket.address - 1).store(interest.hash)
        slots.inUse.add(1)
        #expect(slots.free(dying.slot, in: filling, ticket: 0, session: namespace.session))
        #expect(isAwaited(["job", 1]))
        withdraw(waiting)
        #expect(!isAwaited(["job", 1]) && slots.inUse.load() == 0)
    }

    // MARK: Later tenants

    /// Leaves a slot, and waits in it until its word comes again, after 4,096 waits.
    private func leaveUntilTheWordComesAgain(_ tenancy: WaitSlots.Tenancy, _ interest: Interest) throws
        -> WaitSlots.Tenancy
    {
        let word = tenancy.slot.current
        withdraw(tenancy)
        for _ in 1..<4096 { withdraw(try publish(interest)) }
        let later = try publish(interest)
        #expect(later.slot.index == tenancy.slot.index && later.slot.current == word)
        return later
    }

    @Test func whoSweepsLateFreesNoLaterTenant() throws {
        let interest = Interest(["job", .any], isTaking: true)
        let tenancy = try publish(interest)
        let word = tenancy.slot.current
        let later = try leaveUntilTheWordComesAgain(tenancy, interest)
        #expect(!slots.free(tenancy.slot, in: word, ticket: tenancy.ticket, session: 9))
        #expect(later.slot.current.state == .active && isAwaited(["job", 1]))
        withdraw(later)
        #expect(!isAwaited(["job", 1]) && slots.inUse.load() == 0)
    }

    /// A writer that is stopped between its choice of a waiter and the grant grants nothing to a later tenant of the slot.
    @Test func whoGrantsLateGrantsTheNextInLine() throws {
        let writer = try Agent(root, "n")
        let oldest = try publish(Interest(["job", .any], isTaking: true))
        let next = try publish(Interest(["job", .any], isTaking: true))
        try writer.run("arm stop granting")
        try writer.send("write [\"job\",1]")
        try writer.waitUntilStopped()
        let later = try leaveUntilTheWordComesAgain(oldest, Interest(["other", .any], isTaking: true))
        writer.resume()
        #expect(try writer.line()?.hasPrefix("ok") == true)
        #expect(next.slot.current.state == .granted)
        #expect(later.slot.current.state == .active)
        withdraw(next)
        withdraw(later)
    }

    // MARK: Segments

    /// The table grows with the number of waiters, and a waiter in a new segment gets its grant.
    @Test func aFullTableGrows() throws {
        let crowd = try (0..<3000).map { (number: Int) -> WaitSlots.Tenancy in
            try #require(
                namespace.core.waits.publishWait(
                    Interest(Template(Tuple("job", number)), isTaking: true),
                    taskWord: nil
                )
            )
        }
        #expect(slots.segments == 3 && Set(crowd.map(\.slot.index)) == Set(0..<3000))
        for (number, tenancy) in crowd.enumerated().reversed() {
            #expect(tenancy.slot.current.state == .active)
            try namespace.write("job", number)
            #expect(tenancy.slot.current.state == .granted)
            withdraw(tenancy)
        }
        #expect(slots.inUse.load() == 0)
    }

    // MARK: Grants

    /// A tuple is granted if it is there after the commit, whether its bytes are at hand or looked up.
    @Test func whatIsThereAfterTheCommitIsGranted() throws {
        let waiting = try publish(Interest(["job", .any], isTaking: true))
        var word: WaitSlots.Word { waiting.slot.current }
        try namespace.write("other", 1)
        try namespace.write("job", 1, 2)
        try namespace.write("job", 0, expires: .zero)
        try namespace.transaction { t in
            try t.write("job", 1)
            #expect(try t.takeIfExists("job", 1) != nil)
        }
        #expect(word.state == .active)
        for write in [
            { try namespace.write("job", 1) },
            { try namespace.write("job", 2, expires: .seconds(3600)) },
            { try namespace.write("job", String(repeating: "x", count: 5000)) },
            { try namespace.write(contentsOf: [["other", 1], ["job", 3]]) },
        ] {
            try write()
            #expect(word.state == .granted)
            let id = word.payload
            #expect(try namespace.takeIfExists(matching: ["job", .any]) != nil)
            #expect(
                id + 1
                    == (try namespace.core.read(showsNear: true) { (s) throws(SpaceError) in
                        try s.counters().nextTuple
                    })
            )
            #expect(waiting.slot.change(from: word, to: word.next(.active)))
        }
        withdraw(waiting)
    }
}

extension Interest {
    fileprivate init(_ template: Template, isTaking: Bool) { self.init(template.form, isTaking: isTaking) }
}
