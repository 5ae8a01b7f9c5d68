import TupleCoding

/// A tuple that was taken: its id, its decoded content, and the result of the closure that ended its visibility.
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
