import SpaceSystem
import TupleCoding

/// What a look found: the result, and the tuple that it removed, if it removed one.
package struct Found<Result> {
    package let result: Result
    package let removed: UInt64?

    package init(result: Result, removed: UInt64?) {
        self.result = result
        self.removed = removed
    }
}
