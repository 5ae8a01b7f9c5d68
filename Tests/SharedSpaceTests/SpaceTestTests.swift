import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The check at a test's end finds the damage that the suites with the trait rely on it to find.
struct SpaceTestTests {
    @Test func damageThatATestLeavesIsFound() async throws {
        try await withKnownIssue {
            try await inAnotherTest {
                let namespace = try SpaceTest.namespace("n")
                try namespace.core.write(.adding) { (scope) throws(SpaceError) in
                    scope.counters.claimed = 7
                    scope.noteUpkeep()
                }
            }
        } matching: {
            "\($0)".contains("n is damaged")
        }
    }

    @Test func aNamespaceThatATestLeftIsNotLookedFor() async throws {
        try await inAnotherTest { try SpaceTest.namespace("n").leave() }
    }

    @Test func aSuiteWithoutTheTraitIsTold() {
        #expect(throws: TestFailure.self) { try SpaceTest.namespace("n") }
    }

    private func inAnotherTest(_ body: @Sendable () throws -> Void) async throws {
        let test = try #require(Test.current)
        try await SpaceTestTrait().provideScope(for: test, testCase: nil, performing: body)
    }
}
