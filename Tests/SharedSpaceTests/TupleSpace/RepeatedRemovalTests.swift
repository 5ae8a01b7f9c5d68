import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// The body of a removal that looks under the gate may run again, with another outcome: what was decoded last is then the
/// tuple that was removed.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RepeatedRemovalTests {
    /// A take that loses its candidate in its first run; what it takes in its place fails, so that the body runs again.
    private struct LostOnce: SharedRemoval {
        final class Runs { var count = 0 }

        let take: Take
        let runs = Runs()

        init(_ candidate: Candidate, _ terms: Void = ()) { take = Take(candidate) }

        var candidate: Candidate { take.candidate }
        static var name: String { Take.name }

        func execute(in scope: WriteScope) throws(SpaceError) -> Removed<Void> {
            runs.count += 1
            return runs.count == 1 ? .lost : try take.execute(in: scope)
        }

        func remove(_ id: UInt64, _ row: TupleRow, in scope: WriteScope) throws(SpaceError) {
            throw SpaceError(.outrun, reason: "another run")
        }

        func ofFirst(_ ids: [UInt64]) -> TakeFirst { take.ofFirst(ids) }
    }

    @Test(arguments: StorageMode.allCases)
    func theLastDecodedIsTheRemoved(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode)
        let first = try namespace.write(tuple: ["job", 1])
        try namespace.write(tuple: ["job", 2])
        let core = namespace.core
        // The ring would take the candidate without a transaction.
        try core.write(.removing) { scope in scope.noteUpkeep() }
        var decoded: Tuple?
        let removal = LostOnce(Candidate(first))
        let template: Template = ["job", .any]
        let taken = try core.looking.removeUnderGate(template.form, .newestFirst, removal, ()) {
            (match) throws(SpaceError) in
            decoded = try match.tuple()
        }
        #expect(removal.runs.count == 2)
        #expect(taken?.id == first)
        #expect(decoded == ["job", 1])
        #expect(try namespace.readAll() == [["job", 2]])
    }
}
