import TupleCoding

/// A request: a hold of the session that asks, with which it goes.
///
/// All requests of a namespace stand under the empty name, which no shared object can have. The details:
///
///     [at: the position of the responder that it was put to; 0: of whoever is next below,
///      below: who is asked once that one has gone stands below this position,
///      work: tells one asking from another; the request's own ticket, or that of one that it has taken over,
///      within: the work in whose handler it was made with `next`; 0: in none,
///      deadline, milliseconds of the namespace's clock; 0: none,
///      PID of who asks,
///      PID of who answered; 0: nobody yet,
///      state: 0 pending, 1 answered, 2 failed,
///      name,
///      the positions of those who are on the stack and were reached by what was asked within it: any number]
///
/// The argument, and later the reply, is a row of `elements`, where no object has the number 0: so what is large is
/// written once, and not read by those who look whose turn it is.
package struct RequestRow {
    package enum State: Int, Sendable { case pending, answered, failed }

    /// The name under which requests stand in `holds`.
    package static let holdName = ""

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
    package let name: String
    /// Who has had to do with it though it was never theirs, by `next` of one who has died since: it is put to none of them.
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

    /// The key of the argument or reply in `elements`.
    package static func bodyKey(_ ticket: UInt64) -> [UInt8] {
        [0, 0, 0, 0, 0, 0, 0, 0] + Swift.withUnsafeBytes(of: ticket.bigEndian) { Array($0) }
    }

    /// What the two rows take, about.
    package static func size(name: String, body: Int) -> Int { 256 + name.utf8.count + body }
}

extension RequestRow {
    /// `nil` for a row that does not decode.
    package init?(_ hold: HoldRow) {
        guard hold.kind == .request, case .session(let session) = hold.holder, case .array(let parts) = hold.details,
            parts.count >= 9, case .string(let name) = parts[8]
        else { return nil }
        let numbers = parts[..<8].compactMap { if case .int(let number) = $0 { number } else { nil } }
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
    }
}
