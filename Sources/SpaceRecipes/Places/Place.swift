/// A place in the queue of a name, waiting or holding.
package struct Place: Sendable {
    package let name: String
    package let kind: SharedObjectKind
    package let ticket: UInt64
    package var rules: any QueueRules
}

extension Place {
    /// The text of a wait slot for tools that list waiters, as JSON.
    package var text: String { Value.string("\(kind.word) \(name)").json }
}

extension SharedObjectKind {
    func text(ofWaitAt name: String) -> String { Value.string("\(word) \(name)").json }
}
