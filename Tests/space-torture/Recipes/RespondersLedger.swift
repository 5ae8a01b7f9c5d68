import Glibc
import SpaceSystem

/// The outcome of each request, and which responders ran it: memory of all processes of a run, which a kill leaves as
/// it was at that instant.
struct RespondersLedger: Sendable {
    /// The most requests and runs of a round.
    static let requests = 1 << 17
    static let runs = 1 << 19
    private static let header = 64 * 64
    private static let places = 256

    private let memory: SharedMemory
    private static let requestStart = header + places * 8
    private static let runStart = requestStart + requests * 8

    init() throws { memory = try SharedMemory(size: Self.runStart + Self.runs * 8) }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    // Words of the whole run.
    var rounds: SharedWord64 { word(0) }
    var kills: SharedWord64 { word(1) }
    var killsWhileAnswering: SharedWord64 { word(2) }
    var requesterKills: SharedWord64 { word(3) }
    var failures: SharedWord64 { word(4) }
    var damage: SharedWord64 { word(5) }
    /// Rows of responders, or of requests, that remain after their process has gone.
    var leftovers: SharedWord64 { word(6) }
    /// Requests that returned later than the time-out allows.
    var hung: SharedWord64 { word(7) }
    /// Requests by outcome.
    func total(_ outcome: Outcome) -> SharedWord64 { word(8 + Int(outcome.rawValue)) }
    var runsTotal: SharedWord64 { word(20) }
    var doubled: SharedWord64 { word(21) }
    var unexplained: SharedWord64 { word(22) }
    var unanswered: SharedWord64 { word(23) }

    // Words of a round.
    var start: SharedWord64 { word(30) }
    /// Set once the requesters begin nothing more.
    var stopAsking: SharedWord64 { word(31) }
    var stop: SharedWord64 { word(32) }
    var nextRequest: SharedWord64 { word(33) }
    private var nextResponder: SharedWord64 { word(34) }
    private var runCount: SharedWord64 { word(35) }
    /// The number of the responder that lives through the round.
    var base: SharedWord64 { word(36) }

    func beginRound() {
        for request in 0..<min(Int(nextRequest.load()), Self.requests) { state(request).store(0) }
        for run in 0..<min(Int(runCount.load()), Self.runs) { self.run(run).store(0) }
        for index in 30..<40 { word(index).store(0) }
    }

    /// For a responder, how many requests it is running; for a requester, the request that it awaits plus 1.
    func place(_ index: Int) -> SharedWord64 { memory.word64(Self.header + index * 8) }

    func newResponder() -> UInt64 { nextResponder.add(1) + 1 }

    // MARK: Requests

    enum Outcome: UInt64, CaseIterable {
        /// No reply has come back.
        case open
        case answered
        /// A handler threw this error.
        case failed
        /// There was no responder that had not been asked.
        case nobody
        /// The request's time, which was short, has passed.
        case timedOut
        /// The requester was killed.
        case killed
        /// The request's time, which was long, has passed: a responder should have answered.
        case late
        /// Anything else, and a reply to something else.
        case wrong
    }

    private func state(_ request: Int) -> SharedWord64 { memory.word64(Self.requestStart + request * 8) }

    /// `answerer`: The responder that gave the reply.
    func end(_ request: Int, _ outcome: Outcome, answerer: UInt64 = 0) {
        state(request).store(outcome.rawValue | answerer << 8)
    }

    func outcome(of request: Int) -> (outcome: Outcome, answerer: UInt64) {
        let word = state(request).load()
        return (Outcome(rawValue: word & 0xFF) ?? .wrong, word >> 8)
    }

    // MARK: Runs

    private func run(_ index: Int) -> SharedWord64 { memory.word64(Self.runStart + index * 8) }

    /// Notes that a responder begins a request.
    func noteRun(of request: Int, by responder: UInt64) {
        let index = Int(runCount.add(1))
        guard index < Self.runs else { return stopAsking.store(1) }
        run(index).store(UInt64(request + 1) << 32 | responder)
    }

    var allRuns: [Run] {
        (0..<min(Int(runCount.load()), Self.runs)).compactMap { index in
            let word = run(index).load()
            return word == 0 ? nil : Run(request: Int(word >> 32) - 1, responder: word & 0xFFFF_FFFF)
        }
    }

    struct Run: Hashable {
        let request: Int
        let responder: UInt64
    }
}
