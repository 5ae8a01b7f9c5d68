import LMDB
import TupleCoding

/// A request that a responder is asked, by its row and by what tells one asking from another.
struct Asking: Hashable, Sendable {
    let ticket: UInt64
    let work: UInt64
}
