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

    @Test("A list that is full of tasks can be emptied by people and by agents, and says how")
    func fullOfTasks() throws {
        try withCheckout { checkout in
            let options = NamespaceOptions(mode: .durable, isPersistent: true, byteLimit: 16 << 20)
            let space = Space(trusting: checkout.runner.root, timeout: .seconds(5))
            _ = try space.open(checkout.namespace, owner: .nobody, creates: true, options: options)
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two"},{"title":"three","after":[2]}]}"#)
            #expect(try agent.call("task_claim")["id"] == 1)
            #expect(try agent.call("task_claim")["id"] == 2)
            var refusal: Value?
            for size in [60_000, 5000, 100, 1] {
                let task = #"{"title":"x","detail":"\#(String(repeating: "d", count: size))"}"#
                while true {
                    let answer = try agent.call("task_add", #"{"tasks":[\#(task)]}"#)
                    guard answer["error"] != nil else { continue }
                    refusal = answer
                    break
                }
            }
            guard case .string(let text)? = refusal?["error"] else {
                throw TestFailure("no error: \(refusal ?? .null)")
            }
            #expect(text.contains("space agents done"), "\(text)")
            // An agent that comes now can look.
            let late = try ScriptedAgent(in: checkout)
            #expect(try late.call("who")["agents"] != nil)
            let back = try agent.call("task_end", #"{"id":1,"how":"give_back","note":"a note"}"#)
            #expect(back["ended"] == 1, "\(back)")
            let freed = try agent.call("task_end", #"{"id":2,"how":"done"}"#)
            #expect(freed["frees"]?[0]?["id"] == 3, "\(freed)")
            // What is ended makes room, which the next steps that end something have first.
            var ended = 3
            var task = try agent.call("task_claim")
            while task["error"] != nil, ended < 150 {
                ended += 1
                let result = try checkout.agents("done", "\(ended)")
                #expect(result.ending == .exited(0), "\(result)")
                task = try agent.call("task_claim")
            }
            #expect(task["id"] == 1 && task["tried_before"] == 1, "\(task), \(ended)")
            let end = try agent.call("task_end", #"{"id":1,"how":"done"}"#)
            #expect(end["ended"] == 1, "\(end)")
            #expect(try checkout.agents("done", "3").ending == .exited(0))
            #expect(try late.call("hold", #"{"names":["gpu"]}"#)["held"] != nil)
        }
    }
}
