/// A responder, stored as a place under the responder's name.
///
/// The details of the place:
///
///     [PID, flags: bit 0, a base handler; bit 1, taken off the stack and not done yet, key]
package struct ResponderRow {
    package let ticket: UInt64
    package let session: UInt64
    package let since: Int64
    package let pid: Int32
    package let isBase: Bool
    /// Whether it was taken off the stack while it may still be answering: it finishes the requests that it has begun,
    /// and is asked nothing more.
    package var isRetired = false
    package let key: String

    package var position: ResponderPosition { ResponderPosition(ticket: ticket, isBase: isBase) }

    /// The row in `holds`.
    var place: PlaceRow {
        PlaceRow(
            ticket: ticket,
            kind: .responder,
            holder: .session(session),
            since: since,
            pid: pid,
            isHolding: true,
            details: details
        )
    }

    package var details: Value { .array([.int(Int(pid)), .int((isBase ? 1 : 0) | (isRetired ? 2 : 0)), .string(key)]) }
}

extension ResponderRow {
    /// Decodes a place's row; `nil` if it is not the row of a responder.
    package init?(_ hold: PlaceRow) {
        guard hold.kind == .responder, case .session(let session) = hold.holder,
            case .array(let parts) = hold.details, parts.count == 3,
            case .int(let pid) = parts[0], case .int(let flags) = parts[1], case .string(let key) = parts[2],
            (0..<4).contains(flags)
        else { return nil }
        self.init(
            ticket: hold.ticket,
            session: session,
            since: hold.since,
            pid: Int32(clamping: pid),
            isBase: flags & 1 != 0,
            isRetired: flags & 2 != 0,
            key: key
        )
    }
}
