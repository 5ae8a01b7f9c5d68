import LMDB
import TupleCoding

/// A tuple that was taken: its id, what it was decoded to, and what ending its visibility came to.
package struct Taken<Content, Result> {
    package let id: TupleID
    package let content: Content
    package let result: Result

    init(_ id: TupleID, _ content: Content, _ result: Result) {
        self.id = id
        self.content = content
        self.result = result
    }
}
