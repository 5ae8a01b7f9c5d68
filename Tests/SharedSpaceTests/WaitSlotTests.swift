import SpaceSystem
import SpaceTestSupport
import Testing
import TupleCoding

@testable import SharedSpace

/// The slots of those who wait, and the counts that spare a writer a look at them.
@Suite(.timeLimit(.minutes(5))) struct WaitSlotTests {
    private let root: TemporaryRoot
    private let namespace: Namespace
    private var slots: WaitSlots { namespace.core.slots }

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
    }

    private func publish(_ interest: Interest) throws -> WaitSlots.Tenancy {
        try #require(
            slots.publish(interest, session: namespace.session, doorbell: 0, sinceMilliseconds: 0)
        )
    }

    private func withdraw(_ tenancy: WaitSlots.Tenancy) { _ = slots.withdraw(tenancy, session: namespace.session) }

    private func isAwaited(_ tuple: Tuple) -> Bool {
        tuple.encoded.withUnsafeBytes {
            var appearance = Appearance(EncodedTuple(bytes: $0, isRecord: tuple.isRecord))
            return slots.counts.mayAwait(&appearance)
        }
    }

    @Test func aSlotIsFreedByItsTenantAlone() throws {
        let interest = Interest(["a"], isTaking: true)
        let first = try #require(slots.publish(interest, session: 7, doorbell: 0, sinceMilliseconds: 0))
        _ = slots.withdraw(first, session: 7)
        let second = try #require(slots.publish(interest, session: 8, doorbell: 0, sinceMilliseconds: 0))
        #expect(second.slot.index == first.slot.index && second.ticket != first.ticket)
        #expect(slots.withdraw(first, session: 7) == nil)
        #expect(second.slot.current.state == .active && slots.inUse.load() == 1)
        #expect(second.slot.interest == interest)
        // A sweeper that judged an earlier word frees nothing either.
        let old = WaitSlots.Word(.active, generation: 0)
        #expect(!slots.free(second.slot, in: old, session: 9))
        _ = slots.withdraw(second, session: 8)
        #expect(slots.inUse.load() == 0)
        #expect(try namespace.verify() == [])
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
        #expect(try namespace.verify() == [])
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
        #expect(try namespace.verify() == [])
    }

    /// More kinds than there is room for: those that found none are looked for in the slots.
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
        #expect(try namespace.verify() == [])
    }

    /// Who was killed while filling a slot may not have been counted: freeing it takes nothing off those who wait.
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
        #expect(slots.free(dying.slot, in: filling, session: namespace.session))
        #expect(isAwaited(["job", 1]))
        withdraw(waiting)
        #expect(!isAwaited(["job", 1]) && slots.inUse.load() == 0)
        #expect(try namespace.verify() == [])
    }

    // MARK: Grants

    /// Whether its bytes are at hand or looked up: a tuple is granted if it is there after the commit.
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
                id + 1 == (try namespace.core.read("test") { (s) throws(SpaceError) in try s.counters().nextTuple })
            )
            #expect(waiting.slot.change(from: word, to: word.next(.active)))
        }
        withdraw(waiting)
        #expect(try namespace.verify() == [])
    }
}
