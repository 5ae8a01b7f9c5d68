import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceAgents

@Suite("The holds of agents", .blocking, .timeLimit(.minutes(5)))
struct HoldToolTests {
    @Test("A hold is of all names or of none, and a refusal says who, since when, why, and the place in line")
    func allOrNone() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout, checkout.other)
            try first.call("hold", #"{"names":["file:src/**","gpu"],"why":"the big refactor"}"#)
            let refusal = try second.call("hold", #"{"names":["branch:main","file:src/a.swift"]}"#)
            let obstacle = try #require(refusal["in_the_way"]?[0])
            #expect(refusal["refused"] == true && refusal["place_in_line"] == 1, "\(refusal)")
            #expect(obstacle["held"] == "file:src/**" && obstacle["why"] == "the big refactor", "\(obstacle)")
            #expect(obstacle["pid"] == .int(Int(first.pid)), "\(obstacle)")
            #expect(try second.call("let_go")["let_go"]?.texts == [])
            // The same again, and what is beside it.
            #expect(try first.call("hold", #"{"names":["file:src/**"]}"#)["held"]?.texts == ["file:src/**"])
            #expect(try second.call("hold", #"{"names":["file:srcs/**","branch:main"]}"#)["held"] != nil)
            #expect(try first.call("let_go", #"{"names":["gpu"]}"#)["held"]?.texts == ["file:src/**"])
            #expect(try second.call("hold", #"{"names":["gpu"]}"#)["held"]?.texts == ["gpu"])
        }
    }

    @Test("Waiting agents get a name in their order, and a killed one's at once")
    func inOrder() throws {
        try withCheckout { checkout in
            let holder = try ScriptedAgent(in: checkout)
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try holder.call("hold", #"{"names":["file:a","file:b"]}"#)
            let handle = try checkout.namespaceHandle()
            func asks() throws -> Int { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count }
            let one = try first.begin("hold", #"{"names":["file:a","file:b"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 1 })
            let other = try second.begin("hold", #"{"names":["file:*"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 2 })
            // One that asks for something else passes.
            let third = try ScriptedAgent(in: checkout)
            #expect(try third.call("hold", #"{"names":["file:c/d"]}"#)["held"] != nil)
            let refusal = try third.call("hold", #"{"names":["file:a"]}"#)
            #expect(refusal["place_in_line"] == 3, "\(refusal)")
            try holder.killAlone()
            #expect(try first.result(of: one)["held"]?.texts == ["file:a", "file:b"])
            #expect(try asks() == 1)
            try first.call("let_go")
            #expect(try second.result(of: other)["held"]?.texts == ["file:*"])
        }
    }

    @Test("A wait that ends in vain keeps its turn for the next call")
    func turn() throws {
        try withCheckout { checkout in
            let holder = try ScriptedAgent(in: checkout)
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try holder.call("hold", #"{"names":["gpu"]}"#)
            #expect(try first.call("hold", #"{"names":["gpu"],"wait_s":0.2}"#)["refused"] == true)
            let late = try second.begin("hold", #"{"names":["gpu"],"wait_s":50}"#)
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count == 1 })
            let again = try first.begin("hold", #"{"names":["gpu"],"wait_s":50}"#)
            #expect(try eventually { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count == 2 })
            try holder.call("let_go")
            #expect(try first.result(of: again)["held"]?.texts == ["gpu"])
            try first.call("let_go")
            #expect(try second.result(of: late)["held"]?.texts == ["gpu"])
        }
    }

    @Test("A deadlock is named at once")
    func deadlock() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try first.call("hold", #"{"names":["a"]}"#)
            try second.call("hold", #"{"names":["b"]}"#)
            let wait = try first.begin("hold", #"{"names":["b"],"wait_s":50}"#)
            let handle = try checkout.namespaceHandle()
            #expect(try eventually { try handle.rows(AskRow.all, as: AskRow.self).count == 1 })
            let refusal = try second.call("hold", #"{"names":["a"],"wait_s":50}"#)
            guard case .string(let circle)? = refusal["deadlock"] else {
                Issue.record("no deadlock: \(refusal)")
                return
            }
            #expect(circle.contains("-\(first.pid)") && circle.contains("-\(second.pid)"), "\(circle)")
            let report = try checkout.agents()
            #expect(report.output.contains("DEADLOCK: "), "\(report)")
            // The one who was refused lets go, and the other goes on.
            try second.call("let_go")
            #expect(try first.result(of: wait)["held"]?.texts == ["b"])
            #expect(try !checkout.agents().output.contains("DEADLOCK"))
        }
    }

    @Test("Two waits of one agent at once have a turn each")
    func parallelWaits() throws {
        try withCheckout { checkout in
            let holder = try ScriptedAgent(in: checkout)
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try holder.call("hold", #"{"names":["x","y"]}"#)
            let handle = try checkout.namespaceHandle()
            func asks() throws -> Int { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count }
            let one = try first.begin("hold", #"{"names":["x"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 1 })
            let other = try first.begin("hold", #"{"names":["y"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 2 })
            let late = try second.begin("hold", #"{"names":["x"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 3 })
            let agents = try second.call("who")["agents"]?.elements ?? []
            let waits = agents.first { $0["pid"] == .int(Int(first.pid)) }?["waits"]?.elements ?? []
            #expect(waits.map { $0["names"]?.texts } == [["x"], ["y"]], "\(agents)")
            // To let go of all is to give up no wait.
            try first.call("let_go")
            try holder.call("let_go", #"{"names":["x"]}"#)
            #expect(try first.result(of: one)["held"]?.texts == ["x"])
            #expect(try asks() == 2)
            try holder.call("let_go")
            #expect(try first.result(of: other)["held"]?.texts == ["y"])
            try first.call("let_go")
            #expect(try second.result(of: late)["held"]?.texts == ["x"])
            #expect(try handle.count(matching: AskRow.all) == 0)
        }
    }

    @Test("A deadlock through one of two waits of an agent is named at once")
    func deadlockOfParallelWaits() throws {
        try withCheckout { checkout in
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            let third = try ScriptedAgent(in: checkout)
            try first.call("hold", #"{"names":["a"]}"#)
            try second.call("hold", #"{"names":["b"]}"#)
            try third.call("hold", #"{"names":["c"]}"#)
            let handle = try checkout.namespaceHandle()
            func asks() throws -> Int { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count }
            let wait = try first.begin("hold", #"{"names":["b"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 1 })
            let other = try first.begin("hold", #"{"names":["c"],"wait_s":50}"#)
            #expect(try eventually { try asks() == 2 })
            let refusal = try second.call("hold", #"{"names":["a"],"wait_s":50}"#)
            guard case .string(let circle)? = refusal["deadlock"] else {
                Issue.record("no deadlock: \(refusal)")
                return
            }
            #expect(circle.contains("-\(first.pid)") && circle.contains("-\(second.pid)"), "\(circle)")
            #expect(!circle.contains("-\(third.pid)"), "\(circle)")
            try second.call("let_go")
            #expect(try first.result(of: wait)["held"]?.texts == ["b"])
            try third.call("let_go")
            #expect(try first.result(of: other)["held"]?.texts == ["c"])
        }
    }

    @Test("A waiter whose server is suspended gives its place up when its wait is over")
    func suspended() throws {
        try withCheckout { checkout in
            let holder = try ScriptedAgent(in: checkout)
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            try holder.call("hold", #"{"names":["gpu"]}"#)
            let handle = try checkout.namespaceHandle()
            func asks() throws -> Int { try handle.rows(AskRow.all, as: AskRow.self).filter(\.waits).count }
            _ = try first.begin("hold", #"{"names":["gpu"],"wait_s":2}"#)
            #expect(try eventually { try asks() == 1 })
            let server = try first.server()
            try checkout.suspend(server)
            defer { kill(server, SIGCONT) }
            try holder.call("let_go")
            let refusal = try second.call("hold", #"{"names":["gpu"]}"#)
            #expect(refusal["place_in_line"] == 2, "\(refusal)")
            let answer = try second.call("hold", #"{"names":["gpu"],"wait_s":50}"#)
            #expect(answer["held"]?.texts == ["gpu"], "\(answer)")
        }
    }

    @Test("A wait for a port ends when the program that uses it has ended")
    func usedPort() throws {
        try withCheckout { checkout in
            try ScriptedAgent(in: checkout).call("who")
            let holding = Holding(namespace: try checkout.namespaceHandle())
            let who = AgentName(try #require(ProcessIdentity.of(pid: getpid())))
            let used = Mutex<Listener?>(try Listener())
            let name = HoldName(ofPort: used.withLock { $0?.port ?? 0 })
            // It is asked when the wait has looked and is about to sleep: the program ends only then.
            let ending = Interruption {
                used.withLock { $0 = nil }
                return false
            }
            let outcome = try holding.hold([name], for: who, why: "", wait: .seconds(50), interruption: ending)
            guard case .granted(let granted, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(granted == [name])
            let gone = try holding.letGo(nil, by: who)
            #expect(gone == [name])
        }
    }

    @Test("Names of one call that are in each other's way are refused with the reason")
    func ownObstacle() throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let port = try Listener().port
            let refusal = try agent.call("hold", #"{"names":["port:\#(port)","port:\#(port)-\#(port)"]}"#)
            #expect(refusal["refused"] == true, "\(refusal)")
            #expect(refusal["in_the_way"]?[0]?["why"] == "the other names of this call take it", "\(refusal)")
        }
    }

    @Test("A range of ports gives one that no agent holds and no program uses")
    func ports() throws {
        try withCheckout { checkout in
            let used = try Listener()
            let range = "port:\(used.port)-\(min(used.port + 200, 65_535))"
            let first = try ScriptedAgent(in: checkout)
            let second = try ScriptedAgent(in: checkout)
            let one = try #require(try first.call("hold", #"{"names":["\#(range)"]}"#)["held"]?.texts.first)
            let other = try #require(try second.call("hold", #"{"names":["\#(range)"]}"#)["held"]?.texts.first)
            #expect(one != other && one != "port:\(used.port)" && other != "port:\(used.port)")
            // Asked again, it is the same one.
            #expect(try first.call("hold", #"{"names":["\#(range)"]}"#)["held"]?.texts == [one])
            let refusal = try second.call("hold", #"{"names":["port:\#(used.port)"]}"#)
            #expect(refusal["in_the_way"]?[0]?["why"] == "another program uses it", "\(refusal)")
        }
    }

    @Test(
        "A name that can't be held is refused with the reason",
        arguments: [
            #""""#, #""a\nb""#, #""port:0""#, #""port:9-1""#, #""port:x""#, #""port:1-65535""#, #""file:""#,
            #""file:src/**/../x""#, #""file:{a,b}""#,
        ]
    )
    func refused(_ name: String) throws {
        try withCheckout { checkout in
            let agent = try ScriptedAgent(in: checkout)
            let id = try agent.begin("hold", #"{"names":[\#(name)]}"#)
            let answer = try agent.answer(to: id)
            #expect(answer["result"]?["isError"] == true, "\(answer)")
        }
    }
}

/// A port that a program listens on.
private final class Listener {
    let port: Int
    private let socket: CInt

    init() throws {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        self.socket = socket
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) | listen(socket, 1) | getsockname(socket, $0, &size)
            }
        }
        guard result == 0 else { throw TestFailure("no port: errno \(errno)") }
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(socket) }
}
