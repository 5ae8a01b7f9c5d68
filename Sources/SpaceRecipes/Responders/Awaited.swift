import LMDB
import TupleCoding

/// What those wait for who answer and who ask, announced like places in a queue; their tickets are below 2⁶².
enum Awaited: Hashable {
    /// Requests to responders of a session.
    case requests(of: UInt64)
    /// The end of a request.
    case reply(to: UInt64)
    /// A responder to a name.
    case responders(to: Name)

    /// A number for each; that of a name may be another's too, who then looks for nothing.
    var ticket: UInt64 {
        switch self {
        case .reply(let ticket): ticket
        case .requests(let session): 1 << 63 | session
        case .responders(let name): 3 << 62 | hash64(Array(name.text.utf8)) >> 2
        }
    }

    var interest: Interest { Interest(hold: ticket) }
}
