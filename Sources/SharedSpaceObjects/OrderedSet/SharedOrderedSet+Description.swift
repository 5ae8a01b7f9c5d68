import TupleCoding

extension SharedOrderedSet: CustomStringConvertible {
    /// What the handle is, in one line: `ordered set "songs" of String in namespace "party"`.
    ///
    /// It reads nothing; ``elements(in:)`` and ``count`` do.
    public var description: String {
        "ordered set \(name.quotedForPeople) of \(Element.self) in namespace \(namespace.name.quotedForPeople)"
    }
}
