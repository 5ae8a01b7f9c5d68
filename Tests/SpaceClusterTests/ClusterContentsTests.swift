import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The tables of several machines that all write.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ClusterContentsTests {
    /// Random operations of all kinds on three machines at once leave the same tables on each, byte for byte.
    @Test func theTablesAreTheSameByteForByte() async throws {
        let cluster = try TestCluster(machines: 3)
        let n = try cluster.namespaces()
        for round in 0..<3 {
            let seed = UInt64.random(in: 0...(.max))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, namespace) in n.enumerated() {
                    group.addTask {
                        try await onThread {
                            var work = RandomWork(namespace, seed: seed &+ UInt64(number), name: "\(number) ")
                            for _ in 0..<200 {
                                do {
                                    try work.step()
                                } catch let error as SpaceError where Self.isOfOthers(error) {}
                            }
                            try work.end()
                        }
                    }
                }
                try await group.waitForAll()
            }
            try cluster.expectSame(n, "round \(round), seed \(seed)")
        }
    }

    /// Whether an operation has failed only because another machine has changed something meanwhile.
    private static func isOfOthers(_ error: SpaceError) -> Bool {
        switch error.code {
        // A transaction runs once; an ordered set was removed; an index is out of it by now.
        case .outrun, .closed, .invalidArgument: true
        default: false
        }
    }
}
