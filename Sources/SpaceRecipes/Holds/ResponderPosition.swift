import TupleCoding

/// A responder's place in the stack of its name, which it keeps as long as it is there: the higher is asked first.
///
/// The ticket of its hold, and above all tickets a bit that a base handler lacks: so base handlers lie under the stack, whatever
/// the order of registration.
package struct ResponderPosition: Comparable, Hashable, Sendable {
    private static let above: Int = 1 << 61

    package let raw: Int

    init(raw: Int) { self.raw = raw }

    init(ticket: UInt64, isBase: Bool) {
        let number = Int(truncatingIfNeeded: ticket)
        raw = isBase ? number : number | Self.above
    }

    /// Of a number that no responder has, as damage may leave it, a ticket that was never given out.
    package var ticket: UInt64 { UInt64(bitPattern: Int64(raw & ~Self.above)) }
    package var isBase: Bool { raw & Self.above == 0 }

    /// Nobody's: below all.
    package static let none = ResponderPosition(raw: 0)
    /// Above all.
    static let top = ResponderPosition(raw: .max)

    package static func < (left: ResponderPosition, right: ResponderPosition) -> Bool { left.raw < right.raw }
}
