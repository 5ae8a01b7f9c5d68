import LMDB
import TupleCoding

/// A tuple that was taken: its id, what it was decoded to, and what ending its visibility came to.
struct Taken<Content, Result> {
    let id: TupleID
    let content: Content
    let result: Result

    init(_ id: TupleID, _ content: Content, _ result: Result) {
        self.id = id
        self.content = content
        self.result = result
    }
}
