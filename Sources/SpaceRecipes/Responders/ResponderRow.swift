import TupleCoding

/// A responder's place in the stack of its name, which it keeps as long as it is there: the higher is asked first.
///
/// The ticket of its hold, and above all tickets a bit that a base handler lacks: so base handlers lie under the stack, whatever
/// the order of registration.
struct ResponderPosition: Comparable, Hashable, Sendable {
    private static let above: Int = 1 << 61

    let raw: Int

    init(raw: Int) { self.raw = raw }

    init(ticket: UInt64, isBase: Bool) {
        let number = Int(truncatingIfNeeded: ticket)
        raw = isBase ? number : number | Self.above
    }

    /// Of a number that no responder has, as damage may leave it, a ticket that was never given out.
    var ticket: UInt64 { UInt64(bitPattern: Int64(raw & ~Self.above)) }
    var isBase: Bool { raw & Self.above == 0 }

    /// Nobody's: below all.
    static let none = ResponderPosition(raw: 0)
    /// Above all.
    static let top = ResponderPosition(raw: .max)

    static func < (left: ResponderPosition, right: ResponderPosition) -> Bool { left.raw < right.raw }
}

/// A responder: a hold under the responder's name.
///
/// Its details:
///
///     [PID, flags: bit 0, a base handler; bit 1, taken off the stack and not done yet, key]
struct ResponderRow {
    let ticket: UInt64
    let session: UInt64
    let since: Int64
    let pid: Int32
    let isBase: Bool
    /// Taken off the stack while it may still be answering: it finishes what it has begun, and is asked nothing more.
    var isRetired = false
    let key: String

    var position: ResponderPosition { ResponderPosition(ticket: ticket, isBase: isBase) }

    var details: Value { .array([.int(Int(pid)), .int((isBase ? 1 : 0) | (isRetired ? 2 : 0)), .string(key)]) }
}

extension ResponderRow {
    /// `nil` for a row that does not decode.
    init?(_ hold: HoldRow) {
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

/// All responders of a name, the one that is asked first in front.
struct ResponderStack {
    private(set) var rows: [ResponderRow] = []

    init(_ rows: [ResponderRow]) { self.rows = rows.sorted { $0.position > $1.position } }

    /// Who is asked first, of those below a position who were not reached before.
    func top(below limit: ResponderPosition = .top, except reached: [ResponderPosition] = []) -> ResponderRow? {
        rows.first { $0.position < limit && !$0.isRetired && !reached.contains($0.position) }
    }

    /// Whose a request is: the one it was put to, and once that one has gone, the next below.
    ///
    /// So nothing is written when a responder dies, and nobody is asked twice: the limit only ever falls.
    func addressee(of request: RequestRow) -> ResponderRow? {
        rows.first { $0.position == request.at } ?? top(below: request.below, except: request.reached)
    }

    /// Those of a list that are there: who has left is not asked again, and need not be remembered.
    func present(_ positions: [ResponderPosition]) -> [ResponderPosition] {
        rows.map(\.position).filter { positions.contains($0) }
    }
}
