import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("The tasks of agents", .blocking, .timeLimit(.minutes(5)))
struct TaskToolTests {
    @Test("Tasks come by priority and age, after those that they depend on, and once for each key")
    func order() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let added = try agent.call(
                "task_add",
                #"""
                {"tasks":[{"title":"a","key":"A"},{"title":"b","after":["A"],"priority":9},{"title":"c","priority":7},
                {"title":"d"},{"title":"again","key":"A"}]}
                """#.filter { $0 != "\n" }
            )
            #expect(added["tasks"]?.elements.map { $0["id"] } == [1, 2, 3, 4, 1])
            #expect(added["tasks"]?[4]?["was_there"] == true)
            #expect(try agent.call("task_claim")["id"] == 3)
            #expect(try agent.call("task_claim")["id"] == 1)
            #expect(try agent.call("task_claim")["id"] == 4)
            let nothing = try agent.call("task_claim")
            #expect(nothing["nothing"] == true && nothing["waiting_for_others"] == 1, "\(nothing)")
            let end = try agent.call("task_end", #"{"id":1,"how":"done"}"#)
            #expect(end["frees"]?[0]?["id"] == 2, "\(end)")
            let next = try agent.call("task_claim")
            #expect(next["id"] == 2 && next["title"] == "b", "\(next)")
            // A key stays known when its task is done.
            let late = try agent.call("task_add", #"{"tasks":[{"title":"x","key":"A"}]}"#)
            #expect(late["tasks"]?[0]?["id"] == 1)
        }
    }

    @Test("A task that is given back keeps its notes, and one that was set aside is given to nobody")
    func givenBack() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout, checkout.other)
            try agent.call("task_add", #"{"tasks":[{"title":"hard","detail":"all of it"},{"title":"easy"}]}"#)
            #expect(try agent.call("task_claim", #"{"match":"^hard"}"#)["id"] == 1)
            let refusal = try second.call("task_end", #"{"id":1,"how":"done"}"#)
            #expect(refusal["error"] != nil, "\(refusal)")
            try agent.call("task_end", #"{"id":1,"how":"give_back","note":"no network here"}"#)
            let again = try second.call("task_claim", #"{"id":1}"#)
            #expect(again["tried_before"] == 1 && again["detail"] == "all of it", "\(again)")
            #expect(again["notes"]?[0]?["text"] == "no network here", "\(again)")
            try second.call("task_end", #"{"id":1,"how":"set_aside","note":"ask Ada"}"#)
            #expect(try agent.call("task_claim")["id"] == 2)
            #expect(try agent.call("task_claim")["set_aside"] == 1)
            #expect(try checkout.agents("take-back", "1").ending == .exited(0))
            let back = try second.call("task_claim")
            #expect(back["id"] == 1 && back["notes"]?.elements.count == 2, "\(back)")
        }
    }

    @Test("Of tasks that come at once, an agent that waits gets the one of the highest priority")
    func priorityAfterWait() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try first.call("who")
            let wait = try second.begin("task_claim", #"{"wait_s":50}"#)
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.status().waiters.count == 1 })
            let tasks = #"{"title":"low","priority":1},{"title":"high","priority":9},{"title":"mid","priority":8}"#
            try first.call("task_add", #"{"tasks":[\#(tasks)]}"#)
            let task = try second.result(of: wait)
            #expect(task["title"] == "high" && task["you_also_have"] == nil, "\(task)")
            #expect(try handle.status().claims.count == 1)
            #expect(try handle.count(matching: WorkRow.all) == 1)
            #expect(try first.call("task_claim")["title"] == "mid")
            let last = try first.call("task_claim")
            #expect(last["title"] == "low" && last["tried_before"] == 0, "\(last)")
        }
    }

    @Test("A claim by a number that no open task has is refused at once with the reason")
    func noSuchTask() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two","after":[1]}]}"#)
            let text = Value.string("there is no open task 99; it may be done already")
            #expect(try agent.call("task_claim", #"{"id":99}"#)["error"] == text)
            #expect(try agent.call("task_claim", #"{"id":99,"wait_s":50}"#)["error"] == text)
            #expect(try agent.call("task_claim", #"{"id":2}"#)["nothing"] == true)
        }
    }

    @Test("References of a call are resolved by numbers and keys, without those that are done, and have a bound")
    func references() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"a","key":"A"},{"title":"b","key":"B"},{"title":"c"}]}"#)
            #expect(try agent.call("task_claim", #"{"id":1}"#)["id"] == 1)
            try agent.call("task_end", #"{"id":1,"how":"done"}"#)
            let tasks = #"{"title":"d","key":"D","after":[3,"A","B",1,2,3]},{"title":"e","after":["D",2,"D"]}"#
            let added = try agent.call("task_add", #"{"tasks":[\#(tasks)]}"#)
            #expect(added["tasks"]?[0]?["after"] == [3, 2] && added["tasks"]?[1]?["after"] == [4, 2], "\(added)")
            for wrong in ["6", "0", #""C""#] {
                #expect(try agent.call("task_add", #"{"tasks":[{"title":"x","after":[\#(wrong)]}]}"#)["error"] != nil)
            }
            let many = (0..<101).map { _ in #"{"title":"x","after":[\#(String(repeating: "3,", count: 99))3]}"# }
            let refusal = try agent.call("task_add", #"{"tasks":[\#(many.joined(separator: ","))]}"#)
            #expect(refusal["error"] != nil, "\(refusal["tasks"]?.elements.count ?? 0) tasks were added")
            let handle = try checkout.namespaceHandle()
            #expect(try handle.count(matching: ["open", .any, .any]) == 4)
            #expect(try agent.call("task_claim", #"{"id":3}"#)["id"] == 3)
            #expect(try agent.call("task_end", #"{"id":3,"how":"done"}"#)["frees"] == nil)
            #expect(try agent.call("task_claim", #"{"id":2}"#)["id"] == 2)
            #expect(try agent.call("task_end", #"{"id":2,"how":"done"}"#)["frees"]?[0]?["id"] == 4)
        }
    }

    @Test("A killed agent's task is with the next one that waits")
    func killed() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try first.call("task_add", #"{"tasks":[{"title":"only one"}]}"#)
            #expect(try first.call("task_claim")["id"] == 1)
            let wait = try second.begin("task_claim", #"{"wait_s":50}"#)
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.status().waiters.count == 1 })
            try first.killAlone()
            let task = try second.result(of: wait)
            #expect(task["id"] == 1 && task["tried_before"] == 1, "\(task)")
        }
    }

    @Test("A server that is killed and started again goes on with what its agent had")
    func restarted() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"long"}]}"#)
            #expect(try agent.call("task_claim")["id"] == 1)
            kill(try agent.server(), SIGKILL)
            // Another server of the same agent, as a client starts it.
            let server = try checkout.runner.start(
                "space",
                ["mcp", "--owner", "\(agent.pid)"] + checkout.options()
            )
            let request =
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_end","arguments":{"id":1,"how":"done"}}}"#
            let result = try server.finish(input: request + "\n")
            #expect(try Value(json: result.lines[0])["result"]?["structuredContent"]?["ended"] == 1, "\(result)")
        }
    }

    @Test("A claim that a killed server has not told of goes to its agent's next call")
    func untold() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two"}]}"#)
            // The claim as a server leaves it that is killed right after it.
            let handle = try checkout.namespaceHandle()
            let process = try #require(ProcessIdentity.of(pid: agent.pid))
            let template: Template = ["task", .any, .any, .any, .any, .any]
            let claim = try handle.claim(matching: template, holder: process, deadline: nil, .none, interruption: nil)
            #expect(claim?.tuple[1] == 1)
            #expect(try agent.call("task_claim")["id"] == 1)
            #expect(try agent.call("task_claim")["id"] == 2)
        }
    }

    @Test("A server that is killed at any step of a claim loses no task, and gives none twice")
    func killedWhileClaiming() throws {
        try withCheckout { checkout in
            let adder = try ScriptedAgent(in: checkout)
            try adder.call("who")
            let handle = try checkout.namespaceHandle()
            var mostClaims = 0
            for step in 1... {
                let agent = try ScriptedAgent(in: checkout)
                try agent.call("who")
                // In place of the agent's server, a process that can be killed at its n-th change.
                let server = try checkout.runner.start("space-test-agent", [])
                func tell(_ line: String) throws { try server.send(line + "\n") }
                let root = try #require(checkout.options().dropFirst().first)
                try tell("open \(root) \(checkout.namespace) creates=0 owning=0")
                try tell("arm kill gateReleased \(step)")
                #expect(try (server.readLine(), server.readLine()) == ("ok", "ok"))
                try tell("claim-task \(agent.pid)")
                _ = try eventually {
                    try handle.status().waiters.count == 1 || ProcessIdentity.state(of: server.pid) == "Z"
                }
                let tasks = #"{"title":"low","priority":1},{"title":"high","priority":9}"#
                let added = try adder.call("task_add", #"{"tasks":[\#(tasks)]}"#)
                let answer = try server.readLine()
                if answer == nil { _ = try server.wait() }
                let claims = try handle.status().claims.count
                mostClaims = max(mostClaims, claims)
                // The agent's own server gives each task once, and knows what the other one has noted.
                var given: [Value?] = answer == nil ? [] : ["high"]
                var known: Set<Value?> = []
                var isEmpty = false
                while !isEmpty {
                    let task = try agent.call("task_claim")
                    isEmpty = task["id"] == nil
                    if !isEmpty { given.append(task["title"]) }
                    known.formUnion((task["you_also_have"] ?? task["you_have"])?.elements.map { $0["title"] } ?? [])
                }
                #expect(known == ["low", "high"], "step \(step): \(given), \(known)")
                #expect(Set(given).count == given.count, "step \(step): \(given)")
                for task in added["tasks"]?.elements ?? [] {
                    let id = task["id"]?.json ?? ""
                    #expect(try agent.call("task_end", #"{"id":\#(id),"how":"done"}"#)["ended"] == task["id"])
                }
                if answer != nil { break }
            }
            #expect(mostClaims == 2, "it was never killed between the two claims")
        }
    }

    @Test("Each call renews what its agent has, and what is not renewed goes to the next agent")
    func renewed() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let next = try ScriptedAgent(in: checkout)
            try next.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two"}]}"#)
            let handle = try checkout.namespaceHandle()
            let process = try #require(ProcessIdentity.of(pid: agent.pid))
            // What the agent has from an earlier server, and whose time is nearly over.
            func claim(_ id: Int, _ deadline: Duration) throws {
                let task: Template = ["task", id, .any, .any, .any, .any]
                _ = try handle.claim(matching: task, holder: process, deadline: deadline, .none, interruption: nil)
            }
            func hold(_ name: String, _ expires: Duration) throws {
                let row = HoldRow(name: HoldName(stored: name), who: AgentName(process), why: "", since: 0)
                try handle.write(tuple: row.tuple, expires: expires, lifetime: .process(process.pid))
            }
            try claim(1, .seconds(600))
            try hold("gpu", .seconds(600))
            try agent.call("who")
            // Nothing was renewed that is over.
            try claim(2, .milliseconds(1))
            try hold("disk", .milliseconds(1))
            #expect(try next.call("task_claim", #"{"id":2,"wait_s":50}"#)["id"] == 2)
            #expect(try next.call("hold", #"{"names":["disk"],"wait_s":50}"#)["held"] != nil)
            let late = Clock.realtimeMilliseconds() + 3_600_000
            let deadline = try #require(try handle.status().claims.first { $0.held.tuple[1] == 1 }?.deadline)
            #expect(deadline > late)
            let match = try #require(try handle.matches(["hold", "gpu", .any, .any, .any, .any]).first)
            #expect(try handle.expiry(of: match.id) ?? .zero > .seconds(3600))
            guard case .string(let error)? = try agent.call("task_end", #"{"id":2,"how":"done"}"#)["error"] else {
                throw TestFailure("the task was ended")
            }
            #expect(error.contains("is not yours"))
        }
    }

    @Test("Subagents of one process have tasks of their own")
    func subagents() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"one"},{"title":"two"}]}"#)
            #expect(try agent.call("task_claim", #"{"as":"left"}"#)["id"] == 1)
            #expect(try agent.call("task_claim", #"{"as":"right"}"#)["id"] == 2)
            #expect(try agent.call("task_end", #"{"id":1,"how":"done","as":"right"}"#)["error"] != nil)
            #expect(try agent.call("task_end", #"{"id":1,"how":"done","as":"left"}"#)["ended"] == 1)
        }
    }

    @Test("A cancelled wait takes no task, and its request gets no answer")
    func cancelled() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("who")
            let wait = try agent.begin("task_claim", #"{"wait_s":50}"#)
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.status().waiters.count == 1 })
            try agent.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(wait)}}"#)
            #expect(try eventually { try handle.status().waiters.isEmpty })
            try agent.call("task_add", #"{"tasks":[{"title":"late"}]}"#)
            #expect(try agent.call("task_claim")["id"] == 1)
            #expect(try agent.call("who")["agents"]?.elements.count == 1)
            #expect(!agent.hasRead(answerTo: wait))
        }
    }

    @Test("A server that ends while a call waits leaves no claim behind")
    func endedInput() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("who")
            let server = try checkout.runner.start("space", ["mcp", "--owner", "\(agent.pid)"] + checkout.options())
            try server.send(
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_claim","arguments":{"wait_s":50}}}"#
                    + "\n"
            )
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.status().waiters.count == 1 })
            let result = try server.finish()
            #expect(result.ending == .exited(0) && result.output == "", "\(result)")
            try agent.call("task_add", #"{"tasks":[{"title":"late"}]}"#)
            #expect(try handle.status().claims.isEmpty)
            #expect(try agent.call("task_claim")["id"] == 1)
        }
    }
}
