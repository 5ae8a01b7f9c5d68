import LMDB
import SpaceSystem
import TupleCoding

/// What a look found: the result, and the tuple that it removed, if it removed one.
struct Found<Result> {
    let result: Result
    let removed: UInt64?
}
