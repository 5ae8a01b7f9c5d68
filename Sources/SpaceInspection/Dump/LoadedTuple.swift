import SpaceSystem
import TupleCoding

/// A tuple that comes from a dump.
package struct LoadedTuple: Sendable {
    package let tuple: Tuple
    /// Milliseconds since 1970; `nil`: never.
    package let expires: Int64?
    /// Whether it was set aside, and is to be so again.
    package let isBuried: Bool

    package init(tuple: Tuple, expires: Int64?, isBuried: Bool = false) {
        self.tuple = tuple
        self.expires = expires
        self.isBuried = isBuried
    }
}
