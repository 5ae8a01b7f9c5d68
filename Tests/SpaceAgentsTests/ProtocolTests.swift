import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceAgents

@Suite("The protocol of agents' clients", .blocking, .timeLimit(.minutes(5)))
struct ProtocolTests {
    /// What a server answers to lines, and nothing else may be on its output.
    private func answers(_ lines: [String], _ checkout: Checkout) throws -> [Value] {
        let server = try checkout.runner.start("space", ["mcp", "--owner", "\(getpid())"] + checkout.options())
        let result = try server.finish(input: lines.map { $0 + "\n" }.joined())
        #expect(result.ending == .exited(0) && result.errors == "", "\(result.errors)")
        return try result.lines.map { try Value(json: $0) }
    }

    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    @Test(
        "A client agrees on each version that has a beginning",
        arguments: ProtocolEra.legacyVersions + ["1999-01-01"]
    )
    func initialize(_ version: String) throws {
        try withCheckout { checkout in
            let first =
                #"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{},"#
                + #""clientInfo":{"name":"x","version":"1"}}}"#
            let all = try answers(
                [
                    first, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                    #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
                ],
                checkout
            )
            #expect(all.count == 2 && all[0]["id"] == "a" && all[1]["result"] == .object(Record()))
            let known = ProtocolEra.legacyVersions.contains(version)
            #expect(all[0]["result"]?["protocolVersion"] == .string(known ? version : "2025-11-25"))
            #expect(all[0]["result"]?["serverInfo"]?["name"] == "space")
        }
    }

    @Test("An id without a fraction is an integer, however it is written")
    func wholeIDs() throws {
        try withCheckout { checkout in
            for (id, answered) in [("1.0", 1), ("2e2", 200), ("-0.0", 0)] {
                let all = try answers([#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#], checkout)
                #expect(all.count == 1 && all[0]["id"] == .int(answered) && all[0]["result"] != nil, "\(all)")
            }
        }
    }

    @Test("A client of the form without a beginning discovers the server, and says its version in each request")
    func discover() throws {
        try withCheckout { checkout in
            let all = try answers(
                [
                    #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{\#(Self.meta)}}"#,
                    #"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{\#(Self.meta)}}"#,
                    #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who",\#(Self.meta)}}"#,
                    #"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}"#,
                    #"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                    #"{"jsonrpc":"2.0","id":6,"method":"ping","params":{\#(Self.meta)}}"#,
                ],
                checkout
            )
            #expect(all[0]["result"]?["supportedVersions"]?[0] == "2026-07-28")
            for answer in all[0...2] {
                #expect(answer["result"]?["resultType"] == "complete")
                #expect(answer["result"]?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] == "space")
            }
            #expect(all[0]["result"]?["cacheScope"] == "public" && all[1]["result"]?["cacheScope"] == "public")
            #expect(all[3]["error"]?["code"] == -32022 && all[3]["error"]?["data"]?["requested"] == "2031-01-01")
            #expect(all[4]["error"]?["code"] == -32602 && all[5]["error"]?["code"] == -32601)
        }
    }

    @Test("The list of tools is the same each time, and small")
    func tools() throws {
        try withCheckout { checkout in
            let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
            let all = try answers([list, list], checkout)
            #expect(all[0] == all[1])
            #expect(all[0].json.utf8.count <= 5 << 10)
            let names = all[0]["result"]?["tools"]?.elements.map { $0["name"] }
            #expect(names == ["task_add", "task_claim", "task_end", "hold", "let_go", "say", "who"])
        }
    }

    @Test("What is no message gets the protocol's error, and the next message its answer")
    func malformed() throws {
        try withCheckout { checkout in
            let cases: [(String, Value)] = [
                ("{", -32700), ("\u{1}\u{0}\u{7f}", -32700), ("[]", -32600), ("[1]", -32600), ("7", -32600),
                ("null", -32600),
                (#""x""#, -32600), (#"{"id":1,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
                (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
                (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600),
                (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
                (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
                (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602),
                (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601),
                (#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, -32602),
                (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, -32602),
                (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
                (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":7}}"#, -32602),
                (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, -32602),
                (String(repeating: "[", count: 100_000), -32700),
                (#"{"jsonrpc":"2.0","id":1,"method":"x\#(String(repeating: "y", count: 9 << 20))"}"#, -32600),
            ]
            let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#
            let all = try answers(cases.flatMap { [$0.0, ping] }, checkout)
            #expect(all.count == 2 * cases.count)
            for (number, one) in cases.enumerated() where all.count == 2 * cases.count {
                #expect(all[2 * number]["error"]?["code"] == one.1, "\(one.0.prefix(80)): \(all[2 * number])")
                #expect(all[2 * number + 1]["id"] == "p")
            }
            // Notifications, responses and blank lines get none.
            let silent = [
                "", "  ", #"{"jsonrpc":"2.0","method":"nonsense"}"#, #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#, ping,
            ]
            #expect(try answers(silent, checkout).count == 1)
        }
    }

    @Test("A client of 2025-03-26 may send several messages at once")
    func batch() throws {
        try withCheckout { checkout in
            let first = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#
            let batch =
                #"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":3,"method":"no"},7]"#
            let all = try answers([first, batch, #"[{"jsonrpc":"2.0","method":"x"}]"#], checkout)
            #expect(all.count == 2 && all[1].elements.map { $0["id"] } == [2, 3, .null])
        }
    }

    @Test("Arguments that a tool can't understand are answered by it, so that a model can mend them")
    func arguments() throws {
        try withCheckout { checkout in
            for (tool, arguments) in [
                ("task_add", "{}"), ("task_add", #"{"tasks":[]}"#), ("task_add", #"{"tasks":[{"title":" "}]}"#),
                ("task_add", #"{"tasks":[{"title":"x","after":[7]}]}"#),
                ("task_add", #"{"tasks":[{"title":"x","after":["k"]}]}"#),
                ("task_add", #"{"tasks":[{"title":"x","priority":10}]}"#), ("task_add", #"{"task":[{"title":"x"}]}"#),
                ("task_claim", #"{"match":"("}"#), ("task_claim", #"{"wait_s":-1}"#), ("task_claim", #"{"id":"x"}"#),
                ("task_claim", #"{"as":"a/b"}"#), ("task_end", #"{"id":1}"#), ("task_end", #"{"id":1,"how":"eat"}"#),
                ("task_end", #"{"id":99,"how":"done"}"#), ("hold", "{}"), ("say", #"{"to":"nobody","text":"x"}"#),
                ("say", #"{"to":"nobody"}"#), ("who", #"{"x":1}"#),
            ] {
                let call =
                    #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
                let all = try answers([call], checkout)
                #expect(all.first?["result"]?["isError"] == true, "\(tool) \(arguments): \(all)")
            }
        }
    }

    @Test("Hostile texts are kept as they are, and shown escaped")
    func hostile() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let title = #"\u001b[2J\u202e../../etc ; rm -rf / $(x) ?/x/ \ud800"#
            try agent.call("task_add", #"{"tasks":[{"title":"\#(title)","detail":"?int","key":"?"}]}"#)
            let task = try agent.call("task_claim")
            guard case .string(let got)? = task["title"] else { throw TestFailure("\(task)") }
            #expect(got.contains("\u{1b}[2J\u{202e}../../etc") && got.contains("\u{fffd}"))
            #expect(task["detail"] == "?int")
            for words in [[], ["tasks"], ["--json"], ["tasks", "--json"]] {
                let shown = try checkout.runner.start("space", ["agents"] + checkout.options() + words).finish()
                #expect(shown.ending == .exited(0))
                #expect(!shown.output.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" }, "\(words)")
            }
        }
    }

    @Test("Random messages never end a server, nor leave one without an answer", arguments: [11 as UInt64, 12])
    func random(_ seed: UInt64) throws {
        try withCheckout { checkout in
            var random = SeededGenerator(seed: seed)
            let seeds = [
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_add","arguments":{"tasks":[{"title":"x"}]}}}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hold","arguments":{"names":["file:**/a?","port:1-9"]}}}"#,
                #"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{\#(Self.meta)}}"#,
                #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            ]
            var lines: [String] = []
            for _ in 0..<400 {
                var bytes = Array(seeds.randomElement(using: &random)!.utf8)
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0...2, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 11...255, using: &random)
                    case 1: bytes.removeSubrange(place..<min(bytes.count, place + 3))
                    default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
                    }
                    if bytes.isEmpty { bytes = [0x7B] }
                }
                lines.append(String(decoding: bytes, as: UTF8.self))
            }
            lines.append(#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#)
            let all = try answers(lines, checkout)
            #expect(all.last?["id"] == "last", "seed \(seed)")
        }
    }
}
