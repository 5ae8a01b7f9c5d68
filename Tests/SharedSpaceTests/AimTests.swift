import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// A taker that waits takes what it was granted, and leaves for a tick what another was granted.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct AimTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace(.fast) }

    private static let template: Template = ["job", .any]

    /// The number of the tuple that a look takes.
    private func take(
        _ aim: inout Aim,
        _ template: Template = Self.template,
        _ order: MatchOrder = .oldestFirst
    ) throws -> Int? {
        try namespace.core.looking.lookToTake(template.form, order, &aim) { (match) throws(SpaceError) -> Int in
            guard case .int(let number) = try match.tuple()[1] else { return -1 }
            return Int(number)
        }?.result
    }

    /// Writes tuples with the numbers from 0, and returns their ids.
    private func write(_ count: Int, isNear: Bool) throws -> [UInt64] {
        let ids = try (0..<count).map { try namespace.write(tuple: ["job", $0]).rawValue }
        if !isNear { try namespace.core.write(.removing) { (scope) throws(SpaceError) in scope.noteUpkeep() } }
        return ids
    }

    @Test(arguments: [true, false]) func whatWasGrantedIsTakenAlone(isNear: Bool) throws {
        let ids = try write(5, isNear: isNear)
        var aim = Aim()
        for number in [2, 0, 4] {
            aim.only = ids[number]
            #expect(try take(&aim, ["job", 100]) == nil)
            #expect(try take(&aim, Self.template, .newestFirst) == nil)
            #expect(try take(&aim, number == 2 ? .anyOf(["other"], Self.template) : Self.template) == number)
            // It is gone, and no other is taken in its place.
            #expect(try take(&aim) == nil)
        }
        aim.only = nil
        for number in [1, 3] { #expect(try take(&aim) == number) }
        #expect(try take(&aim) == nil)
    }

    /// A waiter with an older ticket than those that look here, which does not run, and was granted the next tuple that it
    /// may match.
    private func older(_ template: Template) throws -> WaitSlots.Tenancy {
        let interest = Interest(template.form, isTaking: true)
        return try #require(namespace.core.waits.publishWait(interest, taskWord: nil))
    }

    @Test func whatAnOlderTakerWasGrantedIsLeftForAWhile() throws {
        let other = try older(Self.template)
        defer { _ = namespace.core.slots.withdraw(other, session: namespace.session) }
        let id = try write(3, isNear: true)[0]
        #expect(other.slot.current.state == .granted && other.slot.current.payload == id)
        func look(heeding ticket: UInt64 = .max, _ order: MatchOrder = .oldestFirst) throws -> (Int?, hasLeft: Bool) {
            var aim = Aim()
            aim.heeds = ticket
            return (try take(&aim, Self.template, order), aim.hasLeft)
        }
        // What lies behind it is taken, in either order.
        #expect(try look() == (1, true))
        #expect(try look(heeding: .max, .newestFirst) == (2, false))
        #expect(try look() == (nil, true))
        #expect(try look(heeding: .max, .newestFirst) == (nil, true))
        #expect(try eventually { try look() == (0, false) })
    }

    /// A glance takes nothing that lies behind what it leaves: its writer may be about to grant it.
    @Test func aGlanceTakesTheFirstOrNothing() throws {
        let other = try older(Self.template)
        defer { _ = namespace.core.slots.withdraw(other, session: namespace.session) }
        _ = try write(3, isNear: true)
        func glance() throws -> Int? {
            var aim = Aim()
            aim.heeds = .max
            aim.isGlance = true
            return try take(&aim)
        }
        #expect(try glance() == nil)
        #expect(try eventually { try glance() == 0 })
        #expect(try glance() == 1)
    }

    /// It is left neither to a younger taker, nor to one that does not want it any more.
    @Test func whatAYoungerTakerWasGrantedIsTaken() throws {
        let other = try older(Self.template)
        _ = try write(1, isNear: true)
        var aim = Aim()
        aim.heeds = other.ticket
        #expect(try take(&aim) == 0 && !aim.hasLeft)
        _ = namespace.core.slots.withdraw(other, session: namespace.session)
    }

    @Test func whatIsHandedOnIsLeftNoLonger() throws {
        let other = try older(Self.template)
        _ = try write(1, isNear: true)
        var aim = Aim()
        aim.heeds = .max
        #expect(try take(&aim) == nil && aim.hasLeft)
        _ = namespace.core.slots.withdraw(other, session: namespace.session)
        aim = Aim()
        aim.heeds = .max
        #expect(try take(&aim) == 0 && !aim.hasLeft)
    }

    /// Tuples whose takers do not run are all taken after one patience, however many there are.
    @Test func manyTuplesAreLeftForTheSameWhile() throws {
        let count = 5
        let others = try (0..<count).map { _ in try older(Self.template) }
        defer { for other in others { _ = namespace.core.slots.withdraw(other, session: namespace.session) } }
        _ = try write(count, isNear: true)
        func look() throws -> Int? {
            var aim = Aim()
            aim.heeds = .max
            aim.isGlance = true
            return try take(&aim)
        }
        #expect(try look() == nil)
        let end = MonotonicInstant.now.advanced(by: UpkeepState.grantPatience)
        #expect(try eventually { end.hasPassed })
        #expect(try (0..<count).map { _ in try look() } == Array(0..<count))
    }
}
