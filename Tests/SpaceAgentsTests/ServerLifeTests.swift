import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("The lives of agents and servers", .blocking, .timeLimit(.minutes(5)))
struct ServerLifeTests {
    @Test("A server ends with its agent, although its input stays open")
    func orphan() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("who")
            let server = try agent.server()
            try agent.killAlone()
            #expect(try eventually { ProcessIdentity.of(pid: server) == nil })
        }
    }

    @Test(
        "The agent is found through wrappers that pass their input on",
        arguments: [
            ["/bin/sh", "-c", #""$@"; exit $?"#, "wrapper"],
            ["/bin/sh", "-c", #""$@"; exit $?"#, "outer", "/bin/bash", "-c", #""$@"; exit $?"#, "inner"],
            ["/usr/bin/env", "timeout", "1000"],
        ]
    )
    func wrapped(_ wrapper: [String]) throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout, wrapper: wrapper)
            let who = try agent.call("who")
            #expect(who["agents"]?[0]?["pid"] == .int(Int(agent.pid)), "\(who)")
        }
    }

    @Test(
        "A wrapper that is another user's is not taken for the agent, which must be named",
        .enabled(if: geteuid() == 0, "setpriv")
    )
    func wrappedByAnotherUser() throws {
        try withCheckout { checkout in
            let change = #"setpriv --reuid 12345 --regid 12345 --clear-groups "$@"; exit $?"#
            let agent = try ScriptedAgent(in: checkout, wrapper: ["/bin/sh", "-c", change, "wrapper"])
            let result = try agent.command.finish()
            #expect(result.errors.contains("another user's") && result.errors.contains("--owner"), "\(result)")
        }
    }

    @Test("A stopped server holds up no other agent")
    func stopped() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try first.call("hold", #"{"names":["gpu"]}"#)
            let server = try first.server()
            try checkout.suspend(server)
            defer { kill(server, SIGKILL) }
            #expect(try second.call("hold", #"{"names":["gpu"]}"#)["refused"] == true)
            #expect(try second.call("task_add", #"{"tasks":[{"title":"t"}]}"#)["tasks"]?[0]?["id"] == 1)
            try first.killAlone()
            #expect(try second.call("hold", #"{"names":["gpu"],"wait_s":50}"#)["held"]?.texts == ["gpu"])
        }
    }

    @Test("A namespace that was deleted is made again")
    func deleted() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("task_add", #"{"tasks":[{"title":"t"}]}"#)
            #expect(try checkout.runner.space("delete", checkout.namespace).ending == .exited(0))
            #expect(try agent.call("task_claim")["nothing"] == true)
            #expect(try agent.call("who")["agents"]?.elements.count == 1)
        }
    }

    @Test("What an agent has is owned by the process of its PID and start, and by no later one")
    func reused() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            try agent.call("hold", #"{"names":["gpu"]}"#)
            let handle = try checkout.namespaceHandle()
            // A hold of a process that had the agent's PID before.
            let earlier = ProcessIdentity(pid: agent.pid, startTime: 1)
            let row = HoldRow(name: HoldName(stored: "disk"), who: AgentName(earlier), why: "", since: 0)
            try handle.write(tuple: row.tuple)
            #expect(try agent.call("who")["agents"]?[0]?["holds"]?.elements.map { $0["name"] } == ["gpu"])
            #expect(try agent.call("hold", #"{"names":["disk"]}"#)["held"]?.texts == ["disk"])
        }
    }
}
