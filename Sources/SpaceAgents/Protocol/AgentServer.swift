import Glibc
import SpaceEngine
package import SpaceSystem
import Synchronization

// The server of one agent: JSON-RPC on standard input and output, one message a line.
//
// Calls are answered in the order in which they come, on the thread that reads. Only waiting calls have threads of
// their own, so that the server hears other calls, and cancellations, during a wait. Nothing ends with the server: what
// an agent has belongs to the agent's process, and the next server of the same agent goes on with it. The server ends
// when its input ends, and when the agent's process does, which a thread listens for: the input may be kept open by
// another process that has inherited it.

/// The server of one agent.
package final class AgentServer: Sendable {
    private let agent: Agent
    private let input: CInt
    private let output: LineWriter
    private let state = Mutex(State())
    /// Changes when a call that waits has ended.
    private let rest = FutexWord()

    private struct State {
        var version = ProtocolEra.legacyVersions[0]
        /// The calls that wait, and how each is ended.
        var waiting: [RequestID: WaitingCall] = [:]
    }

    /// A call that waits on its own thread.
    private final class WaitingCall: Sendable {
        private let isCancelledFlag = Atomic<Bool>(false)
        var isCancelled: Bool { isCancelledFlag.load(ordering: .relaxed) }
        func cancel() { isCancelledFlag.store(true, ordering: .relaxed) }

        var interruption: Interruption {
            Interruption { [self] in isCancelled || Interruption.ofProcess.isTriggered }
        }
    }

    private static let longestMessage = 8 << 20
    private static let mostWaiting = 32
    private static let patience = Duration.seconds(1)

    package init(for agent: Agent, input: CInt, output: CInt) {
        (self.agent, self.input) = (agent, input)
        self.output = LineWriter(output)
    }

    /// Ends this process as soon as one of these ends.
    ///
    /// The process holds nothing that its end would not release, so it need not clean up.
    package static func endWith(_ processes: [ProcessIdentity]) {
        for process in Set(processes) {
            _ = try? DetachedThread.start {
                if let pidfd = try? PIDFD(pid: process.pid), process.life == .alive {
                    var request = pollfd(fd: pidfd.raw, events: Int16(POLLIN), revents: 0)
                    while poll(&request, 1, -1) < 1 {}
                } else {
                    while process.life == .alive { Retry.rest(.milliseconds(500)) }
                }
                _exit(0)
            }
        }
    }

    /// Serves until the input ends, or a signal asks the process to end.
    package func run() {
        var lines = LineReader(input, longest: Self.longestMessage)
        reading: while true {
            switch lines.next() {
            case .end: break reading
            case .tooLong:
                let error = ProtocolError.invalid("a message has \(Self.longestMessage) bytes at most")
                guard output.write(response(error, to: nil)) else { break reading }
            case .bytes(let bytes):
                if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
                guard handle(bytes) else { break reading }
            }
        }
        endWaits()
    }

    /// Ends the waiting calls, and lets them put back what they have just got.
    private func endWaits() {
        for call in state.withLock({ Array($0.waiting.values) }) { call.cancel() }
        let deadline = MonotonicInstant.now.advanced(by: Self.patience)
        while !deadline.hasPassed {
            let heard = rest.value.load()
            if state.withLock({ $0.waiting.isEmpty }) { return }
            _ = try? rest.futex.wait(while: heard, until: deadline)
        }
    }

    // MARK: Messages

    /// Answers a message; `false` if the answer can't be written.
    private func handle(_ bytes: [UInt8]) -> Bool {
        let value: Value
        do {
            value = try Value(foreignJSON: bytes)
        } catch {
            return output.write(response(.parse("\(error)"), to: nil))
        }
        guard case .array(let messages) = value else { return answer(value).map { send($0) } ?? true }
        let agreed = state.withLock { $0.version }
        guard ProtocolEra.legacy(agreed).hasBatches, !messages.isEmpty else {
            let reason = messages.isEmpty ? "an empty array" : "an array of messages, which only 2025-03-26 has"
            return output.write(response(.invalid(reason), to: nil))
        }
        let answers = messages.compactMap { answer($0, isInBatch: true) }
        if answers.isEmpty { return true }
        let isWritten = output.write("[\(answers.map(\.line).joined(separator: ","))]")
        for answer in answers { if isWritten { answer.delivered() } else { answer.undelivered() } }
        return isWritten
    }

    /// A response, and what is done once it was written or could not be.
    private struct Answer {
        let line: String
        var delivered: @Sendable () -> Void = {}
        var undelivered: @Sendable () -> Void = {}
    }

    private func send(_ answer: Answer) -> Bool {
        let isWritten = output.write(answer.line)
        if isWritten { answer.delivered() } else { answer.undelivered() }
        return isWritten
    }

    /// The answer to a message; `nil` if there is none, or if it comes later.
    private func answer(_ value: Value, isInBatch: Bool = false) -> Answer? {
        let message: IncomingMessage
        do throws(IncomingFailure) {
            guard let read = try IncomingMessage(value) else { return nil }
            message = read
        } catch {
            return Answer(line: response(error.error, to: error.id))
        }
        guard let id = message.id else {
            if message.method == "notifications/cancelled" { cancel(message.parameters) }
            return nil
        }
        do {
            guard state.withLock({ $0.waiting[id] }) == nil else {
                throw ProtocolError.invalid("a request with this id is not answered yet")
            }
            return try respond(to: message, id, isInBatch: isInBatch)
        } catch let error as ProtocolError {
            return Answer(line: response(error, to: id))
        } catch {
            return Answer(line: response(ProtocolError(code: -32603, message: "Internal error: \(error)"), to: id))
        }
    }

    private func response(_ error: ProtocolError, to id: RequestID?) -> String {
        error.response(to: id, hasNull: state.withLock { $0.version } < ProtocolEra.legacyVersions[0])
    }

    private func cancel(_ parameters: Record) {
        guard let id = parameters["requestId"].flatMap({ RequestID($0) }) else { return }
        state.withLock { $0.waiting[id] }?.cancel()
    }

    private func respond(to message: IncomingMessage, _ id: RequestID, isInBatch: Bool) throws -> Answer? {
        if let client = ProtocolEra.client(in: message.parameters) { agent.note(client: client) }
        if message.method == "initialize" { return Answer(line: response(id, try initialize(message.parameters))) }
        let era = try ProtocolEra(message.parameters, agreed: state.withLock { $0.version })
        switch message.method {
        case "server/discover":
            guard era == .modern else {
                throw ProtocolError.parameters("\"_meta\" names no version from 2026-07-28 on")
            }
            let result: JSONObject = [
                "supportedVersions": ProtocolEra.versions, "capabilities": Self.capabilities,
                "instructions": Self.instructions,
            ]
            return Answer(line: response(id, era.completed(result, isCacheable: true)))
        case "ping" where era != .modern:
            return Answer(line: response(id, [:]))
        case "tools/list":
            guard message.parameters["cursor"] == nil else { throw ProtocolError.parameters("there is no such cursor") }
            let result = era.completed(["tools": RawJSON(ToolList.json)], isCacheable: true)
            return Answer(line: response(id, result))
        case "tools/call":
            return try call(message.parameters, era, id, isInBatch: isInBatch)
        default:
            throw ProtocolError.unknownMethod(message.method)
        }
    }

    private func response(_ id: RequestID, _ result: JSONObject) -> String {
        let response: JSONObject = ["jsonrpc": "2.0", "id": id, "result": result]
        return response.json
    }

    private static let capabilities: JSONObject = ["tools": [:] as JSONObject]

    private static let instructions = """
        Several agents may work on this repository at once. Before you edit files, hold them; take work with task_claim and end \
        it with task_end. What you have goes to others if you stop.
        """

    private func initialize(_ parameters: Record) throws(ProtocolError) -> JSONObject {
        guard let wanted = parameters["protocolVersion"]?.text else {
            throw .parameters(
                "\"protocolVersion\" is not a string; there are \(ProtocolEra.versions.joined(separator: ", "))"
            )
        }
        let version = ProtocolEra.legacyVersions.contains(wanted) ? wanted : ProtocolEra.legacyVersions[0]
        state.withLock { $0.version = version }
        return [
            "protocolVersion": version, "capabilities": Self.capabilities, "serverInfo": ProtocolEra.serverInfo,
            "instructions": Self.instructions,
        ]
    }

    // MARK: Tools

    private func call(
        _ parameters: Record,
        _ era: ProtocolEra,
        _ id: RequestID,
        isInBatch: Bool
    ) throws -> Answer? {
        guard let name = parameters["name"]?.text else { throw ProtocolError.parameters("\"name\" is not a string") }
        guard let tool = ToolName(rawValue: name) else {
            throw ProtocolError.parameters("unknown tool \(name.quotedForPeople)")
        }
        var arguments = Record()
        if let given = parameters["arguments"], given != .null {
            guard let members = given.members else { throw ProtocolError.parameters("\"arguments\" is not an object") }
            arguments = members
        }
        let toolArguments = ToolArguments(arguments)
        let tools = Tools(agent: agent)
        guard Tools.mayWait(tool, toolArguments), !isInBatch else {
            return answer(try tools.call(tool, toolArguments, Interruption()), era, id)
        }
        let call = WaitingCall()
        let isFull = state.withLock { state in
            guard state.waiting.count < Self.mostWaiting else { return true }
            state.waiting[id] = call
            return false
        }
        if isFull { return answer(ToolAnswer(error: "\(Self.mostWaiting) calls wait already; cancel one"), era, id) }
        do {
            try DetachedThread.start { [self] in
                let result = try? tools.call(tool, toolArguments, call.interruption)
                // From here on the id may be used again, and the call can't be cancelled.
                defer { end(id) }
                guard let result else { return }
                guard !call.isCancelled else { return result.undelivered() }
                _ = send(answer(result, era, id))
            }
        } catch {
            end(id)
            return answer(ToolAnswer(error: "no thread can be started for a call that waits: \(error)"), era, id)
        }
        return nil
    }

    private func end(_ id: RequestID) {
        state.withLock { _ = $0.waiting.removeValue(forKey: id) }
        rest.value.add(1)
        rest.futex.wake()
    }

    private func answer(_ result: ToolAnswer, _ era: ProtocolEra, _ id: RequestID) -> Answer {
        let content: JSONObject = ["type": "text", "text": result.json]
        let structured = era.hasStructuredContent ? RawJSON(result.json) : nil
        let object: JSONObject = [
            "content": [content], "structuredContent": structured.orLeftOut, "isError": result.isError.orLeftOut,
        ]
        return Answer(
            line: response(id, era.completed(object)),
            delivered: result.delivered,
            undelivered: result.undelivered
        )
    }
}
