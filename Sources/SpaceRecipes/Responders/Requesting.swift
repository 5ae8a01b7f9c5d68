package import SpaceSystem
import TupleCoding

/// A request on its way: asked, waited for, and ended, however that is.
///
/// The same for threads and for tasks; they differ only in how they sleep.
package struct Requesting {
    package static let operation = "request"

    package let core: NamespaceCore
    package let request: OutgoingRequest
    package let absent: AbsentResponder
    package let deadline: MonotonicInstant?

    init(_ core: NamespaceCore, _ request: OutgoingRequest, _ absent: AbsentResponder, timeout: Duration?) {
        self.core = core
        self.request = request
        self.absent = absent
        deadline = MonotonicInstant.deadline(after: timeout)
    }

    // MARK: Forms

    /// Blocks the thread.
    ///
    /// Returns: The reply, one encoded element.
    package func block(interruption: Interruption? = nil) throws(SpaceError) -> Reply {
        var request = request
        while true {
            guard let ticket = try ask(request) else {
                let came: Void? = try core.block(
                    Self.operation,
                    Awaited.responders(to: Name(request.name)).interest,
                    text: text,
                    until: deadline,
                    interruption: interruption
                ) { () throws(SpaceError) in
                    try lookForResponder(to: request)
                }
                if came == nil { throw nobody() }
                continue
            }
            var ending: Ending?
            while ending == nil {
                do throws(SpaceError) {
                    let _: Void? = try core.block(
                        Self.operation,
                        Awaited.reply(to: ticket).interest,
                        text: text,
                        until: deadline,
                        interruption: interruption
                    ) { () throws(SpaceError) in
                        try lookForEnd(of: ticket)
                    }
                } catch {
                    core.endOrRemember(request: ticket)
                    throw error
                }
                ending = try end(ticket)
            }
            if case .reply(let reply)? = ending { return reply }
            if case .nobody(let reached)? = ending { request.reached = reached }
        }
    }

    /// Suspends the task.
    ///
    /// Throws: `cancelled` when the task is; the request was taken back then.
    func suspend() async throws(SpaceError) -> Reply {
        var request = request
        while true {
            guard let ticket = try ask(request) else {
                let asked = request
                let came: Void? = try await core.suspend(
                    Self.operation,
                    Awaited.responders(to: Name(request.name)).interest,
                    text: { text },
                    until: deadline
                ) { () throws(SpaceError) in
                    try lookForResponder(to: asked)
                }
                if came == nil { throw nobody() }
                continue
            }
            var ending: Ending?
            while ending == nil {
                do throws(SpaceError) {
                    let _: Void? = try await core.suspend(
                        Self.operation,
                        Awaited.reply(to: ticket).interest,
                        text: { text },
                        until: deadline
                    ) { () throws(SpaceError) in
                        try lookForEnd(of: ticket)
                    }
                } catch {
                    core.endOrRemember(request: ticket)
                    throw error
                }
                ending = try end(ticket)
            }
            if case .reply(let reply)? = ending { return reply }
            if case .nobody(let reached)? = ending { request.reached = reached }
        }
    }

    // MARK: Steps

    /// A reply, and whose it is.
    package struct Reply {
        package let pid: Int32
        /// One encoded element.
        package let value: [UInt8]
    }

    /// What becomes of one that was put to somebody.
    package enum Ending {
        case reply(Reply)
        /// Nobody is left, and it is to be asked anew, but of none of these.
        case nobody(reached: [ResponderPosition])
    }

    private var text: String { "a reply to \(request.name.quotedForPeople)" }

    /// Returns: The ticket; `nil`: nobody is there, and it is to wait.
    private func ask(_ request: OutgoingRequest) throws(SpaceError) -> UInt64? {
        var request = request
        if request.deadline == nil { request.deadline = deadline.map { core.clock.time(after: $0.remaining) } }
        if let ticket = try core.ask(request) { return ticket }
        guard absent == .waits else { throw nobody() }
        return nil
    }

    private func lookForResponder(to request: OutgoingRequest) throws(SpaceError) -> Found<Void>? {
        try core.hasResponder(to: request) ? Found(result: (), removed: nil) : nil
    }

    private func lookForEnd(of ticket: UInt64) throws(SpaceError) -> Found<Void>? {
        if case .pending = try core.standing(of: ticket) { nil } else { Found(result: (), removed: nil) }
    }

    /// Ends a request that was answered, that nobody is left to answer, or whose time has passed.
    ///
    /// Returns: `nil` when it goes on: while nobody was left somebody has come below.
    package func end(_ ticket: UInt64) throws(SpaceError) -> Ending? {
        let hasPassed = deadline?.hasPassed ?? false
        let seen: RequestStanding
        do throws(SpaceError) {
            seen = try core.standing(of: ticket)
        } catch {
            core.endOrRemember(request: ticket)
            throw error
        }
        if case .pending = seen, !hasPassed { return nil }
        let standing: RequestStanding
        do throws(SpaceError) {
            // The answer may have come since.
            standing = try core.takeBack(ticket, unlessPending: !hasPassed)
        } catch {
            // Waited for long enough just now.
            core.endOrRemember(request: ticket, patience: NamespaceCore.upkeepPatience)
            // Where the request can't be ended now, what was seen counts. But it is not asked anew beside itself.
            if case .nobody = seen, absent == .waits { throw error }
            standing = seen
        }
        switch standing {
        case .answered(let pid, let value): return .reply(Reply(pid: pid, value: value))
        case .failed(let pid, let message): throw failed(pid, message)
        case .pending(let pid):
            if hasPassed { throw late(pid) }
            return nil
        case .nobody(let reached):
            guard absent == .waits, !hasPassed else { throw nobody() }
            return .nobody(reached: reached)
        }
    }

    // MARK: Errors

    private var what: String { "\(Self.operation) \(request.name.quotedForPeople)" }

    private func nobody() -> SpaceError {
        let isNext = request.below < .top
        return SpaceError(
            .noResponder,
            what,
            namespace: core.name.text,
            reason: isNext ? "nobody below answers it" : "nobody answers it",
            advice: isNext ? "register a base handler" : "start a process that responds to it"
        )
    }

    private func failed(_ pid: Int32, _ message: String) -> SpaceError {
        SpaceError(
            .responderFailed,
            what,
            namespace: core.name.text,
            holder: pid,
            reason: "process \(pid), which answers it, failed: \(message)"
        )
    }

    private func late(_ pid: Int32) -> SpaceError {
        let command = ProcessIdentity.commandName(of: pid).map { " (\($0))" } ?? ""
        let halt = ProcessIdentity.halt(of: pid)
        return SpaceError(
            .timedOut,
            what,
            namespace: core.name.text,
            holder: pid,
            reason: "process \(pid)\(command), which was asked, "
                + (halt.map { "is \($0.phrase)" } ?? "has not answered in time"),
            advice: halt.map { $0.advice(for: pid) + ", then try again" } ?? "give it more time, or try again"
        )
    }
}
