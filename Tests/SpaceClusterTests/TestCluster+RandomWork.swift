import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

extension TestCluster {
    /// Lets each machine take as many steps of random work at once as `steps` says, and compares their tables byte for
    /// byte; as often as `rounds` says.
    func compareTables(rounds: Int, of steps: Int, seed: UInt64) async throws {
        let namespaces = try namespaces()
        for round in 0..<rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, namespace) in namespaces.enumerated() {
                    let ownSeed = seed &+ UInt64(round * namespaces.count + number)
                    group.addTask {
                        try await onThread {
                            var work = RandomWork(namespace, seed: ownSeed, name: "\(number) ")
                            for _ in 0..<steps {
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
            try expectSame(namespaces, "round \(round), seed \(seed)")
            // As an etcd does by itself; without that, its history is larger than the tables by far.
            try tell("compact")
            try removePile(namespaces[round % namespaces.count])
        }
    }

    /// Takes the tuples, if many have piled up: a comparison would take longer each time.
    private func removePile(_ namespace: Namespace) throws {
        let templates: [Template] = [["job", .any, .any], ["kind": "job"], ["moved", .any]]
        for template in templates where try namespace.count(matching: template) > 20_000 {
            while try !namespace.takeAll(matching: template, max: 500).isEmpty {}
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
