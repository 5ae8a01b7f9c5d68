import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("Agents whose namespace is full", .blocking, .timeLimit(.minutes(5)))
struct FullListTests {
    @Test("A task can be ended, none is lost, and all goes on when there is room")
    func full() throws {
        try withCheckout { checkout in
            let options = NamespaceOptions(mode: .durable, isPersistent: true, byteLimit: 16 << 20)
            let space = Space(trusting: checkout.runner.root, timeout: .seconds(5))
            let handle = try space.open(checkout.namespace, owner: .nobody, creates: true, options: options)
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two"},{"title":"three","after":[1]}]}"#)
            #expect(try agent.call("task_claim")["id"] == 1)
            for size in [1 << 20, 1 << 14, 1 << 8, 1] {
                do throws(SpaceError) {
                    while true { try handle.write("junk", [UInt8](repeating: 1, count: size)) }
                } catch {
                    #expect(error.code == .limitReached)
                }
            }
            // Nothing can be added, and that is said.
            #expect(try agent.call("task_add", #"{"tasks":[{"title":"x"}]}"#)["error"] != nil)
            #expect(try agent.call("hold", #"{"names":["gpu"]}"#)["error"] != nil)
            #expect(try agent.call("task_end", #"{"id":1,"how":"done"}"#)["ended"] == 1)
            let claims = try handle.status().claims
            #expect(claims.isEmpty, "\(claims)")
            let task = try agent.call("task_claim")
            if task["id"] == nil {
                let left = try handle.status().claims
                #expect(task["error"] != nil && left.isEmpty, "\(task)")
            }
            _ = try handle.takeAll(matching: ["junk", .any])
            let ids = try (0..<2).map { _ in try agent.call("task_claim")["id"] }
            #expect(Set(ids.compactMap { $0 } + [task["id"]].compactMap { $0 }) == [2, 3], "\(ids)")
        }
    }
}
