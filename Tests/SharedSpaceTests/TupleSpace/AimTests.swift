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

    /// Runs `body` beside waiters, one for each template, that do not run; each is granted the next tuple that it may match.
    private func beside(_ templates: [Template], _ body: ([WaitSlots.Tenancy]) throws -> Void) throws {
        let others = try templates.map {
            try #require(namespace.core.waits.publishWait(Interest($0.form, isTaking: true), taskWord: nil))
        }
        defer { for other in others { withdraw(other) } }
        try body(others)
    }

    private func withdraw(_ other: WaitSlots.Tenancy) {
        _ = namespace.core.slots.withdraw(other, session: namespace.session)
    }

    /// The number that a look takes that leaves what takers with tickets below `ticket` were granted.
    private func look(
        _ template: Template = Self.template,
        _ order: MatchOrder = .oldestFirst,
        heeding ticket: UInt64 = .max,
        isGlance: Bool = false
    ) throws -> (Int?, hasLeft: Bool) {
        var aim = Aim()
        aim.heeds = ticket
        aim.isGlance = isGlance
        return (try take(&aim, template, order), aim.hasLeft)
    }

    @Test func whatAnOlderTakerWasGrantedIsLeftForAWhile() throws {
        try beside([Self.template]) { others in
            let id = try write(3, isNear: true)[0]
            #expect(others[0].slot.current.state == .granted && others[0].slot.current.payload == id)
            // What lies behind it is taken, in either order.
            #expect(try look() == (1, true))
            #expect(try look(Self.template, .newestFirst) == (2, false))
            #expect(try look() == (nil, true))
            #expect(try look(Self.template, .newestFirst) == (nil, true))
            #expect(try eventually { try look() == (0, false) })
        }
    }

    /// A glance takes nothing that lies behind what it leaves: its writer may be about to grant it.
    @Test func aGlanceTakesTheFirstOrNothing() throws {
        try beside([Self.template]) { _ in
            _ = try write(3, isNear: true)
            #expect(try look(isGlance: true) == (nil, true))
            #expect(try eventually { try look(isGlance: true) == (0, false) })
            #expect(try look(isGlance: true) == (1, false))
        }
    }

    @Test func whatAYoungerTakerWasGrantedIsTaken() throws {
        try beside([Self.template]) { others in
            _ = try write(1, isNear: true)
            #expect(try look(heeding: others[0].ticket) == (0, false))
        }
    }

    @Test func whatIsHandedOnIsLeftNoLonger() throws {
        try beside([Self.template]) { others in
            _ = try write(1, isNear: true)
            #expect(try look() == (nil, true))
            withdraw(others[0])
            #expect(try look() == (0, false))
        }
    }

    /// Tuples whose takers do not run are all taken after one patience, however many there are.
    @Test func manyTuplesAreLeftForTheSameWhile() throws {
        let count = 5
        try beside(Array(repeating: Self.template, count: count)) { _ in
            _ = try write(count, isNear: true)
            #expect(try look(isGlance: true) == (nil, true))
            let end = MonotonicInstant.now.advanced(by: GrantPatience.duration)
            #expect(try eventually { end.hasPassed })
            for number in 0..<count { #expect(try look(isGlance: true) == (number, false)) }
        }
    }

    /// Two tuples whose takers do not run are both taken, though the glances of one process see them by turns.
    @Test func twoTuplesAreLeftForAWhileEach() throws {
        let templates: [Template] = [["a", .any], ["b", .any]]
        try beside(templates) { _ in
            try namespace.write("a", 0)
            try namespace.write("b", 1)
            var taken: [Int] = []
            let areTaken = try eventually {
                for template in templates {
                    if let number = try look(template, isGlance: true).0 { taken.append(number) }
                }
                return taken.count == 2
            }
            #expect(areTaken, "\(taken)")
        }
    }
}
