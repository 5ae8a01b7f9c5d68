import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import TupleCoding

/// An agent: a process of its own, which starts its server as a client does and passes on what the test says.
///
/// The agent is a shell. Killed, it leaves the processes that pass on behind, which keep the server's input open: a server
/// that only listened to its input would live on.
final class ScriptedAgent {
    let command: RunningCommand
    private var last = 0
    /// Answers that were read while another one was waited for.
    private var others: [Int: Value] = [:]

    private static let script = """
        coproc S { exec "$@"; }
        exec 3>&"${S[1]}" 4<&"${S[0]}"
        cat <&4 &
        cat >&3
        """

    /// The same for an agent that starts its server again when it is told to; it says so once it has passed on all that
    /// the old one wrote.
    private static let restartingScript = """
        begin() {
            coproc S { exec "$@"; }
            exec 3>&"${S[1]}" 4<&"${S[0]}"
            cat <&4 &
            passing=$!
        }
        begin "$@"
        while IFS= read -r line; do
            if [[ $line == restart ]]; then
                kill -KILL "$S_PID"
                exec 3>&- 4<&-
                wait "$passing"
                echo '{"restarted":true}'
                begin "$@"
            else
                printf '%s\\n' "$line" >&3
            fi
        done
        """

    /// Starts an agent.
    ///
    /// - Parameters:
    ///   - checkout: Where it works.
    ///   - folder: The worktree; `nil` for the first.
    ///   - wrapper: What starts the server, with the server's words behind it.
    ///   - restarts: Whether it can start its server again.
    /// - Throws: `TestFailure` if it can't be started.
    init(in checkout: Checkout, _ folder: String? = nil, wrapper: [String] = [], restarts: Bool = false) throws {
        let server = wrapper + [CommandRunner.path("space"), "mcp"] + checkout.options(folder)
        let script = restarts ? Self.restartingScript : Self.script
        command = try checkout.runner.start("/bin/bash", ["-c", script, "agent"] + server)
    }

    deinit { kill(-command.pid, SIGKILL) }

    var pid: Int32 { command.pid }

    /// The server's process.
    func server() throws -> Int32 {
        var found: Int32?
        let isThere = try eventually {
            found = ProcessSight().children(of: pid).first { ProcessIdentity.commandName(of: $0) == "space" }
            return found != nil
        }
        guard isThere, let found else { throw TestFailure("agent \(pid) has no server") }
        return found
    }

    /// Kills the agent alone; what it has started stays.
    func killAlone() throws {
        kill(pid, SIGKILL)
        _ = try command.wait()
    }

    /// Kills the server, and starts another one; what the old one has written is kept.
    func restartServer() throws {
        try send("restart")
        while case let message = try receive(), message["restarted"] == nil { keep(message) }
    }

    // MARK: Talking

    func send(_ line: String) throws { try command.send(line + "\n") }

    func receive() throws -> Value {
        guard let line = try command.readLine() else { throw TestFailure("the server of \(pid) says nothing more") }
        return try Value(json: line)
    }

    /// Sends a request; returns its number.
    func request(_ method: String, _ parameters: String = "{}") throws -> Int {
        last += 1
        try send(#"{"jsonrpc":"2.0","id":\#(last),"method":"\#(method)","params":\#(parameters)}"#)
        return last
    }

    /// The answer to a request.
    func answer(to id: Int) throws -> Value {
        if let known = others.removeValue(forKey: id) { return known }
        while true {
            let message = try receive()
            if message["id"] == .int(id) { return message }
            keep(message)
        }
    }

    private func keep(_ message: Value) {
        if case .int(let other)? = message["id"] { others[other] = message }
    }

    /// Whether an answer was read while another one was waited for.
    func hasRead(answerTo id: Int) -> Bool { others[id] != nil }

    /// Begins a call of a tool; returns its number.
    func begin(_ tool: String, _ arguments: String = "{}") throws -> Int {
        try request("tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#)
    }

    /// What a tool has answered.
    func result(of id: Int) throws -> Value {
        let answer = try answer(to: id)
        guard let content = answer["result"]?["structuredContent"] else {
            throw TestFailure("no result: \(answer.json)")
        }
        return content
    }

    @discardableResult
    func call(_ tool: String, _ arguments: String = "{}") throws -> Value { try result(of: try begin(tool, arguments)) }
}

extension Value {
    /// A member of an object.
    subscript(_ name: String) -> Value? {
        guard case .object(let record) = self else { return nil }
        return record[name]
    }

    /// An element of an array.
    subscript(_ index: Int) -> Value? {
        guard case .array(let list) = self, list.indices.contains(index) else { return nil }
        return list[index]
    }

    var texts: [String] {
        guard case .array(let list) = self else { return [] }
        return list.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    var elements: [Value] { if case .array(let list) = self { list } else { [] } }
}
