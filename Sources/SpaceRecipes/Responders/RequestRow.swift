/// A request, stored as a place of the asking session, with which it ends.
///
/// All requests of a namespace are under the empty name, which no shared object can have. The details:
///
///     [at: the position of the responder that has begun it or was asked first; 0: the next one below has it,
///      below: once that one has gone, the responders below this position are asked,
///      work: tells one asking from another; the request's own ticket, or that of one that it has taken over,
///      within: the work in whose handler it was made with `next`; 0: in none,
///      deadline, milliseconds of the namespace's clock; 0: none,
///      PID of the asking process,
///      PID of the answering process; 0: not answered yet,
///      state: 0 pending, 1 answered, 2 failed,
///      name,
///      the positions of the responders on the stack that inner requests have reached: any number]
///
/// The argument, and later the reply, is a row of `elements`, where no object has the number 0. So large bytes are
/// written once, and processes that only look which responder has the request do not read them.
package struct RequestRow {
    package enum State: Int, Sendable { case pending, answered, failed }

    /// The name under which requests stand in `holds`.
    package static let queueName = ""

    package let ticket: UInt64
    package let session: UInt64
    package let since: Int64
    package var at: ResponderPosition
    package var below: ResponderPosition
    package var work: UInt64
    let within: UInt64
    package let deadline: Int64
    package let pid: Int32
    var answeredBy: Int32 = 0
    package var state = State.pending
    /// Whether watchers were told of a deadlock that this request is a part of.
    var isTold = false
    package let name: String
    /// Responders that inner requests, of a responder that has ended since, have reached; this request is put to none
    /// of them.
    package var reached: [ResponderPosition] = []

    package var isPending: Bool { state == .pending }

    package var details: Value {
        .array(
            [
                .int(at.raw), .int(below.raw), .int(Int(truncatingIfNeeded: work)),
                .int(Int(truncatingIfNeeded: within)),
                .int(Int(deadline)), .int(Int(pid)), .int(Int(answeredBy)), .int(state.rawValue), .string(name),
            ] + reached.map { .int($0.raw) }
        )
    }

    /// The row in `holds`.
    var place: PlaceRow {
        var place = PlaceRow(
            ticket: ticket,
            kind: .request,
            holder: .session(session),
            since: since,
            pid: pid,
            isHolding: true,
            details: details
        )
        place.isTold = isTold
        return place
    }

    /// The key of the argument or reply in `elements`.
    package static func bodyKey(_ ticket: UInt64) -> [UInt8] {
        [0, 0, 0, 0, 0, 0, 0, 0] + Swift.withUnsafeBytes(of: ticket.bigEndian) { Array($0) }
    }
}

extension RequestRow {
    /// Decodes a place's row; `nil` if it is not the row of a request.
    package init?(_ hold: PlaceRow) {
        guard hold.kind == .request, case .session(let session) = hold.holder, case .array(let parts) = hold.details,
            parts.count >= 9, case .string(let name) = parts[8]
        else { return nil }
        let numbers = parts[..<8].compactMap(\.number)
        let reached = parts[9...].compactMap {
            if case .int(let number) = $0 { ResponderPosition(raw: number) } else { nil }
        }
        guard numbers.count == 8, reached.count == parts.count - 9, let state = State(rawValue: numbers[7]),
            let work = UInt64(exactly: numbers[2]), let within = UInt64(exactly: numbers[3])
        else { return nil }
        self.init(
            ticket: hold.ticket,
            session: session,
            since: hold.since,
            at: ResponderPosition(raw: numbers[0]),
            below: ResponderPosition(raw: numbers[1]),
            work: work,
            within: within,
            deadline: Int64(numbers[4]),
            pid: Int32(clamping: numbers[5]),
            answeredBy: Int32(clamping: numbers[6]),
            state: state,
            name: name,
            reached: reached
        )
        isTold = hold.isTold
    }
}
