import LMDB
import TupleCoding

/// A request that a responder is asked, by its row and by what tells one asking from another.
package struct Asking: Hashable, Sendable {
    package let ticket: UInt64
    package let work: UInt64
}
