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

    @Test func whatAnotherWasGrantedIsLeftForAWhile() throws {
        let interest = Interest(Self.template.form, isTaking: true)
        let other = try #require(namespace.core.waits.publishWait(interest, taskWord: nil))
        defer { _ = namespace.core.slots.withdraw(other, session: namespace.session) }
        let id = try write(2, isNear: true)[0]
        #expect(other.slot.current.state == .granted && other.slot.current.payload == id)
        var aim = Aim()
        aim.isGlance = true
        #expect(try take(&aim) == nil && aim.hasLeft)
        #expect(try eventually { try take(&aim) == 0 } && !aim.hasLeft)
        // No taker was granted the second one.
        #expect(try take(&aim) == 1)
    }

    /// Two tuples whose takers do not run are both taken, though the glances of one process see them by turns.
    @Test func twoTuplesAreLeftForAWhileEach() throws {
        let templates: [Template] = [["a", .any], ["b", .any]]
        let others = try templates.map {
            let interest = Interest($0.form, isTaking: true)
            return try #require(namespace.core.waits.publishWait(interest, taskWord: nil))
        }
        defer { for other in others { _ = namespace.core.slots.withdraw(other, session: namespace.session) } }
        try namespace.write("a", 0)
        try namespace.write("b", 1)
        var taken: [Int] = []
        let areTaken = try eventually {
            for template in templates {
                var aim = Aim()
                aim.isGlance = true
                if let number = try take(&aim, template) { taken.append(number) }
            }
            return taken.count == 2
        }
        #expect(areTaken, "\(taken)")
    }
}
