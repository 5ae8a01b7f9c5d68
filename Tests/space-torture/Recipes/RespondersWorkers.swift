import Glibc
import SeededRandom
import SharedSpaceObjects
import SpaceSystem

/// The names that requests go to in the torture of responders.
enum RespondersNames {
    static let namespace = "responders"
    /// Always answered: at its base lies a responder that lives through the round.
    static let based = "based"
    /// Answered if a responder happens to be there.
    static let others = ["free", "bare"]
    /// The name of a request follows from its number.
    static func name(of request: Int) -> String { request % 2 == 0 ? based : others[request / 2 % 2] }

    /// The error that a handler throws to test that it reaches the requester.
    static let planned = "a planned failure"
}

/// One life of a process that responds to several names, and is killed, also while it answers.
struct RespondersWorker: Sendable {
    let ledger: RespondersLedger
    let place: SharedWord64
    let plant: Options.Plant?

    struct Planned: Error, CustomStringConvertible {
        var description: String { RespondersNames.planned }
    }

    func live(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        var tokens: [ResponderToken] = []
        for name in [RespondersNames.based] + RespondersNames.others {
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                // Responders of one key replace each other, whichever process they are in.
                let key = Int.random(in: 0..<4, using: &generator)
                tokens.append(
                    try respond(
                        namespace,
                        to: name,
                        key: key == 0 ? nil : "key \(key)",
                        isBase: name != RespondersNames.based && Int.random(in: 0..<4, using: &generator) == 0,
                        concurrency: Int.random(in: 1...3, using: &generator)
                    )
                )
            }
        }
        let rest = UInt32.random(in: 1_000...40_000, using: &generator)
        usleep(rest)
        // The responders that leave do so in one of two ways.
        if rest % 2 == 0 { for token in tokens { token.cancel() } }
        tokens = []
        try namespace.leave()
    }

    /// Lies at the base, always answers, and lives through the round.
    func liveAtTheBase(_ namespace: Namespace) throws {
        let number = ledger.newResponder()
        let token = try namespace.respond(to: RespondersNames.based, base: true, concurrency: 4) {
            (request: Int, _) -> [Int] in
            ledger.noteRun(of: request, by: number)
            return [request, Int(number)]
        }
        ledger.base.store(number)
        while ledger.stop.load() == 0 { usleep(500) }
        token.cancel()
        try namespace.leave()
    }

    private func respond(
        _ namespace: Namespace,
        to name: String,
        key: String?,
        isBase: Bool,
        concurrency: Int
    ) throws -> ResponderToken {
        let number = ledger.newResponder()
        return try namespace.respond(to: name, key: key, base: isBase, concurrency: concurrency) {
            (request: Int, next) -> [Int] in
            _ = place.add(1)
            defer { _ = place.subtract(1) }
            ledger.noteRun(of: request, by: number)
            if plant == .doubled, request % 50 == 7 { ledger.noteRun(of: request, by: number) }
            return try await answer(request, number, next)
        }
    }

    /// A reply: the request, and the responders that had a part in it, the top of the stack first.
    private func answer(_ request: Int, _ number: UInt64, _ next: NextResponder<Int, [Int]>) async throws -> [Int] {
        var generator = SeededGenerator(seed: UInt64(request) << 32 | number)
        let way = Int.random(in: 0..<16, using: &generator)
        if plant == .unheard, request % 50 == 7 { try await Task.sleep(for: .seconds(3600)) }
        if way % 2 == 0 { try await Task.sleep(for: .microseconds(Int.random(in: 1...5_000, using: &generator))) }
        switch way {
        case 0: throw Planned()
        case 1, 2: next.removeCurrent()
        case 3..<9:
            guard try next.exists else { break }
            let below = try await next()
            guard below.first == request else { throw UsageError(text: "\(below) is the reply to \(request)") }
            if way % 2 == 0 { try await Task.sleep(for: .milliseconds(2)) }
            return [request, Int(number)] + below.dropFirst()
        default: break
        }
        return [request, Int(number)]
    }
}

/// One life of a process that sends requests.
struct RespondersRequester: Sendable {
    let ledger: RespondersLedger
    /// The request that it awaits, plus 1.
    let place: SharedWord64
    let patience: Int

    func live(_ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        for _ in 0..<Int.random(in: 20...400, using: &generator) where ledger.stopAsking.load() == 0 {
            let number = Int(ledger.nextRequest.add(1))
            guard number < RespondersLedger.requests else { return ledger.stopAsking.store(1) }
            place.store(UInt64(number + 1))
            ask(namespace, number, &generator)
            place.store(0)
        }
        try namespace.leave()
    }

    private func ask(_ namespace: Namespace, _ number: Int, _ generator: inout SeededGenerator) {
        let name = RespondersNames.name(of: number)
        let isBased = name == RespondersNames.based
        let absent: AbsentResponder = !isBased && Int.random(in: 0..<4, using: &generator) > 0 ? .waits : .fails
        let isShort = Int.random(in: 0..<8, using: &generator) == 0
        let timeout: Duration =
            isShort ? .microseconds(Int.random(in: 0...8_000, using: &generator)) : .seconds(patience)
        let start = MonotonicInstant.now
        do {
            let found: [Int]?
            if Bool.random(using: &generator) {
                found = try namespace.request(name, number, ifAbsent: absent, timeout: timeout)
            } else {
                found = try runTask {
                    try await namespace.request(name, number, as: [Int].self, ifAbsent: absent, timeout: timeout)
                }
            }
            guard let reply = found else {
                ledger.end(number, isShort ? .timedOut : .late)
                if !isShort { note("request \(number) to \(name): no reply in \(timeout)") }
                return noteTime(since: start, timeout)
            }
            let isRight = reply.count > 1 && reply[0] == number && Set(reply.dropFirst()).count == reply.count - 1
            ledger.end(number, isRight ? .answered : .wrong, answerer: isRight ? UInt64(reply[1]) : 0)
            if !isRight { note("\(reply) is the reply to \(number)") }
        } catch {
            let outcome = outcome(of: error)
            ledger.end(number, outcome)
            if outcome == .wrong || outcome == .late { note("request \(number) to \(name): \(error)") }
        }
        noteTime(since: start, timeout)
    }

    /// Beyond the time-out a request takes only the time to be scheduled, and to take it back.
    private func noteTime(since start: MonotonicInstant, _ timeout: Duration) {
        if MonotonicInstant.now.duration(since: start) > timeout + .seconds(5) { _ = ledger.hung.add(1) }
    }

    private func outcome(of error: any Error) -> RespondersLedger.Outcome {
        guard let error = error as? SpaceError else { return .wrong }
        switch error.code {
        case .responderFailed:
            // The responder below may have gone between the handler's look and its request.
            let isMeant = [RespondersNames.planned, "nobody below answers it"].contains { error.reason.contains($0) }
            return isMeant ? .failed : .wrong
        case .noResponder: return .nobody
        default: return .wrong
        }
    }
}
