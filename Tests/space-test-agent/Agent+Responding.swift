import Glibc
import SharedSpaceObjects
import Synchronization

// Responders, which answer while the agent waits for its next command, and requests.

/// A responder's handling of a request, step by step, and the gate at which it may be held.
final class Behaviour: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    /// Goes on at the command; ends with an error when the request was taken back.
    func wait() async throws {
        while !isOpen.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Runs the steps: `say` reports that it has come there, `hold` waits for a command, `next` asks the responder
    /// below, `once` leaves the stack, `throw` fails.
    ///
    /// Returns: The key and the argument, or in brackets the reply from below.
    func run(
        _ steps: [String],
        key: String,
        _ argument: Value,
        _ next: NextResponder<Value, String>
    ) async throws -> String {
        var reply = "\(key):\(argument.json)"
        for step in steps {
            switch step {
            case "reply": break
            case "say": tell("at \(key)")
            case "hold":
                do {
                    try await wait()
                } catch {
                    tell("cancelled \(key)")
                    throw error
                }
            case "next": reply = "\(key)(\(try await next()))"
            case "once": next.removeCurrent()
            case "throw": throw Agent.Failure("\(key) is broken")
            default: throw Agent.Failure("\(step) is no step")
            }
        }
        return reply
    }
}

/// Prints a line from any thread: flushing all streams would wait for the one that the first thread reads from.
func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

extension Agent {
    func performOnResponders(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "respond":
            // `respond <name> <key> <step>,… [base] [<concurrency>]`.
            let (key, steps) = (try word(words, 1), try word(words, 2).split(separator: ",").map(String.init))
            let behaviour = behaviour
            let token = try namespace().respond(
                to: try word(words, 0),
                key: key,
                base: words.contains("base"),
                concurrency: words.last.flatMap { Int($0) } ?? 1
            ) { (argument: Value, next) -> String in
                try await behaviour.run(steps, key: key, argument, next)
            }
            responders.append(token)
        case "let-go": behaviour.open()
        case "hold-anew": behaviour = Behaviour()
        case "unrespond": responders.removeAll()
        case "request":
            // `request <name> <milliseconds> <value>`, with `-` for no limit.
            let timeout = try limit(words, 1)
            let value = try Value(json: rest(words, from: 2))
            guard timeout == nil else { return "ok " + (try requestBlocking(try word(words, 0), value, timeout)) }
            return "ok " + (try await namespace().request(try word(words, 0), value, as: String.self))
        case "request-blocking":
            let timeout = try limit(words, 1)
            return "ok " + (try requestBlocking(try word(words, 0), try Value(json: rest(words, from: 2)), timeout))
        case "request-waiting":
            say("waiting")
            return "ok "
                + (try await namespace().request(
                    try word(words, 0),
                    try Value(json: rest(words, from: 1)),
                    as: String.self,
                    ifAbsent: .waits
                ))
        case "request-loop": return "ok \(try await requestLoop(try word(words, 0), try number(words, 1)))"
        default: return nil
        }
        return "ok"
    }

    private func limit(_ words: [String], _ index: Int) throws -> Duration? {
        try word(words, index) == "-" ? nil : .milliseconds(try number(words, index) as Int)
    }

    private func requestBlocking(_ name: String, _ value: Value, _ timeout: Duration?) throws -> String {
        // As a command asks, which tells whom it asked in vain.
        let namespace = try namespace()
        return try namespace.requestBlocking(
            name,
            value: value,
            ifAbsent: .fails,
            timeout: timeout,
            interruption: nil
        ).decode(String.self)
    }

    /// Sends a number of requests, and returns how often the reply was a wrong one.
    private func requestLoop(_ name: String, _ count: Int) async throws -> Int {
        let namespace = try namespace()
        var wrong = 0
        for n in 0..<count {
            let reply: String? = try await namespace.request(name, n, ifAbsent: .waits, timeout: .seconds(60))
            if reply?.hasSuffix(":\(n)") != true { wrong += 1 }
        }
        return wrong
    }
}
