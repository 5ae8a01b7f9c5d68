import SpaceSystem

/// A request from asking to its end.
///
/// If it ends with an error, the request is taken back.
package struct Requesting: Steps, Sendable {
    package static let operation = "request"

    package var operation: String { "\(Self.operation) \(request.name.quotedForPeople)" }
    package let core: NamespaceCore
    package private(set) var request: OutgoingRequest
    private let absent: AbsentResponder
    private let deadline: MonotonicInstant?
    /// The request's ticket while it is in the namespace; `nil` while there is no responder to ask.
    private var ticket: UInt64?
    /// Whether there may be a responder to ask.
    private var mayAsk = true

    package init(_ core: NamespaceCore, _ request: OutgoingRequest, _ absent: AbsentResponder, timeout: Duration?) {
        self.core = core
        self.request = request
        self.absent = absent
        deadline = MonotonicInstant.deadline(after: timeout)
    }

    // MARK: Steps

    package mutating func step() throws(SpaceError) -> Step<Reply> {
        if let ticket {
            // If the end fails, it takes the request back itself.
            self.ticket = nil
            switch try end(ticket) {
            case .reply(let reply)?: return .done(reply)
            case .nobody(let reached)?: request.reached = reached
            case nil: return sleep(for: ticket)
            }
        }
        guard mayAsk else { throw nobody() }
        return sleep(for: try ask())
    }

    private mutating func sleep(for ticket: UInt64?) -> Step<Reply> {
        self.ticket = ticket
        mayAsk = ticket != nil
        let awaited = ticket.map { Awaited.reply(to: $0) } ?? .responders(to: Name(request.name))
        let text = "a reply to \(request.name.quotedForPeople)"
        return .sleep(Sleep(awaited.interest, text: text, until: deadline))
    }

    package mutating func look() throws(SpaceError) -> Bool {
        if let ticket {
            if case .pending = try core.requests.standing(of: ticket) { return false }
            return true
        }
        mayAsk = try core.requests.hasResponder(to: request)
        return mayAsk
    }

    package func giveUp() {
        if let ticket { core.requests.endOrRemember(ticket) }
    }

    // MARK: The caller's time

    /// The reply, or `nil` if the time has passed; blocks the thread.
    func blockUnlessLate() throws(SpaceError) -> Reply? {
        do throws(SpaceError) { return try block() } catch { return try unlessLate(error) }
    }

    /// The reply, or `nil` if the time has passed; suspends the task.
    func suspendUnlessLate() async throws(SpaceError) -> Reply? {
        do throws(SpaceError) { return try await suspend() } catch { return try unlessLate(error) }
    }

    /// `nil` if the error says that the time has passed, with a responder or without one that was waited for.
    private func unlessLate(_ error: SpaceError) throws(SpaceError) -> Reply? {
        guard error.code == .timedOut || (error.code == .noResponder && absent == .waits) else { throw error }
        return nil
    }

    /// A reply, and the process that gave it.
    package struct Reply {
        package let pid: Int32
        /// One encoded element.
        package let value: [UInt8]

        package func content() throws(SpaceError) -> Value {
            try coding { () throws(TupleCodingError) in
                try value.withBytes { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
            }
        }
    }

    /// How a request that was put to a responder ended.
    package enum Ending {
        case reply(Reply)
        /// No responder is left; the request must be made again, and to none of these responders.
        case nobody(reached: [ResponderPosition])
    }

    /// Returns the request's ticket, or `nil` if there is no responder and the request is to wait for one.
    private func ask() throws(SpaceError) -> UInt64? {
        var request = request
        if request.deadline == nil { request.deadline = deadline.map { core.clock.time(after: $0.remaining) } }
        if let ticket = try core.requests.ask(request) { return ticket }
        guard absent == .waits else { throw nobody() }
        return nil
    }

    /// Ends a request that was answered, that no responder is left to answer, or whose time has passed.
    ///
    /// Returns `nil` if the request goes on: no responder was left, and one has registered below since.
    package func end(_ ticket: UInt64) throws(SpaceError) -> Ending? {
        let hasPassed = deadline?.hasPassed ?? false
        let seen: RequestStanding
        do throws(SpaceError) {
            seen = try core.requests.standing(of: ticket)
        } catch {
            core.requests.endOrRemember(ticket)
            throw error
        }
        if case .pending = seen, !hasPassed { return nil }
        let standing: RequestStanding
        do throws(SpaceError) {
            // The answer may have come since that look.
            standing = try core.requests.takeBack(ticket, unlessPending: !hasPassed)
        } catch {
            // The take-back has just waited for the gate as long as allowed; so this attempt waits only briefly.
            core.requests.endOrRemember(ticket, patience: Engine.upkeepPatience)
            // If the request can't be ended now, its standing as seen before counts. But no second request is made
            // beside one that still exists.
            if case .nobody = seen, absent == .waits { throw error }
            standing = seen
        }
        switch standing {
        case .answered(let pid, let value): return .reply(Reply(pid: pid, value: value))
        // A handler may have failed because the time has passed, for example in its own request to the next one.
        case .failed(let pid, let message): throw hasPassed ? late(pid, failure: message) : failed(pid, message)
        case .pending(let pid):
            if hasPassed { throw late(pid) }
            return nil
        case .nobody(let reached):
            guard absent == .waits, !hasPassed else { throw nobody() }
            return .nobody(reached: reached)
        }
    }

    // MARK: Errors

    private func nobody() -> SpaceError {
        let isNext = request.below < .top
        return SpaceError(
            .noResponder,
            reason: isNext ? "nobody below answers it" : "nobody answers it",
            advice: isNext ? "register a base handler" : "start a process that responds to it"
        )
    }

    private func failed(_ pid: Int32, _ message: String) -> SpaceError {
        SpaceError(
            .responderFailed,
            holder: pid,
            reason: "process \(pid), which answers it, failed: \(message)"
        )
    }

    private func late(_ pid: Int32, failure message: String? = nil) -> SpaceError {
        let command = ProcessIdentity.commandName(of: pid).map { " (\($0))" } ?? ""
        let halt = ProcessIdentity.halt(of: pid)
        return SpaceError(
            .timedOut,
            holder: pid,
            reason: "process \(pid)\(command), which was asked, "
                + (halt.map { "is \($0.phrase)" } ?? "has not answered in time")
                + (message.map { ", and failed by now: \($0)" } ?? ""),
            advice: halt.map { $0.advice(for: pid) + ", then try again" } ?? "give it more time, or try again"
        )
    }
}
