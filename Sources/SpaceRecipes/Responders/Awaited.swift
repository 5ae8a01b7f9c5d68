/// What a responding or an asking process waits for.
///
/// It is announced to waiters like the ticket of a place in a queue. Real tickets are below 2⁶², so the numbers made
/// here for sessions and names collide with none of them.
package enum Awaited: Hashable {
    /// Requests to the responders of a session.
    case requests(of: UInt64)
    /// The end of a request.
    case reply(to: UInt64)
    /// A responder to a name.
    case responders(to: Name)

    /// The number under which this is announced.
    ///
    /// Two names may share a number: then a waiter is woken, looks, and finds nothing.
    package var ticket: UInt64 {
        switch self {
        case .reply(let ticket): ticket
        case .requests(let session): 1 << 63 | session
        case .responders(let name): 3 << 62 | hash64(Array(name.text.utf8)) >> 2
        }
    }

    package var interest: Interest { Interest(hold: ticket) }
}
