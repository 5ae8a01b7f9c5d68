/// A responder's place in the stack of its name, fixed while it is registered; the higher position is asked first.
///
/// It is the ticket of the responder's row, with one bit above all tickets that only base handlers lack. So base
/// handlers are at the bottom of the stack, whatever the order of registration.
package struct ResponderPosition: Comparable, Hashable, Sendable {
    private static let above: Int = 1 << 61

    package let raw: Int

    init(raw: Int) { self.raw = raw }

    init(ticket: UInt64, isBase: Bool) {
        let number = Int(truncatingIfNeeded: ticket)
        raw = isBase ? number : number | Self.above
    }

    /// The ticket of the row; a damaged position, with a number that no responder has, gives a ticket that was never
    /// given out.
    package var ticket: UInt64 { UInt64(bitPattern: Int64(raw & ~Self.above)) }

    /// The position of no responder, below all others.
    package static let none = ResponderPosition(raw: 0)
    /// A limit above all positions.
    package static let top = ResponderPosition(raw: .max)

    package static func < (left: ResponderPosition, right: ResponderPosition) -> Bool { left.raw < right.raw }
}
