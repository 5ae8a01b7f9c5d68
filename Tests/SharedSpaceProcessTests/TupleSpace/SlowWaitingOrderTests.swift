import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// More takers than the table of tickets has entries get the tuples in the order of their waits.
@Suite(.spaceTest, .serialized, .slow, .timeLimit(.minutes(10)))
struct SlowWaitingOrderTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    /// More takers than the table of tickets has entries, of several processes.
    @Test func thousandsOfTasksOfTwoProcessesAreServedInOrder() throws {
        let count = 2200
        let crowds = try (0..<2).map { _ in
            let crowd = try Agent(root, "n")
            try crowd.send("takers-in-order \(count) [\"job\", \"?int\"]")
            #expect(try crowd.line() == "waiting")
            return crowd
        }
        for number in 0..<2 * count { try namespace.write("job", number) }
        for (index, crowd) in crowds.enumerated() {
            let got = try #require(try crowd.line()).split(separator: " ").dropFirst().map { Int($0) ?? -1 }
            let moved = zip(got, (index * count)...).count { $0 != $1 }
            #expect(got.count == count && moved == 0, "\(moved) of process \(index) changed places")
        }
    }
}
