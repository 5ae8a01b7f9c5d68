import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("The messages of agents", .blocking, .timeLimit(.minutes(5)))
struct MailToolTests {
    private func texts(_ answer: Value) -> [Value?] { answer["messages"]?.elements.map { $0["text"] } ?? [] }

    @Test("A message reaches the one it is for, or all others, once, and none that comes later")
    func reach() throws {
        try withCheckout { checkout in
            let ada = try ScriptedAgent(in: checkout)
            let bob = try ScriptedAgent(in: checkout)
            try ada.call("who")
            guard case .string(let name)? = try bob.call("who")["you"] else { throw TestFailure("no name") }
            #expect(try ada.call("say", #"{"to":"\#(name)","text":"for bob"}"#)["sent"] == true)
            try ada.call("say", #"{"text":"for all"}"#)
            try ada.call("say", #"{"to":"\#(name)/tests","text":"for a subagent"}"#)
            let late = try ScriptedAgent(in: checkout)
            #expect(try texts(late.call("say")) == [])
            #expect(try texts(ada.call("say")) == [])
            #expect(try texts(bob.call("say")) == ["for bob", "for all"])
            #expect(try texts(bob.call("say")) == [])
            #expect(try texts(bob.call("say", #"{"as":"tests"}"#)) == ["for all", "for a subagent"])
        }
    }

    @Test("A call that waits gets the next message, and a server that is killed loses none")
    func waiting() throws {
        try withCheckout { checkout in
            let ada = try ScriptedAgent(in: checkout)
            let bob = try ScriptedAgent(in: checkout)
            try ada.call("who")
            try bob.call("who")
            let wait = try bob.begin("say", #"{"wait_s":50}"#)
            try ada.call("say", #"{"text":"now"}"#)
            #expect(try texts(bob.result(of: wait)) == ["now"])
            // A server that is killed before it has noted that would tell it again.
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.count(matching: ["seen", .any, .any, .any]) == 1 })
            try ada.call("say", #"{"text":"later"}"#)
            kill(try bob.server(), SIGKILL)
            let server = try checkout.runner.start("space", ["mcp", "--owner", "\(bob.pid)"] + checkout.options())
            let call = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{}}}"#
            let result = try server.finish(input: call + "\n")
            let answer = try Value(json: result.lines[0])["result"]?["structuredContent"]
            #expect(answer.map(texts) == ["later"], "\(result)")
        }
    }

    @Test("Of many messages the oldest come first, then how many more there are, and an agent's own are not among them")
    func many() throws {
        try withCheckout { checkout in
            let ada = try ScriptedAgent(in: checkout)
            let bob = try ScriptedAgent(in: checkout)
            try ada.call("who")
            guard case .string(let address)? = try bob.call("who")["you"] else { throw TestFailure("no name") }
            let handle = try checkout.namespaceHandle()
            // Two of three messages are Bob's own; the others are to him or to all.
            let process = try #require(ProcessIdentity.of(pid: bob.pid)).agentKey
            let expected = try (1...450).compactMap { number in
                let isMeant = number % 3 == 0
                let to = number % 2 == 0 ? "\(process)/" : ""
                let from = isMeant ? "other-1" : address
                let row = MailRow(number: number, to: isMeant ? to : "", from: from, time: 0, text: "\(number)")
                try handle.write(tuple: row.tuple)
                return isMeant ? Value.string("\(number)") : nil
            }
            try handle.set("mail", 450)
            var got: [Value?] = []
            for left in [100, 50, nil] {
                let answer = try bob.call("say")
                #expect(answer["more"] == left.map { .int($0) }, "\(answer["more"]?.json ?? "")")
                got += texts(answer)
            }
            #expect(got == expected)
            #expect(try texts(bob.call("say")) == [])
            _ = try handle.takeAll(matching: ["mail", .any, .any, .any, .any, .any])
        }
    }

    @Test("Of the messages of a day the last thousand are kept, so a look at them stays short")
    func bounded() throws {
        try withCheckout { checkout in
            let ada = try ScriptedAgent(in: checkout)
            let bob = try ScriptedAgent(in: checkout)
            for agent in [ada, bob] { try agent.call("who") }
            let handle = try checkout.namespaceHandle()
            try handle.transaction { t in
                for number in 1...1099 {
                    try t.write(tuple: MailRow(number: number, to: "", from: "x", time: 0, text: "\(number)").tuple)
                }
                try t.set("mail", 1099)
            }
            try ada.call("say", #"{"text":"the last"}"#)
            let kept = try handle.readAll(matching: ["mail", .any, .any, .any, .any, .any]).map { $0[1] }
            #expect(kept.count == 1000 && kept.first == 101 && kept.last == 1100, "\(kept.count)")
            #expect(try texts(bob.call("say")).first == "101")
            _ = try handle.takeAll(matching: ["mail", .any, .any, .any, .any, .any])
        }
    }

    @Test("What a dead agent was sent goes with it")
    func dead() throws {
        try withCheckout { checkout in
            let ada = try ScriptedAgent(in: checkout)
            let bob = try ScriptedAgent(in: checkout)
            try ada.call("who")
            try bob.call("who")
            try ada.call("say", #"{"to":"\#(bob.pid)","text":"secret"}"#)
            try bob.killAlone()
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.count(matching: ["mail", .any, .any, .any, .any, .any]) == 0 })
            #expect(try ada.call("say", #"{"to":"\#(bob.pid)","text":"again"}"#)["error"] != nil)
        }
    }
}
