import SpaceSystem
import TupleCoding

/// A tuple that is loaded from a dump.
package struct LoadedTuple: Sendable {
    package let tuple: Tuple
    /// The time of expiry in milliseconds since 1970; `nil`: never.
    package let expires: Int64?
    /// Whether the tuple was set aside, and is to be set aside again.
    package let isBuried: Bool

    package init(tuple: Tuple, expires: Int64?, isBuried: Bool = false) {
        self.tuple = tuple
        self.expires = expires
        self.isBuried = isBuried
    }
}
